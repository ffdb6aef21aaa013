//! The setting `fetch.allow`: where requests of handlers may go.

use std::net::Ipv6Addr;
#[cfg(feature = "fetch")]
use std::net::{IpAddr, Ipv4Addr};

use crate::authority;

/// The settings `fetch.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fetch {
    pub(crate) allow: FetchHosts,
}

/// Hosts that requests may go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FetchHosts(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// In lower case, without brackets: a name, an address, `*.example.org` or `*`.
    host: String,
    port: Option<u16>,
}

/// Where a request to a host may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg(feature = "fetch")]
pub(crate) enum Reach {
    Nowhere,
    /// A pattern names it, so its addresses are anybody's choice: only public ones are meant.
    PublicAddresses,
    /// It is named itself.
    AnyAddress,
}

impl FetchHosts {
    pub(super) fn parse(list: &[String]) -> Result<Self, String> {
        if !list.is_empty() && !cfg!(feature = "fetch") {
            return Err("it needs skep-server with the cargo feature `fetch`".to_owned());
        }
        list.iter().map(|said| Pattern::parse(said)).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(feature = "fetch")]
impl FetchHosts {
    /// `host` as a URL has it.
    pub(crate) fn reach(&self, host: &str, port: u16) -> Reach {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let fitting = self.0.iter().filter(|pattern| pattern.port.is_none_or(|own| own == port));
        let mut fitting = fitting.filter(|pattern| authority::fits(&pattern.host, host)).peekable();
        if fitting.peek().is_none() {
            return Reach::Nowhere;
        }
        if fitting.any(|pattern| !pattern.host.starts_with('*')) { Reach::AnyAddress } else { Reach::PublicAddresses }
    }
}

impl Pattern {
    fn parse(said: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "\"{said}\" is not a host: write api.example.org, api.example.org:8443, *.example.org, [::1]:8080 or *"
            )
        };
        let (host, port) = match said.rsplit_once(':') {
            // An IPv6 address without brackets has no port.
            Some((host, port)) if said.parse::<Ipv6Addr>().is_err() && !said.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| expected())?))
            }
            _ => (said, None),
        };
        authority::check_pattern(host).map_err(|_| expected())?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        Ok(Self { host, port })
    }
}

/// True for an address of the internet: not of this machine, of a private network, of a link or of a special purpose (RFC 6890), where
/// services trust all who reach them.
#[cfg(feature = "fetch")]
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_public_v4(mapped),
            None => is_public_v6(address),
        },
    }
}

#[cfg(feature = "fetch")]
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = a == 0
        || a >= 240
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        // Shared by customers of a provider (RFC 6598), assigned by IETF, 6to4 relays, and benchmarks (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

/// Only what is given out (`2000::/3`), without what may lead to an IPv4 address behind a translator or tunnel (Teredo and its like,
/// `2001::/23`; 6to4, `2002::/16`), and without documentation.
#[cfg(feature = "fetch")]
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_special = (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || a == 0x2002 || a == 0x3fff;
    (0x2000..0x4000).contains(&a) && !is_special
}

#[cfg(all(test, feature = "fetch"))]
impl FetchHosts {
    pub(crate) fn of(list: &[String]) -> Self {
        Self::parse(list).unwrap()
    }
}

#[cfg(all(test, feature = "fetch"))]
#[path = "../../tests/unit/config/fetch.rs"]
mod tests;

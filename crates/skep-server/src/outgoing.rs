//! Where requests to other servers may go: what `fetch.allow` says of handlers, and `--allow-out` of components. No
//! interface for applications.
//!
//! A host must be named, itself or by a pattern, and the address that it leads to is judged again where the connection
//! is made: who answers for a name chooses its address. So no second answer of a name server gets around it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use skep_settings::settings;
use tokio::net::TcpStream;

use crate::authority;

settings! {
    /// The settings of requests to other servers; what one may take is in `skep::fetch::Bounds`.
    #[derive(Clone, Debug)]
    pub(crate) struct Settings in "fetch" {
        /// Hosts that handlers may send requests to (`cx.fetch`): `api.example.org`, with a port
        /// (`api.example.org:8443`), `*.example.org`, or `*` for all. The address that a host leads to must be of the
        /// public internet or one of the list itself (`10.0.0.7:8080`); the word `private` in the list allows all.
        /// Needs the cargo feature `fetch`. Empty means none. In a component, `--allow-out` says it instead.
        allow: Reach = List("api.example.org, 10.0.0.7:8080, * or private"), "", by allowed;
        /// Maximum number of `cx.fetch` in progress to one host and port, for each process; others wait for their turn.
        /// As many connections are kept open for later ones by each thread, for 30 seconds.
        per_host as "limits.fetches_per_host": usize = Number(1..=100_000), 64;
    }
}

/// Hosts that requests may go to, and the addresses that these may have: public ones, those of the list, and with the
/// word `private` all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    hosts: Vec<Pattern>,
    private: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// In lower case, without brackets: a name, an address, `*.example.org` or `*`.
    host: String,
    address: Option<IpAddr>,
    port: Option<u16>,
}

/// The word that allows addresses of private and special networks.
const PRIVATE: &str = "private";

impl Reach {
    /// Reads a list such as `api.example.org`, `10.0.0.7:8080`, `*.example.net`, `private`.
    ///
    /// # Errors
    /// The first element that is no host.
    pub fn parse(list: &[String]) -> Result<Self, String> {
        let (words, hosts): (Vec<_>, Vec<_>) = list.iter().partition(|said| said.eq_ignore_ascii_case(PRIVATE));
        let hosts = hosts.into_iter().map(|said| Pattern::parse(said)).collect::<Result<_, _>>()?;
        Ok(Self { hosts, private: !words.is_empty() })
    }

    /// True if nothing may be reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// True if the list has this host, itself or by a pattern. `host` is as a URL has it; case makes no difference.
    #[must_use]
    pub fn names(&self, host: &str, port: u16) -> bool {
        let (host, address) = (bare(host), address(host));
        self.hosts
            .iter()
            .filter(|pattern| pattern.port.is_none_or(|own| own == port))
            .any(|pattern| authority::fits(&pattern.host, host) || (address.is_some() && pattern.address == address))
    }

    /// True if a connection may be made to this address, whichever host led to it.
    #[must_use]
    pub fn admits(&self, to: SocketAddr) -> bool {
        let address = to.ip().to_canonical();
        let is_named =
            |pattern: &Pattern| pattern.address == Some(address) && pattern.port.is_none_or(|own| own == to.port());
        self.private || is_public(address) || self.hosts.iter().any(is_named)
    }

    /// Connects to a host that the list has, as a URL has it.
    ///
    /// # Errors
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) if none of its addresses is admitted.
    pub async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let mut failure = io::Error::new(io::ErrorKind::PermissionDenied, NOT_ADMITTED);
        for address in tokio::net::lookup_host((bare(host), port)).await?.filter(|address| self.admits(*address)) {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

/// Why a host that the list has is not reached.
pub(crate) const NOT_ADMITTED: &str =
    "it leads to no address of the public internet, and the list has neither its address nor the word private";

impl Pattern {
    fn parse(said: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "\"{said}\" is not a host: write api.example.org, api.example.org:8443, *.example.org, [::1]:8080, * or private"
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
        Ok(Self { host: bare(host).to_ascii_lowercase(), address: address(host), port })
    }
}

/// Without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn address(host: &str) -> Option<IpAddr> {
    bare(host).parse().ok().map(|address: IpAddr| address.to_canonical())
}

/// True for an address of the internet: not of this machine, of a private network, of a link or of a special purpose
/// (RFC 6890), where services trust all who reach them.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_public_v4(mapped),
            None => is_public_v6(address),
        },
    }
}

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

/// Only what is given out (`2000::/3`), without what may lead to an IPv4 address behind a translator or tunnel (Teredo
/// and its like, `2001::/23`; 6to4, `2002::/16`), and without documentation.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_special = (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || a == 0x2002 || a == 0x3fff;
    (0x2000..0x4000).contains(&a) && !is_special
}

/// Hosts that requests may go to.
fn allowed(list: &[String]) -> Result<Reach, String> {
    if !list.is_empty() && !cfg!(feature = "fetch") {
        return Err("it needs skep-server with the cargo feature `fetch`".to_owned());
    }
    Reach::parse(list)
}

#[cfg(test)]
#[path = "../tests/unit/outgoing.rs"]
mod tests;

//! The host that a request is for: its grammar, and the hosts that this server serves.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use skep::link::BaseUrl;

/// True for a host with an optional port (RFC 9110, 7.2; RFC 3986, 3.2.2 and 3.2.3). There is no user information, and
/// the host is not empty.
pub(crate) fn is_valid(authority: &[u8]) -> bool {
    let (host, port) = split(authority);
    let is_host = match host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) {
        Some(address) => std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => !host.is_empty() && host.iter().copied().all(is_in_name) && is_encoded(host),
    };
    is_host && port.is_none_or(|port| port.is_empty() || is_port(port))
}

/// The host of a valid authority, without its port.
pub(crate) fn host(authority: &str) -> &str {
    let (host, _) = split(authority.as_bytes());
    &authority[..host.len()]
}

/// Splits at the colon before the port; those in `[::1]` are part of the host.
fn split(authority: &[u8]) -> (&[u8], Option<&[u8]>) {
    let from = authority.iter().rposition(|byte| *byte == b']').unwrap_or(0);
    match authority[from..].iter().position(|byte| *byte == b':') {
        Some(colon) => (&authority[..from + colon], Some(&authority[from + colon + 1..])),
        None => (authority, None),
    }
}

fn is_port(port: &[u8]) -> bool {
    port.iter().all(u8::is_ascii_digit) && std::str::from_utf8(port).is_ok_and(|port| port.parse::<u16>().is_ok())
}

/// True if two hexadecimal digits follow each percent sign (RFC 3986, 2.1).
fn is_encoded(host: &[u8]) -> bool {
    let mut escapes = host.split(|byte| *byte == b'%').skip(1);
    escapes.all(|rest| rest.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

fn is_in_name(byte: u8) -> bool {
    matches!(
        byte,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' // unreserved
            | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' // sub-delims
            | b'%' // of an escape
    )
}

/// The hosts that requests may name (the setting `hosts`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Every host: neither `hosts` nor `base_url` is set.
    #[default]
    Any,
    /// Names of this machine, and addresses: no site elsewhere can make a browser send them (DNS rebinding).
    Development,
    /// Hosts in lower case, and `*.example.org` for all below one.
    These(Vec<String>),
}

impl Hosts {
    /// Those of the setting; without it, that of the base URL, with those of the application and the names of this
    /// machine.
    pub(crate) fn new(setting: &[String], base_url: Option<&BaseUrl>, of_app: &[String], development: bool) -> Self {
        let base = base_url.and_then(|base| base.as_str().split_once("://")).map(|(_, authority)| host(authority));
        match (setting, base) {
            ([], Some(base)) => {
                let here = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
                Self::These(of_app.iter().cloned().chain([base.to_owned()]).chain(here).collect())
            }
            ([], None) if development => Self::Development,
            ([], None) => Self::Any,
            (hosts, _) if hosts.iter().any(|host| host == "*") => Self::Any,
            (hosts, _) => Self::These(hosts.iter().map(|host| host.to_ascii_lowercase()).collect()),
        }
    }

    /// Whether a request may name this authority.
    pub(crate) fn allow(&self, authority: &str) -> bool {
        let host = host(authority);
        match self {
            Self::Any => true,
            Self::Development => {
                let name = host.to_ascii_lowercase();
                name == "localhost"
                    || name.ends_with(".localhost")
                    || name.starts_with('[')
                    || name.parse::<Ipv4Addr>().is_ok()
            }
            Self::These(hosts) => hosts.iter().any(|pattern| fits(pattern, host)),
        }
    }
}

/// Whether a host is this one, or below the domain of `*.example.org`; `*` is every host.
pub(crate) fn fits(pattern: &str, host: &str) -> bool {
    let Some(domain) = pattern.strip_prefix('*') else { return pattern.eq_ignore_ascii_case(host) };
    let tail = host.len().checked_sub(domain.len()).filter(|at| *at > 0).and_then(|at| host.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(domain))
}

/// What the setting `hosts` may be.
pub(crate) fn patterns(list: &[String]) -> Result<Vec<String>, String> {
    list.iter().try_for_each(|pattern| check_pattern(pattern))?;
    Ok(list.to_vec())
}

/// What an element of the setting `hosts` may be.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), String> {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    if pattern == "*" || is_address || (is_valid(name.as_bytes()) && !name.contains([':', '*'])) {
        return Ok(());
    }
    Err(format!("\"{pattern}\" is not a host: write example.org, *.example.org, or * for every host; without a port"))
}

#[cfg(test)]
#[path = "../tests/unit/authority.rs"]
mod tests;

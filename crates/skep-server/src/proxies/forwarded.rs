//! `Forwarded` (RFC 7239), and the older `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host`.
//!
//! Each proxy appends the address that connected to it, so the list is true from the right up to the first address that is not a
//! trusted proxy: the client. What is left of it, the client may have written.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header};
use skep::Peer;

use super::{Trusted, client};
use crate::authority;

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// What trusted proxies report of a request. `None`: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forwarded {
    address: Option<SocketAddr>,
    /// Whether the client's connection is encrypted.
    pub(crate) https: Option<bool>,
    /// The authority that the client used.
    pub(crate) host: Option<String>,
}

/// The fields of a trusted proxy contradict each other or their grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotForwarded(pub(crate) &'static str);

/// What one proxy reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hop {
    address: Option<SocketAddr>,
    https: Option<bool>,
    host: Option<String>,
}

impl Forwarded {
    /// Reads the fields of a request whose peer is trusted.
    ///
    /// # Errors
    /// If `Forwarded` and `X-Forwarded-*` differ: a proxy maintains one of them, and the client has written the other.
    pub(crate) fn read(headers: &HeaderMap, trusted: &Trusted) -> Result<Self, NotForwarded> {
        if !headers.contains_key(header::FORWARDED) {
            return Self::of_hops(legacy(headers), trusted);
        }
        let standard = Self::of_hops(standard(headers)?, trusted)?;
        let legacy = Self::of_hops(legacy(headers), trusted)?;
        let differ = |one: Option<IpAddr>, other: Option<IpAddr>| one.is_some() && other.is_some() && one != other;
        let ip = |forwarded: &Self| forwarded.address.map(|address| address.ip());
        if differ(ip(&standard), ip(&legacy))
            || standard.https.zip(legacy.https).is_some_and(|(one, other)| one != other)
            || standard.host.as_ref().zip(legacy.host.as_ref()).is_some_and(|(one, other)| one != other)
        {
            return Err(NotForwarded("Forwarded and X-Forwarded-For, -Proto or -Host differ"));
        }
        Ok(Self {
            address: standard.address.or(legacy.address),
            https: standard.https.or(legacy.https),
            host: standard.host.or(legacy.host),
        })
    }

    /// The peer, as the proxies report it.
    pub(crate) fn apply(&self, peer: Peer) -> Peer {
        Peer::new(self.address.or(peer.address), self.https.unwrap_or(peer.tls))
    }

    fn of_hops(hops: Vec<Hop>, trusted: &Trusted) -> Result<Self, NotForwarded> {
        let mut found = Self::default();
        for hop in hops.into_iter().rev() {
            found.https = hop.https.or(found.https);
            found.host = hop.host.or(found.host);
            // An address that is hidden or unknown ends the list: what is left of it, nobody vouches for.
            let Some(address) = hop.address else { break };
            found.address = Some(address);
            if !trusted.includes_ip(address.ip()) {
                break;
            }
        }
        if found.host.as_deref().is_some_and(|host| !authority::is_valid(host.as_bytes())) {
            return Err(NotForwarded("the forwarded host is not the name of a host"));
        }
        Ok(found)
    }
}

/// `Forwarded: for=192.0.2.60;proto=https;host=example.org, for="[2001:db8::1]:4711"`.
fn standard(headers: &HeaderMap) -> Result<Vec<Hop>, NotForwarded> {
    const WRONG: NotForwarded = NotForwarded("the field Forwarded is malformed");
    let mut hops = Vec::new();
    for field in headers.get_all(header::FORWARDED) {
        let field = field.to_str().map_err(|_| WRONG)?;
        for element in split(field, ',').ok_or(WRONG)? {
            hops.push(hop(element).ok_or(WRONG)?);
        }
    }
    Ok(hops)
}

fn hop(element: &str) -> Option<Hop> {
    let mut hop = Hop::default();
    for pair in split(element, ';')?.into_iter().filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let value = unquote(value)?;
        match name.to_ascii_lowercase().as_str() {
            "for" => hop.address = node(&value),
            "proto" => hop.https = https(&value),
            "host" => hop.host = Some(value),
            _ => {}
        }
    }
    Some(hop)
}

/// Splits outside of quotes; `None` if a quote is not closed.
fn split(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    (!quoted).then_some(parts)
}

fn unquote(value: &str) -> Option<String> {
    let Some(rest) = value.strip_prefix('"') else {
        return (!value.is_empty() && !value.contains('"')).then(|| value.to_owned());
    };
    let inner = rest.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        text.push(if character == '\\' { characters.next()? } else { character });
    }
    Some(text)
}

/// `X-Forwarded-For` is a list. Of scheme and host the last value counts, which the nearest proxy has set.
fn legacy(headers: &HeaderMap) -> Vec<Hop> {
    // As bytes: what a client has put in front, text or not, must not hide what the proxy has appended.
    let values = |name: &HeaderName| -> Vec<String> {
        let values = headers.get_all(name).into_iter().flat_map(|field| field.as_bytes().split(|byte| *byte == b','));
        values.map(|value| String::from_utf8_lossy(value.trim_ascii()).into_owned()).collect()
    };
    let hop = |address: String| Hop { address: node(&address), ..Hop::default() };
    let mut hops: Vec<Hop> = values(&FOR).into_iter().map(hop).collect();
    let (https, host) = (values(&PROTO).pop().and_then(|proto| https(&proto)), values(&HOST).pop());
    if https.is_some() || host.is_some() {
        let last = hops.pop().unwrap_or_default();
        hops.push(Hop { https, host: host.filter(|host| !host.is_empty()), ..last });
    }
    hops
}

/// An address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`. `None`: `unknown`, `_hidden`.
fn node(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(client(address.ip(), address.port()));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().map(|address| client(address, 0))
}

fn https(proto: &str) -> Option<bool> {
    match proto.to_ascii_lowercase().as_str() {
        "https" | "wss" => Some(true),
        "http" | "ws" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn read(fields: &[(&'static str, &str)]) -> Result<(String, Option<bool>, String), NotForwarded> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let trusted = Trusted::parse(&["10.0.0.0/8".to_owned(), "fd00::/8".to_owned()]).unwrap();
        let found = Forwarded::read(&headers, &trusted)?;
        let address = found.address.map(|address| address.to_string()).unwrap_or_default();
        Ok((address, found.https, found.host.unwrap_or_default()))
    }

    fn address(name: &'static str, value: &str) -> String {
        read(&[(name, value)]).unwrap().0
    }

    #[test]
    fn the_rightmost_address_that_is_not_a_proxy_is_the_client() {
        for (list, client) in [
            ("192.0.2.1", "192.0.2.1:0"),
            ("6.6.6.6, 192.0.2.1", "192.0.2.1:0"),
            ("6.6.6.6, 192.0.2.1, 10.0.0.1, 10.0.0.2", "192.0.2.1:0"),
            ("192.0.2.1:4711, 10.0.0.1", "192.0.2.1:4711"),
            ("2001:db8::1, fd00::1", "[2001:db8::1]:0"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
            ("::ffff:192.0.2.1", "192.0.2.1:0"),
            ("10.0.0.3, 10.0.0.1", "10.0.0.3:0"),
            ("192.0.2.1, unknown, 10.0.0.1", "10.0.0.1:0"),
            ("\u{e9}, 192.0.2.1, 10.0.0.1", "192.0.2.1:0"),
            ("nonsense", ""),
            ("", ""),
        ] {
            assert_eq!(address("x-forwarded-for", list), client, "{list}");
        }
        for (list, client) in [
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60:0"),
            ("For=\"[2001:db8:cafe::17]:4711\"", "[2001:db8:cafe::17]:4711"),
            ("for=6.6.6.6, for=192.0.2.1, for=10.0.0.1", "192.0.2.1:0"),
            ("for=192.0.2.1, for=_hidden", ""),
            ("for=\"192.0.2.1, 6.6.6.6\"", ""),
        ] {
            assert_eq!(address("forwarded", list), client, "{list}");
        }
    }

    #[test]
    fn scheme_and_host_are_those_of_the_hop_that_saw_the_client() {
        let standard = [(
            "forwarded",
            "for=6.6.6.6;host=evil.example, for=192.0.2.1;proto=https;host=example.org, for=10.0.0.1;proto=http",
        )];
        assert_eq!(read(&standard), Ok(("192.0.2.1:0".to_owned(), Some(true), "example.org".to_owned())));
        let legacy = [
            ("x-forwarded-for", "192.0.2.1, 10.0.0.1"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "evil.example, example.org"),
        ];
        assert_eq!(read(&legacy), Ok(("192.0.2.1:0".to_owned(), Some(true), "example.org".to_owned())));
        let without_address = [("x-forwarded-proto", "https"), ("x-forwarded-host", "example.org:8443")];
        assert_eq!(read(&without_address), Ok((String::new(), Some(true), "example.org:8443".to_owned())));
    }

    #[test]
    fn fields_that_differ_or_are_malformed_are_refused() {
        assert!(read(&[("forwarded", "for=6.6.6.6"), ("x-forwarded-for", "192.0.2.1")]).is_err());
        assert!(read(&[("forwarded", "for=192.0.2.1"), ("x-forwarded-for", "6.6.6.6, 192.0.2.1")]).is_ok());
        assert!(read(&[("forwarded", "for=192.0.2.1;proto=http"), ("x-forwarded-proto", "https")]).is_err());
        assert!(read(&[("forwarded", "for=\"192.0.2.1")]).is_err());
        assert!(read(&[("x-forwarded-host", "a@b")]).is_err());
    }

    #[test]
    fn no_field_makes_the_reader_panic() {
        let pieces = [
            "for=",
            "\"",
            "\\",
            ",",
            ";",
            "[::1]",
            "10.0.0.1",
            ":80",
            "_x",
            "proto=https",
            "host=",
            "\u{e9}",
            " ",
            "=",
        ];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let text: String = (0..random.usize(0..9)).map(|_| pieces[random.usize(0..pieces.len())]).collect();
            let mut headers = HeaderMap::new();
            for name in ["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"] {
                headers.append(name, HeaderValue::from_bytes(text.as_bytes()).unwrap());
            }
            let trusted = Trusted::parse(&["10.0.0.0/8".to_owned()]).unwrap();
            if let Ok(found) = Forwarded::read(&headers, &trusted) {
                assert!(found.host.is_none_or(|host| authority::is_valid(host.as_bytes())));
            }
        }
    }
}

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
#[path = "../../tests/unit/proxies/forwarded.rs"]
mod tests;

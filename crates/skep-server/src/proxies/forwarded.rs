//! `Forwarded` (RFC 7239), and the older `X-Forwarded-For`, `-Proto`, `-Host` and `-Port`.
//!
//! Each proxy appends the address that connected to it, so the list is true from the right up to the first address that
//! is not a trusted proxy: the client. What is left of it, the client may have written. A field that the proxies do not
//! write is the client's from end to end, and proxies pass it on: so only those of [`Fields`] are read, and the others
//! are removed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use http::{HeaderName, header};
use skep::{Peer, request};
use skep_settings::FromSetting;

use super::{Proxies, Trusted};
use crate::authority;

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PORT: HeaderName = HeaderName::from_static("x-forwarded-port");

/// The fields that the trusted proxies write (the setting `proxies.fields`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields(Vec<HeaderName>);

/// What trusted proxies report of a request. `None`: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forwarded {
    address: Option<SocketAddr>,
    /// Whether the client's connection is encrypted.
    pub(crate) https: Option<bool>,
    /// The authority that the client used.
    pub(crate) host: Option<String>,
    /// The port that the client used, where the authority lacks it.
    pub(crate) port: Option<u16>,
}

/// The fields of a trusted proxy break their grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotForwarded(pub(crate) &'static str);

/// What one proxy reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hop {
    address: Option<SocketAddr>,
    https: Option<bool>,
    host: Option<String>,
}

/// Those of the setting.
impl Default for Fields {
    fn default() -> Self {
        Proxies::default().fields
    }
}

impl FromSetting<[String]> for Fields {
    fn from_setting(list: &[String]) -> Result<Self, String> {
        Self::parse(list)
    }
}

impl Fields {
    /// Reads a list of names.
    pub(crate) fn parse(list: &[String]) -> Result<Self, String> {
        let known = |said: &String| {
            let all = [header::FORWARDED, FOR, PROTO, HOST, PORT];
            all.into_iter().find(|name| said.eq_ignore_ascii_case(name.as_str())).ok_or_else(|| {
                format!(
                    "\"{said}\" is not one of forwarded, x-forwarded-for, x-forwarded-proto, x-forwarded-host, \
                     x-forwarded-port"
                )
            })
        };
        let fields = Self(list.iter().map(known).collect::<Result<_, _>>()?);
        if fields.has(&header::FORWARDED) && fields.0.iter().any(|name| *name != header::FORWARDED) {
            let text = "forwarded and the fields x-forwarded-* report the same, and a proxy writes only one of these \
                        kinds: the other one would be the client's; name those that the proxy writes";
            return Err(text.to_owned());
        }
        Ok(fields)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if no field reports the address of a client.
    pub(crate) fn hide_clients(&self) -> bool {
        !self.has(&header::FORWARDED) && !self.has(&FOR)
    }

    fn has(&self, name: &HeaderName) -> bool {
        self.0.contains(name)
    }
}

/// Removes the fields in which proxies report clients, but for those that are read: anybody can write them. The result
/// is whether there were any.
pub(crate) fn remove_unread(headers: &mut request::Fields, read: Option<&Fields>) -> bool {
    let is_read = |name: &[u8]| {
        let is = |known: &HeaderName| name.eq_ignore_ascii_case(known.as_str().as_bytes());
        read.is_some_and(|fields| fields.0.iter().any(is))
    };
    if !headers.may_begin_with(b"xf") {
        return false;
    }
    let count = headers.len();
    headers.retain(|name| !is_report(name) || is_read(name));
    headers.len() < count
}

fn is_report(name: &[u8]) -> bool {
    let begins = |with: &[u8]| name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    begins(b"x-forwarded-") || name.len() == 9 && begins(b"forwarded")
}

impl Forwarded {
    /// Reads these fields of a request whose peer is trusted.
    ///
    /// # Errors
    /// If one is malformed: the proxy would not write it so.
    pub(crate) fn read(headers: &request::Fields, trusted: &Trusted, fields: &Fields) -> Result<Self, NotForwarded> {
        if fields.has(&header::FORWARDED) {
            return Self::of_hops(standard(headers)?, trusted);
        }
        let values = |name: &HeaderName| if fields.has(name) { list(headers, name) } else { Vec::new() };
        let mut found = Self::of_hops(legacy(&values(&FOR), &values(&PROTO), values(&HOST).pop()), trusted)?;
        if let Some(port) = values(&PORT).pop() {
            let number = Some(&*port).filter(|port| is_digits(port)).and_then(|port| port.parse().ok());
            found.port = Some(number.ok_or(NotForwarded("X-Forwarded-Port is not a port"))?);
        }
        Ok(found)
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

/// `Forwarded: for=192.0.2.60;proto=https;host=example.org, for="[2001:db8::1]:4711"`. Empty elements do not count (RFC
/// 9110, 5.6.1.2).
fn standard(headers: &request::Fields) -> Result<Vec<Hop>, NotForwarded> {
    const WRONG: NotForwarded = NotForwarded("the field Forwarded is malformed");
    let mut hops = Vec::new();
    for field in headers.get_all(header::FORWARDED) {
        let field = field.to_str().map_err(|_| WRONG)?;
        for element in split(field, ',').ok_or(WRONG)?.into_iter().filter(|element| !element.is_empty()) {
            hops.push(hop(element).ok_or(WRONG)?);
        }
    }
    Ok(hops)
}

/// The most parameters of one proxy. There are four, and names are compared with each other.
const MOST_PARAMETERS: usize = 16;

/// No parameter occurs twice (RFC 7239, 4).
fn hop(element: &str) -> Option<Hop> {
    let (mut hop, mut names) = (Hop::default(), Vec::new());
    for pair in split(element, ';')?.into_iter().filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.to_ascii_lowercase(), unquote(value)?);
        match &*name {
            "for" => hop.address = node(&value),
            "proto" => hop.https = https(&value),
            "host" => hop.host = Some(value),
            _ => {}
        }
        if name.is_empty() || names.len() == MOST_PARAMETERS || names.contains(&name) {
            return None;
        }
        names.push(name);
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

/// A token or a quoted string (RFC 9110, 5.6.4). Colons and brackets are taken without quotes, too: proxies write
/// addresses so.
fn unquote(value: &str) -> Option<String> {
    let Some(rest) = value.strip_prefix('"') else {
        let is_bare =
            !value.is_empty() && !value.contains(|character: char| character == '"' || character.is_whitespace());
        return is_bare.then(|| value.to_owned());
    };
    let inner = rest.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.push(characters.next()?),
            '"' => return None,
            _ => text.push(character),
        }
    }
    Some(text)
}

/// The elements of all lines of a field, without the empty ones. They are split at each comma: a quote that a client
/// opens must not hide what the proxy appends. As bytes, for the same reason: what is in front may be no text.
fn list(headers: &request::Fields, name: &HeaderName) -> Vec<String> {
    let elements = headers.get_all(name).flat_map(|field| field.as_bytes().split(|byte| *byte == b','));
    let elements = elements.map(<[u8]>::trim_ascii).filter(|element| !element.is_empty());
    elements.map(|element| String::from_utf8_lossy(element).into_owned()).collect()
}

/// Of the lists of addresses and schemes, the last elements are of the nearest proxy, those before of the one before. A
/// scheme that is alone was passed on by the proxies behind the first. Of hosts, the last one counts: a proxy which
/// passes the field on leaves the client's in front.
fn legacy(addresses: &[String], protos: &[String], host: Option<String>) -> Vec<Hop> {
    let hop = |address: &String| Hop { address: node(&unquote(address).unwrap_or_default()), ..Hop::default() };
    let mut hops: Vec<Hop> = addresses.iter().map(hop).collect();
    if hops.is_empty() {
        hops.push(Hop::default());
    }
    for (hop, proto) in hops.iter_mut().rev().zip(protos.iter().rev()) {
        hop.https = unquote(proto).and_then(|proto| https(&proto));
    }
    if let Some(last) = hops.last_mut() {
        last.host = host;
    }
    hops
}

/// An address with or without a port (RFC 7239, 6): `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]`, `[2001:db8::1]:80`,
/// and without brackets `2001:db8::1`. `None`: `unknown`, `_hidden`. A hidden port (`:_http`) is 0.
fn node(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(SocketAddr::new(IpAddr::from(address).to_canonical(), 0));
    }
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok()?.into(),
        None => IpAddr::from(name.parse::<Ipv4Addr>().ok()?),
    };
    Some(SocketAddr::new(address.to_canonical(), port.map_or(Some(0), node_port)?))
}

/// `1*5DIGIT`, or `_` and a name.
fn node_port(text: &str) -> Option<u16> {
    match text.strip_prefix('_') {
        Some(name) => (!name.is_empty()).then_some(0),
        None => is_digits(text).then(|| text.parse().ok())?,
    }
}

fn is_digits(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
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

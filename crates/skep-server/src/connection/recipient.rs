//! Who sent a request, and to which host: settled once, before the application sees it.
//!
//! Afterwards the field `Host` is the request's authority, and the target has none. Neither the application nor a
//! component has to choose between an absolute target, `:authority`, `Host` and `X-Forwarded-Host`.

use http::header::{COOKIE, HOST, LOCATION};
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, Version};
use skep::link::BaseUrl;
use skep::request::Parts;
use skep::{Error, Peer, Response};

use super::{Connection, Context};
use crate::authority;
use crate::proxies::{self, Forwarded, NotForwarded};

/// The peer of a request, and its authority in the field `Host`, which is known to be the last host if it was read so.
/// A response if the request ends here.
pub(super) fn settle(connection: &Connection, parts: &mut Parts, has_last_host: bool) -> Result<Peer, Box<Response>> {
    let settled = read(connection, parts, has_last_host);
    let failure = |error| Box::new(connection.context.local.failure(&error));
    let (peer, is_plain) = settled.map_err(failure)?;
    let Some(base) = is_plain.then(|| https_base(connection, parts)).flatten() else {
        // TLS is asked for, so nothing else is served.
        let is_refused = is_plain && connection.context.rules.tls;
        return if is_refused { Err(failure(Error::bad_request("this server speaks HTTPS"))) } else { Ok(peer) };
    };
    let target = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let location = HeaderValue::try_from(format!("{base}{target}"));
    let location = location.map_err(|_| failure(Error::bad_request("the address has no path")))?;
    Err(Box::new(Response::empty(StatusCode::PERMANENT_REDIRECT).with_header(LOCATION, location)))
}

/// Where a request without TLS is redirected to: the base URL, or the host that it is for, as every TCP address speaks
/// TLS.
fn https_base(connection: &Connection, parts: &Parts) -> Option<String> {
    let base = connection.context.local.site().base_url().map(BaseUrl::as_str);
    if let Some(base) = base.filter(|base| base.starts_with("https://")) {
        return Some(base.to_owned());
    }
    let host =
        parts.headers.get(HOST)?.to_str().ok().filter(|host| !host.is_empty() && connection.context.rules.tls)?;
    Some(format!("https://{}", host.strip_suffix(":80").unwrap_or(host)))
}

/// The peer, and whether it lacks the TLS that it should use: its trusted proxy says so, or this server speaks TLS
/// itself.
fn read(connection: &Connection, parts: &mut Parts, has_last_host: bool) -> Result<(Peer, bool), Error> {
    let context = &connection.context;
    let (mut peer, mut forwarded) = (connection.peer, Forwarded::default());
    if parts.version == Version::HTTP_2 {
        check_http2(context, parts)?;
    }
    let fields = connection.reads_fields.then_some(&context.rules.fields);
    let is_forwarded = proxies::remove_unread(&mut parts.headers, fields);
    if let Some(fields) = fields {
        forwarded = Forwarded::read(&parts.headers, &context.rules.proxies, fields)
            .map_err(|NotForwarded(why)| Error::bad_request("the proxy's fields are malformed").with_cause(why))?;
        peer = forwarded.apply(peer);
    }
    peer.is_forwarded = is_forwarded;
    let mut is_plain = forwarded.https == Some(false);
    let mut is_known = has_last_host;
    if parts.uri.scheme_str().is_some_and(|scheme| !matches!(scheme, "http" | "https")) {
        // Some other server's (RFC 9110, 7.4).
        return Err(Error::bad_request("the address is neither of http nor of https"));
    }
    if let Some(own) = take_authority(&mut parts.uri) {
        // RFC 9112, 3.2.2: the field is ignored.
        set_host(parts, own.as_str())?;
        is_known = false;
    }
    if let Some(host) = forwarded.host {
        set_host(parts, &host)?;
        is_known = false;
    }
    if let Some(port) = forwarded.port {
        set_port(parts, port, peer.tls)?;
        is_known = false;
    }
    // A socket file is for a proxy on this machine, which ends TLS itself.
    is_plain |= context.rules.tls && !peer.tls && connection.peer.address.is_some();
    if !is_known {
        check_host(connection, parts)?;
    }
    Ok((peer, is_plain))
}

/// The checks that [`crate::http1`] makes for HTTP/1.
fn check_http2(context: &Context, parts: &mut Parts) -> Result<(), Error> {
    // RFC 9113, 8.2.1. HTTP/1 has such spaces around values, and they are no part of them.
    let is_padded = |value: &HeaderValue| {
        let ends = [value.as_bytes().first(), value.as_bytes().last()];
        ends.into_iter().flatten().any(|end| matches!(end, b' ' | b'\t'))
    };
    if parts.headers.map().values().any(is_padded) {
        return Err(Error::bad_request("the value of a header field begins or ends with a space"));
    }
    join_cookies(parts.headers.map_mut());
    if parts.headers.len() > context.limits.head.header_fields {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(Error::new(status).with_message("there are too many header fields"));
    }
    let mut hosts = parts.headers.get_all(HOST);
    let (host, second) = (hosts.next(), hosts.next());
    // RFC 9113, 8.3.1.
    let differs = host.zip(parts.uri.authority()).is_some_and(|(host, authority)| host != *authority.as_str());
    if second.is_some() {
        return Err(Error::bad_request("there are two Host fields"));
    }
    if differs { Err(Error::bad_request("Host differs from :authority")) } else { Ok(()) }
}

/// Clients may send each cookie in a field of its own; for all else they are one field (RFC 9113, 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let mut crumbs = headers.get_all(COOKIE).iter();
    if crumbs.next().is_none() || crumbs.next().is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if let Ok(cookies) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(COOKIE, cookies);
    }
}

/// Removes scheme and authority from a target that has a path; that of CONNECT has none.
fn take_authority(uri: &mut Uri) -> Option<Authority> {
    uri.authority().and(uri.path_and_query())?;
    let target = std::mem::take(uri).into_parts();
    *uri = target.path_and_query.map(Uri::from).unwrap_or_default();
    target.authority
}

fn set_host(parts: &mut Parts, authority: &str) -> Result<(), Error> {
    let value = HeaderValue::from_str(authority).map_err(|_| not_a_host())?;
    parts.headers.map_mut().insert(HOST, value);
    Ok(())
}

/// The port that the client used, where the authority has none.
fn set_port(parts: &mut Parts, port: u16, tls: bool) -> Result<(), Error> {
    let own = parts.headers.get(HOST).and_then(|own| own.to_str().ok());
    let lacks_port = |own: &&str| authority::host(own) == *own && port != if tls { 443 } else { 80 };
    let Some(own) = own.filter(lacks_port) else { return Ok(()) };
    let authority = format!("{own}:{port}");
    set_host(parts, &authority)
}

fn check_host(connection: &Connection, parts: &Parts) -> Result<(), Error> {
    let Some(host) = parts.headers.get(HOST) else {
        // HTTP/1.0 has none.
        return if parts.version < Version::HTTP_11 { Ok(()) } else { Err(Error::bad_request("there is no host")) };
    };
    // The requests of a connection are for one host, as a rule.
    let is_empty = host.as_bytes().is_empty();
    if !is_empty && **connection.last_host.borrow() == *host.as_bytes() {
        return Ok(());
    }
    let host = host.to_str().ok().filter(|host| authority::is_valid(host.as_bytes())).ok_or_else(not_a_host)?;
    if connection.context.rules.hosts.allow(host) {
        // A copy: the value itself would keep the buffer that it was read into.
        connection.last_host.replace(host.as_bytes().into());
        return Ok(());
    }
    let cause = format!("Host \"{host}\" is in neither `hosts` nor `base_url`");
    tracing::debug!(target: "skep::hosts", "{cause}");
    Err(Error::new(StatusCode::MISDIRECTED_REQUEST)
        .with_message("this server has no site of that name")
        .with_cause(cause))
}

fn not_a_host() -> Error {
    Error::bad_request("Host is not the name of a host")
}

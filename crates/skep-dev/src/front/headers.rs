//! Header fields that a proxy takes away, adds, or decides by.

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, ORIGIN, STRICT_TRANSPORT_SECURITY, TE, TRANSFER_ENCODING, UPGRADE, VIA, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Request, Response, StatusCode, Version};

use crate::tls::Origin;

const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const EMBEDDER_POLICY: HeaderName = HeaderName::from_static("cross-origin-embedder-policy");

/// The policy of our own pages. The page of an error stands in a frame of the application's page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// That of the HTML of a mail, which runs nothing and loads pictures only.
const MAIL_POLICY: &str = "default-src 'none'; img-src data: http: https:; style-src 'unsafe-inline'; \
                           sandbox allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'self'";

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether the response will be a page of its own in a browser, and no part of one that a script fetches.
pub(super) fn wants_page(headers: &HeaderMap) -> bool {
    match text(headers, &FETCH_DEST) {
        Some(destination) => matches!(destination, "document" | "iframe" | "frame"),
        None => text(headers, &ACCEPT).is_some_and(|accept| accept.contains("text/html")),
    }
}

/// Whether the script can be put into it.
pub(super) fn is_whole_page<B>(response: &Response<B>) -> bool {
    let is_html =
        text(response.headers(), &CONTENT_TYPE).is_some_and(|kind| kind.trim_start().starts_with("text/html"));
    let has_none = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED, StatusCode::PARTIAL_CONTENT];
    let is_saved = text(response.headers(), &CONTENT_DISPOSITION)
        .is_some_and(|how| how.trim_start().to_ascii_lowercase().starts_with("attachment"));
    is_html && !is_saved && !response.headers().contains_key(CONTENT_ENCODING) && !has_none.contains(&response.status())
}

/// The protocol that an upgrade is to.
pub(super) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let is_named =
        |value: &HeaderValue| value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("upgrade"));
    headers.get_all(CONNECTION).iter().any(is_named).then(|| headers.get(UPGRADE).cloned()).flatten()
}

pub(super) fn prepare_request<B>(request: &mut Request<B>, upgrade: Option<&HeaderValue>, is_page: bool) {
    let is_old = std::mem::replace(request.version_mut(), Version::HTTP_11) == Version::HTTP_10;
    let headers = request.headers_mut();
    remove_hop_by_hop(headers, upgrade);
    headers.remove(EXPECT);
    if is_old {
        // Of a proxy before this one, most likely: what the application shows depends on it.
        headers.append(VIA, HeaderValue::from_static("1.0 skep-dev"));
    }
    // A page has to be readable.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if is_page {
        // What the browser has of it belongs to another version of the script.
        headers.remove(IF_NONE_MATCH);
        headers.remove(IF_MODIFIED_SINCE);
    }
}

pub(super) fn prepare_response<B>(response: &mut Response<B>, upgrade: Option<&HeaderValue>) {
    *response.version_mut() = Version::HTTP_11;
    remove_hop_by_hop(response.headers_mut(), upgrade);
    // It would be of this name with every port, and of what is developed next.
    response.headers_mut().remove(STRICT_TRANSPORT_SECURITY);
}

/// Fields that belong to one connection (RFC 9110, 7.6.1).
fn remove_hop_by_hop(headers: &mut HeaderMap, upgrade: Option<&HeaderValue>) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    for name in named.iter().chain(&[CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TE, TRANSFER_ENCODING, UPGRADE]) {
        headers.remove(name);
    }
    if let Some(protocol) = upgrade {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, protocol.clone());
    }
}

/// A page with the script is another one than the application sent.
pub(super) fn never_store(headers: &mut HeaderMap) {
    headers.remove(ETAG);
    headers.remove(LAST_MODIFIED);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// For our own responses.
pub(super) fn protect(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(EMBEDDER_POLICY, HeaderValue::from_static("require-corp"));
}

/// For a page with a mail in a frame, and for that: pictures of other sites do not say who may embed them.
pub(super) fn allow_pictures<B>(mut response: Response<B>, is_mail: bool) -> Response<B> {
    response.headers_mut().remove(EMBEDDER_POLICY);
    if is_mail {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(MAIL_POLICY));
    }
    response
}

/// Whether the request names this machine, and no other site is behind it. A name that somebody else's DNS leads here
/// (rebinding) is no name of this machine.
pub(super) fn is_own(headers: &HeaderMap, own: Origin) -> bool {
    let Some(host) = text(headers, &HOST) else { return false };
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => (name, port.parse().unwrap_or(0)),
        _ => (host, own.default_port()),
    };
    let is_here = name == "localhost"
        || name.ends_with(".localhost")
        || name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_same_origin = text(headers, &ORIGIN).is_none_or(|origin| origin == format!("{}://{host}", own.scheme()));
    let is_same_site = text(headers, &FETCH_SITE).is_none_or(|site| matches!(site, "same-origin" | "none"));
    is_here && port == own.listen.port() && is_same_origin && is_same_site && headers.get_all(HOST).iter().count() == 1
}

#[cfg(test)]
#[path = "../../tests/unit/headers.rs"]
mod tests;

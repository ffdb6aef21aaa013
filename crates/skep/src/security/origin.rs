//! Defence against cross-site request forgery (CSRF).
//!
//! Browsers send `Sec-Fetch-Site` (Fetch Metadata) and, for unsafe methods, `Origin` (RFC 6454, 7). A request with an
//! unsafe method must come from the site itself. A request with neither field comes from no recent browser: without
//! cookies it is accepted, with cookies it needs the [`token`] of the form.

use http::header::{COOKIE, HOST, ORIGIN};
use http::{HeaderName, Method};

use crate::security::keys::AppKeys;
use crate::security::masks::Masks;
use skep_http::error::{Error, Result};
use skep_http::log::limit::LogLimit;
use skep_http::request::{Fields, Parts, header_text};

static REFUSED: LogLimit = LogLimit::new("forms of other sites that were refused");

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Which origins are this site's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnOrigins<'r> {
    /// Those of the setting or the application.
    pub(crate) trusted: &'r [String],
    /// The browser's connection is encrypted, as far as is known.
    pub(crate) tls: bool,
    pub(crate) masks: &'r Masks,
}

/// Refuses cross-site requests. Returns true if the request needs a token.
pub(crate) fn check(parts: &Parts, own: OwnOrigins<'_>) -> Result<bool> {
    if is_safe(&parts.method) {
        return Ok(false);
    }
    let site = header_text(&parts.headers, &SEC_FETCH_SITE);
    let origin = header_text(&parts.headers, &ORIGIN);
    let is_own = match (site, origin) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => own.include(origin, parts),
        // An `Origin` that is no text is not ours.
        (None, None) if parts.headers.contains_key(ORIGIN) => false,
        (None, None) => return Ok(parts.headers.contains_key(COOKIE)),
    };
    if is_own || origin.is_some_and(|origin| own.trusted.iter().any(|trusted| trusted == origin)) {
        return Ok(false);
    }
    let cause = format!("Sec-Fetch-Site {site:?}, Origin {origin:?}, Host {:?}", authority(parts));
    REFUSED.log(|| {
        tracing::warn!(target: "skep::origin", method = %parts.method, path = &*own.masks.path(parts.uri.path()), "a form of another site was refused: {cause}");
    });
    Err(Error::forbidden("this form was sent from another site").with_cause(cause))
}

/// True if a request for a websocket comes from this site, from one that is trusted, or from no browser: browsers
/// always send `Origin` there (RFC 6455, 4.1), whatever the origin, and no other site's page is kept from opening one
/// (RFC 6455, 10.2).
pub(crate) fn is_allowed(parts: &Parts, own: OwnOrigins<'_>) -> bool {
    let Some(origin) = parts.headers.get(ORIGIN) else {
        return header_text(&parts.headers, &SEC_FETCH_SITE).is_none_or(|site| site == "same-origin");
    };
    let Ok(origin) = origin.to_str() else { return false };
    own.include(origin, parts) || own.trusted.iter().any(|trusted| trusted == origin)
}

/// True if the browser sends no fetch metadata: the forms of the page need a token.
pub(crate) fn tells_nothing(headers: &Fields) -> bool {
    !headers.contains_key(SEC_FETCH_SITE)
}

/// The cookie that tokens are bound to. With TLS no other host and no network attacker can set it (RFC 6265bis,
/// 4.1.3.2).
pub(crate) fn cookie_name(tls: bool) -> &'static str {
    if tls { "__Host-skep-form" } else { "skep-form" }
}

/// The hidden field with the token.
pub(crate) const TOKEN: &str = "skep-token";
const PURPOSE: &str = "form token";

/// The token that goes with a cookie: another site knows neither.
pub(crate) fn token(secret: &AppKeys, cookie: &str) -> Result<String> {
    secret.seal_own(PURPOSE, cookie.as_bytes())
}

/// Refuses a form whose token does not go with the cookie.
pub(crate) fn check_token(secret: &AppKeys, cookie: Option<&str>, token: Option<&str>) -> Result<()> {
    let sealed = token.map(|token| secret.open_own(PURPOSE, token)).transpose()?.flatten();
    if sealed.is_some() && sealed.as_deref() == cookie.map(str::as_bytes) {
        return Ok(());
    }
    let cause = "neither Sec-Fetch-Site nor Origin, but cookies, and no token of ours";
    REFUSED.log(|| tracing::warn!(target: "skep::origin", "a form that may be of another site was refused: {cause}"));
    let message = "this form does not say that it comes from this site: load its page again, and send it from there";
    Err(Error::forbidden(message).with_cause(cause))
}

/// True for a method that changes nothing.
pub(crate) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE)
}

impl OwnOrigins<'_> {
    /// Whether a page of this origin is one of the host that the request is for. Over TLS, an origin without it is
    /// not: an attacker on the network writes those. Without, a proxy may end TLS, so both schemes may be ours.
    fn include(self, origin: &str, parts: &Parts) -> bool {
        let (usual, host) = match origin.split_once("://") {
            Some(("https", host)) => (":443", host),
            Some(("http", host)) if !self.tls => (":80", host),
            _ => return false,
        };
        let bare = |authority| str::strip_suffix(authority, usual).unwrap_or(authority);
        authority(parts).is_some_and(|own| bare(own).eq_ignore_ascii_case(bare(host)))
    }
}

pub(crate) fn authority(parts: &Parts) -> Option<&str> {
    parts.uri.authority().map(http::uri::Authority::as_str).or_else(|| header_text(&parts.headers, &HOST))
}

#[cfg(test)]
#[path = "../../tests/unit/origin.rs"]
mod tests;

//! Defence against forged requests from other sites (CSRF), without tokens.
//!
//! A browser says where a request comes from: `Sec-Fetch-Site` (Fetch Metadata) and, for unsafe methods, `Origin` (RFC 6454,
//! 7). What changes something must come from the site itself. A request with neither field comes from no browser of
//! the last years, and so carries nobody's cookies unknowingly: it passes.

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderName, Method};

use crate::error::{Error, Result};
use crate::request::header_text;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses a request that another site made a browser send.
pub(crate) fn check(parts: &Parts, trusted: &[String]) -> Result<()> {
    if is_safe(&parts.method) {
        return Ok(());
    }
    let site = header_text(&parts.headers, &SEC_FETCH_SITE);
    let origin = header_text(&parts.headers, &ORIGIN);
    let own = match (site, origin) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => is_own(origin, parts),
        // An `Origin` that is no text is none of ours.
        (None, None) => !parts.headers.contains_key(ORIGIN),
    };
    if own || origin.is_some_and(|origin| trusted.iter().any(|trusted| trusted == origin)) {
        return Ok(());
    }
    Err(Error::forbidden("this form was sent from another site").with_cause(format!(
        "cross-site {}: Sec-Fetch-Site {site:?}, Origin {origin:?}, Host {:?}",
        parts.method,
        authority(parts)
    )))
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE)
}

/// The scheme is left out: behind a proxy that ends TLS it is not ours to know.
fn is_own(origin: &str, parts: &Parts) -> bool {
    origin.split_once("://").is_some_and(|(_, host)| authority(parts).is_some_and(|own| own.eq_ignore_ascii_case(host)))
}

fn authority(parts: &Parts) -> Option<&str> {
    parts.uri.authority().map(http::uri::Authority::as_str).or_else(|| header_text(&parts.headers, &HOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(method: &str, fields: &[(&str, &str)]) -> bool {
        let mut request = http::Request::builder().method(method).uri("/").header("host", "example.org");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(&parts, &["https://partner.example".into()]).is_ok()
    }

    #[test]
    fn only_the_site_itself_may_change_something() {
        assert!(allowed("POST", &[("sec-fetch-site", "same-origin")]));
        assert!(allowed("POST", &[("sec-fetch-site", "none")]));
        assert!(!allowed("POST", &[("sec-fetch-site", "same-site")]));
        assert!(!allowed("DELETE", &[("sec-fetch-site", "cross-site"), ("origin", "http://evil.example")]));
        assert!(allowed("POST", &[("origin", "http://example.org")]));
        assert!(!allowed("POST", &[("origin", "http://example.org:81")]));
        assert!(!allowed("POST", &[("origin", "null")]));
        assert!(!allowed("POST", &[("origin", "\u{e9}")]));
    }

    #[test]
    fn reading_and_what_is_no_browser_pass() {
        assert!(allowed("GET", &[("sec-fetch-site", "cross-site")]));
        assert!(allowed("POST", &[]));
    }

    #[test]
    fn a_trusted_origin_passes() {
        assert!(allowed("POST", &[("sec-fetch-site", "cross-site"), ("origin", "https://partner.example")]));
    }
}

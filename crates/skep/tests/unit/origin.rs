//! Unit tests of `origin`.

use super::*;

fn parts(host: &str, origin: &str) -> Parts {
    let (parts, ()) = http::Request::post("/").header(HOST, host).header(ORIGIN, origin).body(()).unwrap().into_parts();
    parts.into()
}

#[test]
fn a_page_without_tls_is_none_of_a_site_with_it() {
    let masks = Masks::default();
    let trusted = ["http://partner.example".to_owned()];
    let of = |tls| OwnOrigins { trusted: &trusted, tls, masks: &masks };
    // Whether the page is the site's if its connection is plain, or what is known of it; and with TLS.
    for (host, origin, plain, tls) in [
        ("example.org", "https://example.org", true, true),
        ("example.org", "http://example.org", true, false),
        ("example.org:8443", "https://example.org:8443", true, true),
        ("example.org:8443", "http://example.org:8443", true, false),
        ("example.org:8443", "https://example.org", false, false),
        ("example.org:443", "https://example.org", true, true),
        ("example.org:80", "http://example.org", true, false),
        ("example.org:80", "https://example.org", false, false),
        ("EXAMPLE.org", "https://example.org", true, true),
        ("[::1]:8800", "http://[::1]:8800", true, false),
        ("example.org", "ftp://example.org", false, false),
        ("example.org", "chrome-extension://example.org", false, false),
        ("example.org", "https://example.org.evil.example", false, false),
        ("example.org", "https://evil.example", false, false),
        ("example.org", "http://partner.example", true, true),
        ("example.org", "example.org", false, false),
        ("example.org", "null", false, false),
    ] {
        let parts = parts(host, origin);
        for (is_tls, expected) in [(false, plain), (true, tls)] {
            assert_eq!(is_allowed(&parts, of(is_tls)), expected, "a websocket, {origin} at {host}, {is_tls}");
            assert_eq!(check(&parts, of(is_tls)).is_ok(), expected, "a form, {origin} at {host}, {is_tls}");
        }
    }
}

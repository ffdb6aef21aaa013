//! Unit tests of the page of a failure in development.

use super::*;
use crate::request::Parts;

fn may(address: &str, fields: &[(&str, &str)]) -> bool {
    let mut request = http::Request::get("/").header("host", "localhost:8080").header("accept", "text/html");
    request = request.header("sec-fetch-mode", "navigate");
    for (name, value) in fields {
        request.headers_mut().unwrap().insert(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    let parts: Parts = request.body(()).unwrap().into_parts().0.into();
    may_be_shown(&parts, Peer::new(address.parse().ok(), false))
}

#[test]
fn only_a_browser_on_this_machine_that_opens_a_page_sees_it() {
    for address in ["127.0.0.1:5000", "[::1]:5000", "[::ffff:127.0.0.1]:5000"] {
        assert!(may(address, &[]), "{address}");
    }
    for address in ["192.0.2.1:5000", "[2001:db8::1]:5000", "10.0.0.1:1"] {
        assert!(!may(address, &[]), "{address}");
    }
    let here = "127.0.0.1:5000";
    for host in ["127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080", "shop.localhost:80"] {
        assert!(may(here, &[("host", host)]), "{host}");
    }
    // The name of another site may lead here: DNS rebinding.
    for host in ["example.org", "localhost.example.org:8080", "192.0.2.1:8080", ""] {
        assert!(!may(here, &[("host", host)]), "{host}");
    }
    for name in OF_PROXIES {
        assert!(!may(here, &[(name, "192.0.2.1")]), "{name}");
    }
    assert!(may(here, &[("sec-fetch-mode", "navigate")]) && !may(here, &[("sec-fetch-mode", "cors")]));
    assert!(!may(here, &[("accept", "application/json")]));
    let parts: Parts = http::Request::get("/").body(()).unwrap().into_parts().0.into();
    assert!(!may_be_shown(&parts, Peer::new(here.parse().ok(), false)) && !may_be_shown(&parts, Peer::default()));
    // A proxy has said of whom it is, or speaks HTTP/1.0 and says nothing.
    let mut parts: Parts = http::Request::get("/").header("host", "localhost").body(()).unwrap().into_parts().0.into();
    let mut peer = Peer::new(here.parse().ok(), false);
    assert!(is_local(&parts, peer) && !may_be_shown(&parts, peer));
    parts.version = Version::HTTP_10;
    assert!(!is_local(&parts, peer));
    (parts.version, peer.is_forwarded) = (Version::HTTP_11, true);
    assert!(!is_local(&parts, peer));
}

#[test]
fn what_is_secret_by_its_name_is_masked() {
    for name in ["Cookie", "authorization", "x-api-key", "reset_token", "X-CSRF"] {
        assert_eq!(masked(name, "value"), "***", "{name}");
    }
    assert_eq!(masked("accept-language", "de"), "de");
}

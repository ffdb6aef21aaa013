//! Unit tests of the page of a failure in development.

use super::*;
use crate::ext::{ErrorExt as _, RequestLogExt as _};
use crate::log::RequestLog;
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
fn an_error_with_other_words_keeps_what_is_known_of_the_first_one() {
    let first = Error::internal("it broke").with_session(vec!["name".to_owned()]);
    let place = first.place();
    let other = Error::new(StatusCode::BAD_GATEWAY).caused_by(first);
    assert!(place.is_some() && other.place() == place);
    assert_eq!(other.session(), Some(&["name".to_owned()][..]));
}

#[test]
fn what_is_secret_by_its_name_is_masked() {
    for name in ["api-key", "reset_token", "X-CSRF", "code", "jwt", "pass", "pwd", "otp", "user_pin", "sig", "%74oken"]
    {
        assert_eq!(masked(&format!("/a?b=c&{name}=value&d")), format!("/a?b=c&{name}=***&d"));
    }
    for address in ["/", "/a?page=2&design=new&pinned", "http://localhost/a?language=de"] {
        assert_eq!(masked(address), address);
    }
}

#[test]
fn only_header_fields_that_are_known_to_be_harmless_are_shown() {
    let mut map = http::HeaderMap::new();
    for name in
        ["authorization", "cookie", "x-jwt-assertion", "x-custom", "accept-language", "sec-fetch-mode", "referer"]
    {
        map.insert(name, HeaderValue::from_static("/?token=7"));
    }
    let mut shown = fields(&map.into(), masked);
    shown.retain(|(_, value)| value != "***");
    shown.sort();
    let expected = [("accept-language", "/?token=7"), ("referer", "/?token=***"), ("sec-fetch-mode", "/?token=7")];
    assert_eq!(shown, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn causes_that_do_not_end_and_lines_that_are_not_there_are_no_problem() {
    #[derive(Debug)]
    struct Circle;
    impl std::fmt::Display for Circle {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("panicked at tests/unit/development.rs:18446744073709551615:1")
        }
    }
    impl std::error::Error for Circle {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(self)
        }
    }
    assert_eq!(Report::new(&Error::internal(Circle)).causes.len(), MOST_CAUSES);
}

#[test]
fn the_last_lines_of_a_request_are_shown() {
    let log = RequestLog::default().showing_lines();
    (0..=200).for_each(|number| log.show(format!("{number}\n").as_bytes()));
    let shown = log.shown();
    assert_eq!((shown.len(), &*shown[0], &*shown[199]), (200, "1", "200"));
}

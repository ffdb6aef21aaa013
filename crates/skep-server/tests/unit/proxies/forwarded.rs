//! Unit tests of `proxies::forwarded`.

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
    let pieces =
        ["for=", "\"", "\\", ",", ";", "[::1]", "10.0.0.1", ":80", "_x", "proto=https", "host=", "\u{e9}", " ", "="];
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

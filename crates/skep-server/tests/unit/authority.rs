//! Unit tests of `authority`.

use super::*;

#[test]
fn an_authority_is_a_host_and_perhaps_a_port() {
    for good in
        ["example.org", "a:80", "a:", "127.0.0.1:8800", "[::1]", "[::1]:80", "a_b", "xn--bcher-kva.example", "a%41"]
    {
        assert!(is_valid(good.as_bytes()), "{good}");
    }
    for bad in [
        "", ":80", "a@b", "a:b", "a:99999", "a:80:90", "[::1", "[x]", "[::1]x", "a b", "a/b", "::1", "a#", "\u{e9}",
        "a%zz", "a%4", "%",
    ] {
        assert!(!is_valid(bad.as_bytes()), "{bad}");
    }
    assert_eq!([host("a:80"), host("[::1]:80"), host("b")], ["a", "[::1]", "b"]);
}

#[test]
fn hosts_come_from_the_setting_or_the_base_url() {
    let base: BaseUrl = "https://example.org".parse().unwrap();
    let hosts = |setting: &[&str], base, development| {
        let setting: Vec<String> = setting.iter().map(|host| (*host).to_owned()).collect();
        Hosts::new(&setting, base, &["shop.example".to_owned()], development)
    };
    assert!(hosts(&[], None, false).allow("evil.example"));
    let of_base = hosts(&[], Some(&base), false);
    assert!(
        ["example.org:443", "EXAMPLE.org", "localhost:8800", "[::1]:8800", "shop.example"]
            .iter()
            .all(|host| of_base.allow(host))
    );
    assert!(!of_base.allow("evil.example") && !of_base.allow("www.example.org"));
    let here = hosts(&[], None, true);
    assert!(["localhost", "a.localhost:8800", "192.168.1.7:8800", "[fe80::1]"].iter().all(|host| here.allow(host)));
    assert!(!here.allow("evil.example") && !here.allow("localhost.evil.example"));
    let listed = hosts(&["*.Example.org", "b.example"], Some(&base), true);
    assert!(listed.allow("a.example.ORG") && listed.allow("b.example:1"));
    assert!(!listed.allow("example.org") && !listed.allow(".example.org") && !listed.allow("localhost"));
    assert!(hosts(&["*"], Some(&base), false).allow("x"));
}

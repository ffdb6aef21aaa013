//! Hosts that requests may go to.

use super::*;

fn reach(list: &[&str]) -> Reach {
    Reach::parse(&list.iter().map(|said| (*said).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn nothing_is_reached_that_is_not_named() {
    assert!(!reach(&[]).names("example.org", 443) && !reach(&["private"]).names("localhost", 80));
    let hosts = reach(&["api.example.org", "Other.example:8443", "*.example.net", "[::1]:9000", "::2", "10.0.0.7"]);
    for (host, port) in [
        ("API.example.org", 443),
        ("api.example.org", 1),
        ("OTHER.example", 8443),
        ("a.B.example.net", 80),
        ("[::1]", 9000),
        ("[::2]", 80),
        ("[0:0::2]", 80),
        ("10.0.0.7", 80),
        ("[::ffff:10.0.0.7]", 80),
    ] {
        assert!(hosts.names(host, port), "{host}:{port}");
    }
    for (host, port) in [
        ("other.example", 443),
        ("example.net", 80),
        ("[::1]", 80),
        ("10.0.0.8", 80),
        ("evil-api.example.org", 443),
        ("api.example.org.evil.example", 443),
        ("api.example.org@evil.example", 443),
        ("", 443),
    ] {
        assert!(!hosts.names(host, port), "{host}:{port}");
    }
}

#[test]
fn only_public_addresses_are_reached_and_those_that_are_written() {
    let inside =
        ["127.0.0.1:80", "10.1.2.3:443", "169.254.169.254:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[fd00::1]:1"];
    let admits = |reach: &Reach, to: &str| reach.admits(to.parse().unwrap());
    for list in [&["*"][..], &["localhost"], &["localhost:80", "db.internal"], &["*.internal"], &["127.0.0.1:81"]] {
        let reach = reach(list);
        assert!(admits(&reach, "8.8.8.8:443") && admits(&reach, "[2606:4700::1111]:443"), "{list:?}");
        assert!(inside.iter().all(|to| !admits(&reach, to)), "{list:?}");
    }
    for list in [&["*", "private"][..], &["db.internal", "PRIVATE"]] {
        assert!(inside.iter().all(|to| admits(&reach(list), to)), "{list:?}");
    }
    let written = reach(&["*", "127.0.0.1:80", "[fd00::1]"]);
    assert!(admits(&written, "127.0.0.1:80") && admits(&written, "[::ffff:127.0.0.1]:80"));
    assert!(admits(&written, "[fd00::1]:1") && !admits(&written, "127.0.0.1:22"), "with its port");
}

#[test]
fn a_name_is_judged_by_the_address_that_it_leads_to() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        for list in [&["*"][..], &["localhost"], &["2130706433", "127.1", "0x7f.1"]] {
            for host in ["localhost", "127.0.0.1", "2130706433", "127.1", "0x7f.1", "[::ffff:127.0.0.1]"] {
                let error = reach(list).connect(host, port).await.unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{list:?} {host}: {error}");
            }
        }
        for list in [vec!["localhost".to_owned(), "private".to_owned()], vec![format!("127.0.0.1:{port}")]] {
            assert!(Reach::parse(&list).unwrap().connect("localhost", port).await.is_ok(), "{list:?}");
        }
    });
}

#[test]
fn what_is_no_host_is_named() {
    for wrong in
        ["", "http://example.org", "example.org/path", "example.org:x", "example.org:70000", "a b", "ex*mple.org"]
    {
        let error = Reach::parse(&[wrong.to_owned()]).unwrap_err();
        assert!(error.contains("is not a host"), "{wrong}: {error}");
    }
}

#[test]
fn addresses_of_private_and_special_networks_are_not_public() {
    let special = [
        "127.0.0.1",
        "127.8.9.1",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "0.1.2.3",
        "100.64.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001::1",
        "2002:7f00:1::",
        "100::1",
    ];
    for address in special {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "192.0.1.1",
        "2606:4700::1111",
        "2a00:1450::1",
        "::ffff:1.1.1.1",
    ] {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
}

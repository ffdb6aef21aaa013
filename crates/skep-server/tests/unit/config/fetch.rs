//! Hosts that requests may go to.

use super::*;

fn hosts(list: &[&str]) -> FetchHosts {
    FetchHosts::parse(&list.iter().map(|said| (*said).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn nothing_is_allowed_that_is_not_named() {
    assert_eq!(hosts(&[]).reach("example.org", 443), Reach::Nowhere);
    let hosts = hosts(&["api.example.org", "Other.example:8443", "*.example.net", "[::1]:9000", "::2", "10.0.0.7"]);
    let reach = |host, port| hosts.reach(host, port);
    assert_eq!((reach("API.example.org", 443), reach("api.example.org", 1)), (Reach::AnyAddress, Reach::AnyAddress));
    assert_eq!((reach("other.example", 8443), reach("other.example", 443)), (Reach::AnyAddress, Reach::Nowhere));
    assert_eq!((reach("a.b.example.net", 80), reach("example.net", 80)), (Reach::PublicAddresses, Reach::Nowhere));
    assert_eq!(
        (reach("[::1]", 9000), reach("[::1]", 80), reach("[::2]", 80)),
        (Reach::AnyAddress, Reach::Nowhere, Reach::AnyAddress)
    );
    assert_eq!((reach("10.0.0.7", 80), reach("10.0.0.8", 80)), (Reach::AnyAddress, Reach::Nowhere));
    assert_eq!(reach("evil-api.example.org", 443), Reach::Nowhere);
}

#[test]
fn everything_means_the_public_internet_and_what_is_named_besides() {
    let hosts = hosts(&["*", "localhost:5000"]);
    assert_eq!(hosts.reach("anything.example", 1), Reach::PublicAddresses);
    assert_eq!(
        (hosts.reach("localhost", 5000), hosts.reach("localhost", 5001)),
        (Reach::AnyAddress, Reach::PublicAddresses)
    );
}

#[test]
fn what_is_no_host_is_named() {
    for wrong in
        ["", "http://example.org", "example.org/path", "example.org:x", "example.org:70000", "a b", "ex*mple.org"]
    {
        let error = FetchHosts::parse(&[wrong.to_owned()]).unwrap_err();
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

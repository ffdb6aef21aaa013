//! Tests of `memcached::address`.

use super::*;

#[test]
fn an_address_is_a_host_with_a_port_or_a_path() {
    let tcp = |text: &str| Ok(Address::Tcp(text.to_owned()));
    assert_eq!("cache1".parse(), tcp("cache1:11211"));
    assert_eq!("tcp://cache1:7".parse(), tcp("cache1:7"));
    assert_eq!("[::1]".parse(), tcp("[::1]:11211"));
    assert_eq!("[::1]:7".parse(), tcp("[::1]:7"));
    assert_eq!("unix:cache.sock".parse(), Ok(Address::Unix("cache.sock".into())));
    assert_eq!("/run/m.sock".parse(), Ok(Address::Unix("/run/m.sock".into())));
    for wrong in ["", "unix:", "cache1:", "cache1:0", "cache1:99999", "::1", "::1:7", "http://cache1:80", "a b:7", ":7"]
    {
        assert!(wrong.parse::<Address>().is_err(), "{wrong}");
    }
}

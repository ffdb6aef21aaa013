//! Tests of `proxies`.

use super::*;

fn peer(text: &str) -> Peer {
    Peer::new(text.parse().ok(), false)
}

#[test]
fn networks_addresses_and_unix_sockets_are_trusted() {
    let list = ["10.0.0.0/8", "192.0.2.7", "unix"].map(str::to_owned);
    let trusted = Trusted::parse(&list).unwrap();
    assert!(trusted.includes(peer("10.1.2.3:4")) && trusted.includes(peer("[::ffff:192.0.2.7]:4")));
    assert!(trusted.includes(Peer::new(None, false)) && !trusted.includes(peer("192.0.2.8:4")));
    assert!(!Trusted::default().includes(Peer::new(None, false)));
    let mapped = Trusted::parse(&["::ffff:10.0.0.0/104".to_owned(), "::ffff:192.0.2.7".to_owned()]).unwrap();
    assert!(mapped.includes(peer("10.1.2.3:4")) && mapped.includes(peer("[::ffff:192.0.2.7]:4")));
    assert!(!mapped.includes(peer("11.1.2.3:4")) && !mapped.includes(peer("[::1]:4")));
    assert!(Trusted::parse(&["10.0.0/8".to_owned()]).unwrap_err().contains("write 10.0.0.0/8"));
}

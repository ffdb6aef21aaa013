//! Unit tests of `worker::connection_limit`.

use std::net::IpAddr;

use super::*;

#[test]
fn an_address_has_its_share_and_others_theirs() {
    let limit = ConnectionLimit::new(5, &Limits { connections_per_address: 2, ..Limits::default() });
    let acquire =
        |address: &str| limit.acquire(Peer::new(Some((address.parse::<IpAddr>().unwrap(), 80).into()), false));
    let held = [acquire("192.0.2.1"), acquire("::ffff:192.0.2.1")];
    assert!(held.iter().all(Option::is_some) && acquire("192.0.2.1").is_none());
    let others = [acquire("2001:db8::1"), acquire("2001:db8::ffff:1")];
    assert!(others.iter().all(Option::is_some) && acquire("2001:db8::2").is_none(), "one /64");
    let another = acquire("2001:db8:0:1::1");
    assert!(another.is_some() && acquire("192.0.2.9").is_none(), "five in all");
    drop((held, others, another));
    assert!(limit.0.addresses().is_empty() && limit.0.open.load(Ordering::Relaxed) == 0);
}

#[test]
fn rejections_have_a_limit_of_their_own() {
    let limit = ConnectionLimit::new(1, &Limits::default());
    let held: Vec<_> = (0..MAX_REJECTIONS).map(|_| limit.acquire_rejection().unwrap()).collect();
    assert!(limit.acquire_rejection().is_none());
    drop(held);
    assert!(limit.acquire_rejection().is_some());
}

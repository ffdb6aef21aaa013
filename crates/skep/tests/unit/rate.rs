//! Unit tests of `rate`.

use super::*;

fn peer(address: &str) -> Peer {
    Peer::new(Some(std::net::SocketAddr::new(address.parse().unwrap(), 80)), false)
}

fn rate(limit: u32) -> (Rate, Clock) {
    let clock = Clock::manual();
    (Rate::new("test", limit, &Table::new(1 << 16, clock.clone()).unwrap()), clock)
}

#[test]
fn an_address_has_its_limit_back_after_a_minute() {
    let (rate, clock) = rate(3);
    let allows = |address| rate.allows(peer(address));
    assert!((0..3).all(|_| allows("192.0.2.1")) && !allows("192.0.2.1"));
    assert!(allows("192.0.2.2"), "another one");
    clock.advance(Duration::from_secs(20));
    assert!(allows("192.0.2.1") && !allows("192.0.2.1"), "a third of the time, a third of the limit");
    clock.advance(Duration::from_secs(80));
    assert!((0..3).all(|_| allows("192.0.2.1")) && !allows("192.0.2.1"), "no more than the limit");
    assert!((0..9).all(|_| rate.allows(Peer::default())), "no address");
    let none = Rate::new("none", 0, &rate.table);
    assert!((0..9).all(|_| none.allows(peer("192.0.2.1"))), "no limit");
}

#[test]
fn addresses_of_one_network_are_not_any_number_of_clients() {
    // How many of 1000 addresses are allowed once each, where one address is allowed twice.
    type Network = (&'static str, fn(u128) -> String, usize);
    let table: [Network; 6] = [
        ("one /24", |n| format!("192.0.2.{}", n % 256), 64),
        ("many /24", |n| format!("10.{}.{}.1", n / 256, n % 256), 1000),
        ("one /64", |n| format!("2001:db8::{n:x}"), 2),
        ("one /56", |n| format!("2001:db8:0:{:x}::1", n % 256), 8),
        ("one /48", |n| format!("2001:db8:0:{n:x}::1"), 8 * 1000 / 256 + 1),
        ("many /48", |n| format!("2001:db8:{n:x}::1"), 1000),
    ];
    for (name, address, allowed) in table {
        let (rate, _) = rate(2);
        let count = (0..1000).filter(|number| rate.allows(peer(&address(*number)))).count();
        assert!(count.abs_diff(allowed) <= 1, "{name}: {count}, expected {allowed}");
    }
    let (rate, _) = rate(2);
    let spread = (0..1000).filter(|number| rate.allows(peer(&format!("2001:db8:0:{:x}::1", number * 64)))).count();
    assert_eq!(spread, 64, "a /48 has 32 times the limit of one client");
    assert!(rate.allows(peer("2001:db8:1::1")), "and the next one its own");
    let mapped = [peer("::ffff:192.0.2.1"), peer("192.0.2.1")];
    assert_eq!(subnets(mapped[0]).collect::<Vec<_>>(), subnets(mapped[1]).collect::<Vec<_>>());
}

#[test]
fn what_is_refused_uses_up_nothing_of_its_neighbours() {
    let (rate, _) = rate(1);
    assert!(rate.allows(peer("192.0.2.1")));
    assert!((0..1000).all(|_| !rate.allows(peer("192.0.2.1"))));
    assert!((2..33).all(|number| rate.allows(peer(&format!("192.0.2.{number}")))), "a /24 has 32 times the limit");
}

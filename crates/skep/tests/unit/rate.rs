//! Unit tests of `rate`.

use super::*;

fn peer(address: &str) -> Peer {
    Peer::new(Some(format!("{address}:80").parse().unwrap()), false)
}

#[test]
fn an_address_has_its_limit_back_after_a_minute() {
    let (rate, now) = (Rate::new(3), Instant::now());
    let allows = |address, after| rate.allows_at(peer(address), now + Duration::from_secs(after));
    assert!((0..3).all(|_| allows("192.0.2.1", 0)) && !allows("192.0.2.1", 0));
    assert!(allows("192.0.2.2", 0), "another one");
    assert!(allows("192.0.2.1", 20) && !allows("192.0.2.1", 20), "a third of the time, a third of the limit");
    assert!((0..3).all(|_| allows("192.0.2.1", 100)) && !allows("192.0.2.1", 100), "no more than the limit");
    assert!((0..9).all(|_| rate.allows_at(Peer::default(), now)), "no address");
    assert!((0..9).all(|_| Rate::new(0).allows(peer("192.0.2.1"))), "no limit");
}

#[test]
fn not_any_number_of_clients_is_remembered() {
    let (rate, now) = (Rate::new(1), Instant::now());
    for number in 0..CLIENTS + 9 {
        let address = std::net::Ipv4Addr::from_bits(u32::try_from(number).unwrap());
        assert!(rate.allows_at(peer(&address.to_string()), now));
    }
    assert!(rate.clients.lock().unwrap().len() <= CLIENTS);
}

//! Unit tests of `memcached::ring`.

use super::*;

fn owners(servers: &[(&str, u32)]) -> Vec<String> {
    let ring = Ring::new(servers.iter().copied());
    let owner = |key: u32| ring.order(format!("key:{key}").as_bytes()).next().unwrap();
    (0..10_000).map(|key| servers[owner(key)].0.to_owned()).collect()
}

fn share(owners: &[String], name: &str) -> usize {
    owners.iter().filter(|owner| *owner == name).count()
}

#[test]
fn keys_are_spread_by_weight() {
    let owners = owners(&[("a:1", 1), ("b:1", 1), ("c:1", 2)]);
    for (name, wanted) in [("a:1", 2500), ("b:1", 2500), ("c:1", 5000)] {
        let share = share(&owners, name);
        assert!(share.abs_diff(wanted) < wanted / 5, "{name}: {share}");
    }
}

#[test]
fn removing_a_server_moves_only_its_own_keys() {
    let before = owners(&[("a:1", 1), ("b:1", 1), ("c:1", 1)]);
    let after = owners(&[("a:1", 1), ("b:1", 1)]);
    for (before, after) in before.iter().zip(&after).filter(|(before, _)| *before != "c:1") {
        assert_eq!(before, after);
    }
}

#[test]
fn the_order_of_the_list_does_not_matter() {
    assert_eq!(owners(&[("a:1", 1), ("b:1", 3)]), owners(&[("b:1", 3), ("a:1", 1)]));
}

/// Every process of every version must agree.
#[test]
fn the_hash_stays_what_it_is() {
    assert_eq!(hash(b""), 0xefd0_1f60_ba99_2926);
    assert_eq!(hash(b"post:1"), 0x476c_656c_a680_063c);
}

//! Consistent hashing: which server a key belongs to, as in ketama.
//!
//! Each server has points on a ring, in proportion to its weight; a key belongs to the next point. Adding or removing a server
//! moves only its share of the keys, and all processes with the same servers agree. Changing the hash makes every entry a
//! miss.

/// Points of a server of weight 1: the shares of equal servers differ by less than a fifth.
const POINTS: u32 = 160;

pub(super) struct Ring {
    /// Points and their servers, sorted.
    points: Vec<(u64, usize)>,
}

impl Ring {
    pub(super) fn new<'a>(servers: impl Iterator<Item = (&'a str, u32)>) -> Self {
        let mut points = Vec::new();
        for (index, (name, weight)) in servers.enumerate() {
            points.extend((0..POINTS * weight).map(|n| (hash(format!("{name}-{n}").as_bytes()), index)));
        }
        points.sort_unstable();
        Self { points }
    }

    /// The servers to try for a key, in order, with repetitions. The key belongs to the first.
    pub(super) fn order(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let wanted = hash(key);
        let first = self.points.partition_point(|(point, _)| *point < wanted);
        self.points[first..].iter().chain(&self.points[..first]).map(|(_, server)| *server)
    }
}

/// FNV-1a with the finalizer of `MurmurHash3`, which separates names that differ in the last letter.
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
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
}

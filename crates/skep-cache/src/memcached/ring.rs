//! Consistent hashing: which server a key belongs to, as in ketama.
//!
//! Each server has points on a ring, in proportion to its weight; a key belongs to the next point. Adding or removing a
//! server moves only its share of the keys, and all processes with the same servers agree. Changing the hash makes
//! every entry a miss.

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
#[path = "../../tests/unit/memcached/ring.rs"]
mod tests;

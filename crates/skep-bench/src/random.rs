//! Random numbers and orders. Good enough to shuffle and to draw with replacement, and for nothing else.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::number::{float, whole};

/// A xorshift generator (Marsaglia, 2003) whose output is multiplied: 64 bits.
///
/// ```
/// let mut random = skep_bench::random::Random::from_seed(1);
/// let mut order = random.order(5);
/// order.sort_unstable();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// ```
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Another order in each run. See [`Random`].
    #[must_use]
    pub fn from_clock() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_seed(now.as_secs() << 30 ^ u64::from(now.subsec_nanos()))
    }

    /// The same numbers in each run. See [`Random`].
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Seeds that are close begin with numbers that are close.
        for _ in 0..8 {
            random.number();
        }
        random
    }

    /// Any 64 bits. See [`Random`].
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Any number from 0 to 1, without 1. See [`Random`].
    pub fn unit(&mut self) -> f64 {
        float(self.number() >> 11) / float(1 << 53)
    }

    /// Any number below `count`, which is not zero. See [`Random`].
    pub fn below(&mut self, count: usize) -> usize {
        let drawn = whole((self.unit() * float(count as u64)).floor());
        usize::try_from(drawn).unwrap_or(0).min(count.saturating_sub(1))
    }

    /// The numbers below `count`, each once. See [`Random`].
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_about_as_often() {
        let mut random = Random::from_seed(7);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *seen.entry(random.order(3)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}

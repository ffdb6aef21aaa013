//! Random order, from the clock. Good enough to shuffle, and for nothing else.

use std::time::{SystemTime, UNIX_EPOCH};

/// A xorshift generator: 64 bits, never zero.
pub struct Random(u64);

impl Random {
    /// Another order in each run.
    #[must_use]
    pub fn from_clock() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(now.as_secs() << 30 | u64::from(now.subsec_nanos()) | 1)
    }

    /// The same numbers in each run, for data that two programs must agree on.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any number but zero.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The numbers below `count`, each once.
    ///
    /// # Panics
    /// Never: what is picked is below `count`.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let pick = self.number() % (last as u64 + 1);
            order.swap(last, usize::try_from(pick).expect("it is below `count`"));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_once_and_every_order_comes() {
        let mut random = Random::from_clock();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            seen.insert(random.order(3));
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|order| order.iter().sum::<usize>() == 3));
    }
}

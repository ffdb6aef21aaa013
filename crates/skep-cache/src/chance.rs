//! Chance for spreading things in time. Not for secrets.

use std::cell::Cell;
use std::hash::BuildHasher;

thread_local! {
    static STATE: Cell<u64> = Cell::new(crate::hash::hashing().hash_one(crate::process::id()) | 1);
}

/// A number from 0 (with) to 1 (without), by xorshift64* (Vigna, 2016).
pub(crate) fn draw() -> f64 {
    STATE.with(|state| {
        let mut x = state.get();
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        state.set(x);
        let bits = u32::try_from(x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32).expect("32 bits");
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_spread_evenly() {
        let drawn: Vec<f64> = (0..10_000).map(|_| super::draw()).collect();
        assert!(drawn.iter().all(|drawn| (0.0..1.0).contains(drawn)));
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        assert!((0.48..0.52).contains(&mean), "{mean}");
    }
}

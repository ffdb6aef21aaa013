//! Unpredictable numbers.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// A keyed hash and its last input.
    static SEEDS: (RandomState, Cell<u64>) = (RandomState::new(), Cell::new(0));
}

/// Two numbers that nobody can predict and that differ with each call.
pub(crate) fn seed() -> (u64, u64) {
    SEEDS.with(|(keyed, count)| {
        let next = count.get().wrapping_add(2);
        count.set(next);
        (keyed.hash_one(next), keyed.hash_one(next + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_seed_comes_twice() {
        let seeds: std::collections::HashSet<(u64, u64)> = (0..1000).map(|_| seed()).collect();
        assert_eq!(seeds.len(), 1000);
    }
}

//! How often keys were used lately, stored or not.
//!
//! A count-min sketch with counters of four bits (Einziger, Friedman, Manes: `TinyLFU`, 2017), all four of a key in one
//! word. It is written when something is stored or thrown out, never by a read: what is read is counted in its own
//! slot, and that count comes here when the record moves.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The counters; their number is a power of two, 16 in a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sketch<'a>(pub(crate) &'a [AtomicU64]);

impl Sketch<'_> {
    fn place(self, hash: u64) -> (usize, [u32; 4]) {
        let mixed = (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let at = (mixed >> 32) as usize & self.0.len().wrapping_sub(1);
        (at, [0, 1, 2, 3].map(|row| (row * 4 + (mixed >> (row * 2) & 3) as u32) * 4))
    }

    /// Counts up to 15 uses more; the smallest counters only, which keeps keys apart that share some.
    pub(crate) fn add(self, hash: u64, uses: u64) {
        let (at, shifts) = self.place(hash);
        let Some(word) = self.0.get(at) else { return };
        let mut counters = word.load(Relaxed);
        let goal = (least(counters, shifts) + uses).min(15);
        for shift in shifts {
            let counter = counters >> shift & 15;
            if counter < goal {
                counters += (goal - counter) << shift;
            }
        }
        word.store(counters, Relaxed);
    }

    /// How often, at most 15.
    pub(crate) fn uses(self, hash: u64) -> u64 {
        let (at, shifts) = self.place(hash);
        self.0.get(at).map_or(0, |word| least(word.load(Relaxed), shifts))
    }

    /// Halves the counters of one word, so that the past fades.
    pub(crate) fn age(self, at: usize) {
        if let Some(word) = self.0.get(at & self.0.len().wrapping_sub(1)) {
            word.store(word.load(Relaxed) >> 1 & 0x7777_7777_7777_7777, Relaxed);
        }
    }
}

fn least(counters: u64, shifts: [u32; 4]) -> u64 {
    shifts.into_iter().map(|shift| counters >> shift & 15).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_counted_up_to_fifteen_and_fade() {
        let words: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
        let sketch = Sketch(&words);
        let key = 0x1234_5678_9abc_def0;
        assert_eq!(sketch.uses(key), 0);
        (0..20).for_each(|_| sketch.add(key, 1));
        assert_eq!(sketch.uses(key), 15);
        (0..64).for_each(|at| sketch.age(at));
        assert_eq!(sketch.uses(key), 7);
        let others = (1..100_u64).filter(|key| sketch.uses(key << 20) > 0).count();
        assert!(others < 5, "{others} of 99 keys were never used, and one was");
    }
}

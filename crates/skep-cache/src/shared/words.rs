//! A piece of the mapping: words that others may change at any time.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Where a word is meant that the piece does not have. Nobody reads from it what matters.
static NOWHERE: AtomicU64 = AtomicU64::new(0);

/// Words of a shard. A number that was read from them may be anything, so no access panics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(pub(crate) &'a [AtomicU64]);

impl<'a> Words<'a> {
    pub(crate) fn at(&self, at: usize) -> &'a AtomicU64 {
        self.0.get(at).unwrap_or(&NOWHERE)
    }

    pub(crate) fn load(&self, at: usize) -> u64 {
        self.at(at).load(Relaxed)
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Option<&'a [AtomicU64]> {
        self.0.get(range)
    }

    /// Adds to a counter that only whoever holds the lock writes, or where a lost step harms nobody.
    pub(crate) fn count(&self, at: usize, by: u64) {
        let word = self.at(at);
        word.store(word.load(Relaxed).wrapping_add(by), Relaxed);
    }
}

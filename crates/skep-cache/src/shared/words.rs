//! Words that other processes may change at any time: a file in production; in tests plain memory, so that miri can
//! check every access.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Stands for a word outside the part.
static OUTSIDE: AtomicU64 = AtomicU64::new(0);

/// Words of a shard. A number read from them may be anything, so no access panics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(pub(crate) &'a [AtomicU64]);

impl<'a> Words<'a> {
    pub(crate) fn at(&self, at: usize) -> &'a AtomicU64 {
        self.0.get(at).unwrap_or(&OUTSIDE)
    }

    pub(crate) fn load(&self, at: usize) -> u64 {
        self.at(at).load(Relaxed)
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Option<&'a [AtomicU64]> {
        self.0.get(range)
    }

    /// Adds to a counter that only the lock holder writes, or where a lost step is harmless.
    pub(crate) fn count(&self, at: usize, by: u64) {
        let word = self.at(at);
        word.store(word.load(Relaxed).wrapping_add(by), Relaxed);
    }
}

/// The words of a map, and its users.
pub(crate) trait Backing: Send + Sync + 'static {
    /// All words. Others change them at any time.
    fn words(&self) -> &[AtomicU64];

    /// Our user number, 1 to 65535, unique among live users.
    fn me(&self) -> u64;

    fn lives(&self, user: u64) -> bool;

    /// Milliseconds on a clock that all users share.
    fn millis(&self) -> u64;
}

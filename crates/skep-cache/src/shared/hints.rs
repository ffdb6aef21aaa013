//! The last known locations of records, to prefetch a record before reading the index.
//!
//! Index and record are two cache misses, and the second depends on the first. Hints are small enough for the
//! processor's cache, so both are fetched at the same time. Only the index decides; a wrong hint costs the prefetch of
//! some unused lines.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::layout::{Geometry, LINE};
use super::sys;
use super::words::Words;

const WAYS: usize = 4;
/// The maximum number of hints of a map, 512 KiB: more do not fit in the processor's cache.
const MOST: usize = 128 << 10;
/// One of this many keys without a free hint replaces another. If each did, keys read in turn would evict each other.
const PUSHY: u32 = 16;
/// The maximum number of lines to prefetch; the processor prefetches the rest of longer records.
const MOST_LINES: usize = 5;
/// Where the number of lines begins, less one.
const LINES: u32 = 29;

thread_local! {
    /// The number of keys without a free hint.
    static TURN: Cell<u32> = const { Cell::new(0) };
}

/// The hints of one process, for one map.
#[derive(Debug)]
pub(crate) struct Hints {
    /// A power of two.
    sets: Box<[[AtomicU32; WAYS]]>,
    /// The bits of a hint that say in which line of the shard a record begins; those up to [`LINES`] are a tag.
    places: u32,
}

/// A hint, before the index is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint(usize);

impl Hint {
    /// None; also that a record begins in the shard's first line, which none does.
    pub(crate) const NONE: Self = Self(0);

    /// Whether it is right for the record at this word of the shard.
    #[inline]
    pub(crate) fn is_for(self, at: usize) -> bool {
        self.0 == at / LINE
    }
}

impl Hints {
    pub(crate) fn new(map: &Geometry) -> Self {
        let slots = map.index.len() * map.shards;
        let sets = (slots.min(MOST) / WAYS).next_power_of_two();
        let bits = (map.shard / LINE).ilog2() + 1;
        let none = |_| std::array::from_fn(|_| AtomicU32::new(0));
        Self { sets: (0..sets).map(none).collect(), places: !(!0 << bits.min(LINES)) }
    }

    /// Prefetches the likely record of this hash.
    #[inline]
    pub(crate) fn fetch(&self, words: Words<'_>, hash: u64) -> Hint {
        let tag = self.tag(hash);
        let right = |found, hint: &AtomicU32| {
            let hint = hint.load(Relaxed);
            if self.has_tag(hint, tag) { hint } else { found }
        };
        let hint = self.set(hash).iter().fold(0, right);
        let (line, more) = ((hint & self.places) as usize, (hint >> LINES) as usize);
        let record: Option<&[AtomicU64; MOST_LINES * LINE]> = words.0.get(line * LINE..).and_then(<[_]>::first_chunk);
        if let Some(record) = record {
            // No branch on the number of lines: a misprediction would wait for the hint.
            for number in 0..MOST_LINES {
                sys::prefetch(&record[number.min(more) * LINE]);
            }
        }
        Hint(line)
    }

    /// Notes the location and the size of the record of this hash.
    #[cold]
    pub(crate) fn note(&self, hash: u64, at: usize, size: usize) {
        let (set, tag) = (self.set(hash), self.tag(hash));
        let is_place = |place: &u32| *place & !self.places == 0;
        let Some(place) = u32::try_from(at / LINE).ok().filter(is_place) else { return };
        let more = ((at % LINE + size - 1) / LINE).min(MOST_LINES - 1) as u32;
        let hints = set.each_ref().map(|hint| hint.load(Relaxed));
        let own = hints.iter().position(|hint| *hint != 0 && self.has_tag(*hint, tag));
        let free = || hints.iter().position(|hint| *hint == 0);
        if let Some(way) = own.or_else(free).or_else(|| pushed(hash)) {
            set[way].store(more << LINES | tag | place, Relaxed);
        }
    }

    #[inline]
    fn set(&self, hash: u64) -> &[AtomicU32; WAYS] {
        static NONE: [AtomicU32; WAYS] = [const { AtomicU32::new(0) }; WAYS];
        self.sets.get(hash as usize & (self.sets.len() - 1)).unwrap_or(&NONE)
    }

    #[inline]
    fn has_tag(&self, hint: u32, tag: u32) -> bool {
        (hint ^ tag) & !self.places & !(!0 << LINES) == 0
    }

    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.places & !(!0 << LINES)
    }
}

/// The hint to replace, if it is time for that.
fn pushed(hash: u64) -> Option<usize> {
    let turn = TURN.get().wrapping_add(1);
    TURN.set(turn);
    turn.is_multiple_of(PUSHY).then_some((hash >> 20) as usize % WAYS)
}

#[cfg(test)]
#[path = "../../tests/unit/shared/hints.rs"]
mod tests;

//! One part of the file: an index and the records it points to. Here is how it is read.
//!
//! A read takes no lock. It finds a slot whose tag fits, copies the record, and looks at the slot again: a writer changes
//! the slot before it touches the record's words, so an unchanged slot means that the copy is whole (a seqlock with a
//! number for each key instead of one for all). The slot counts the laps of the ring, and how often the record was written in its place;
//! 4096 of them during one read could fool it, and then there is the sum. What looks damaged to a reader is looked at once more under the
//! shard's lock before it counts as damaged.
//!
//! How it is written: [`writer`](super::writer).

use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU64, fence};

use super::hash::Seeds;
use super::hints::{Hint, Hints};
use super::layout::{COUNTS, Geometry, LINE};
use super::record::{self, Copied, Head, Kind};
use super::ring::Damaged;
use super::slot::Slot;
use super::sys;
use super::words::Words;

/// Where a line is meant that the shard does not have: nobody writes there.
static NO_LINE: [AtomicU64; LINE] = [const { AtomicU64::new(0) }; LINE];

/// How often a read begins anew because its key was written meanwhile, before it waits for the writer.
const ATTEMPTS: u32 = 1000;

/// What is counted in each shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Entries that went for want of room.
    Evicted = 0,
    /// Locks of the dead and of those who stood still.
    Inherited = 1,
    /// Times the shard was emptied because it made no sense.
    Reset = 2,
    /// Records that were not what had been written.
    Damaged = 3,
}

/// A shard, for one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shard<'a> {
    pub(crate) words: Words<'a>,
    pub(crate) map: &'a Geometry,
    pub(crate) seeds: Seeds,
    pub(crate) hints: &'a Hints,
}

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The value is in the buffer.
    Hit,
    /// Nothing.
    Miss,
    /// Something that nobody wrote so, or that is written all the time: to be looked at again under the lock.
    Doubtful,
}

/// What one attempt found.
enum Look {
    Found(Found),
    Changed,
    /// The record that this slot points to is not what was written.
    Damaged(usize, Slot),
}

impl<'a> Shard<'a> {
    /// Copies the value of a key into the buffer.
    #[inline]
    pub(crate) fn get(&self, hash: u64, key: &[u8], now: u64, out: &mut Vec<u8>) -> Found {
        let hint = self.fetch(hash);
        for _ in 0..ATTEMPTS {
            match self.look(hash, key, now, hint, out) {
                Look::Found(found) => return found,
                Look::Damaged(..) => return Found::Doubtful,
                Look::Changed => std::hint::spin_loop(),
            }
        }
        Found::Doubtful
    }

    /// The same under the lock, when nobody writes: whether there is one, or an error if it is damaged.
    #[cold]
    pub(crate) fn get_alone(&self, hash: u64, key: &[u8], now: u64, out: &mut Vec<u8>) -> Result<bool, Damaged> {
        self.free_busy(self.places(hash));
        match self.look(hash, key, now, Hint::NONE, out) {
            Look::Found(found) => Ok(found == Found::Hit),
            // Only readers change slots now, and they only count.
            Look::Changed => Ok(false),
            Look::Damaged(at, slot) => {
                // It is not found again.
                let _ = self.words.at(at).compare_exchange(slot.0, Slot::EMPTY.0, Relaxed, Relaxed);
                self.count(Count::Damaged);
                Err(Damaged)
            }
        }
    }

    /// Empties slots whose writer is no more. The lock is held, and not by a writer.
    #[cold]
    pub(crate) fn free_busy(&self, places: impl Iterator<Item = usize>) {
        for at in places {
            if self.slot(at).is_busy() {
                self.words.at(at).store(Slot::EMPTY.0, Relaxed);
            }
        }
    }

    #[inline]
    fn look(&self, hash: u64, key: &[u8], now: u64, hint: Hint, out: &mut Vec<u8>) -> Look {
        let home = self.home(hash);
        for start in [home, home ^ LINE].map(|at| self.map.index.start + at) {
            let line = self.line(start);
            // All eight are compared before one is chosen: a branch for each would be guessed wrong, and the processor would have to wait
            // for this line before it could begin with what the caller does next.
            let fits = |mask, slot: &AtomicU64| mask << 1 | u32::from(Slot(slot.load(Relaxed)).fits(hash));
            let mut mask = line.iter().rev().fold(0_u32, fits);
            while mask != 0 {
                let at = mask.trailing_zeros() as usize % LINE;
                mask &= mask - 1;
                let slot = Slot(line[at].load(Acquire));
                if slot.is_busy() || !slot.fits(hash) {
                    return Look::Changed;
                }
                let found = self.read(slot, hash, key, now, out);
                fence(Acquire);
                let is_same = Slot(line[at].load(Relaxed)).same(slot);
                match found {
                    _ if !is_same => return Look::Changed,
                    None => {}
                    Some(Copied::Whole) => {
                        use_once(&line[at], slot);
                        if !hint.is_for(slot.at()) {
                            self.hints.note(hash, slot.at(), record::size(key.len(), out.len()));
                        }
                        return Look::Found(Found::Hit);
                    }
                    Some(Copied::OtherKey) => return Look::Found(Found::Miss),
                    Some(Copied::Damaged) => return Look::Damaged(start + at, slot),
                }
            }
        }
        Look::Found(Found::Miss)
    }

    /// What lies where a slot points to: whole, of no use to anybody (`OtherKey`), damaged; `None` if it is another key's.
    #[inline]
    fn read(&self, slot: Slot, hash: u64, key: &[u8], now: u64, out: &mut Vec<u8>) -> Option<Copied> {
        let Some((words, head)) = self.record(slot) else { return Some(Copied::Damaged) };
        if head.hash != hash {
            // Most likely another key with the same tag; a hash that was damaged is found when the place is filled anew.
            return None;
        }
        if head.value > self.map.largest {
            return Some(Copied::Damaged);
        }
        match record::read(words, &head, key, self.seeds, out) {
            Copied::OtherKey => None,
            Copied::Whole if head.is_grave() || head.expires <= now => Some(Copied::OtherKey),
            other => Some(other),
        }
    }

    /// The record that a slot points to, with all words up to the end of the shard.
    #[inline]
    pub(crate) fn record(&self, slot: Slot) -> Option<(&'a [AtomicU64], Head)> {
        let words = self.words.part(slot.at()..self.map.main.end)?;
        let head = Head::load(words)?;
        (head.kind == Kind::Entry && slot.at() >= self.map.small.start).then_some((words, head))
    }

    /// Fetches the likely line of the index, and what is likely to be the record.
    #[inline]
    pub(crate) fn fetch(&self, hash: u64) -> Hint {
        sys::prefetch(&self.line(self.map.index.start + self.home(hash))[0]);
        self.hints.fetch(self.words, hash)
    }

    /// The line of the index that begins at this word of the shard.
    #[inline]
    fn line(&self, start: usize) -> &'a [AtomicU64; LINE] {
        self.words.0.get(start..).and_then(<[_]>::first_chunk).unwrap_or(&NO_LINE)
    }

    /// The words of the index where a key may be, in two lines, the likely one first. They are neighbours, so that the processor's
    /// prefetcher has the second at hand.
    pub(crate) fn places(&self, hash: u64) -> impl Iterator<Item = usize> {
        let home = self.home(hash);
        [home, home ^ LINE].into_iter().flat_map(move |at| (at..at + LINE).map(move |at| self.map.index.start + at))
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        let lines = (self.map.index.len() / LINE) as u64;
        (((hash & 0xffff_ffff) * lines) >> 32) as usize * LINE
    }

    pub(crate) fn slot(&self, at: usize) -> Slot {
        Slot(self.words.at(at).load(Relaxed))
    }

    pub(crate) fn part(&self, range: &Range<usize>) -> &'a [AtomicU64] {
        self.words.part(range.clone()).unwrap_or_default()
    }

    pub(crate) fn count(&self, what: Count) {
        self.words.at(COUNTS + what as usize).fetch_add(1, Relaxed);
    }

    pub(crate) fn counted(&self, what: Count) -> u64 {
        self.words.load(COUNTS + what as usize)
    }
}

/// Counts a use, up to three: a key that is read often is not written by its readers.
#[inline]
fn use_once(word: &AtomicU64, slot: Slot) {
    if let Some(used) = slot.used() {
        let _ = word.compare_exchange(slot.0, used.0, Relaxed, Relaxed);
    }
}

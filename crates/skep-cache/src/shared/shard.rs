//! Reading a shard: an index and the records it points to.
//!
//! A read takes no lock. It finds a slot whose tag matches, copies the record, and reads the slot again: a writer
//! changes the slot before the record, so an unchanged slot means that the copy is complete (a seqlock for each key).
//! The slot counts laps of the ring and overwrites; if 4096 of them happen during one read, the checksum detects it. A
//! record that seems damaged is read again under the shard's lock before it counts as damaged.
//!
//! Writing: [`writer`](super::writer).

use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU64, fence};

use super::hash::Seeds;
use super::hints::{Hint, Hints};
use super::layout::{COUNTS, Geometry, LINE};
use super::record::{self, CopyResult, Head, Kind};
use super::ring::Fault;
use super::slot::Slot;
use super::sys;
use super::words::Words;

/// Stands for a line outside the shard.
static NO_LINE: [AtomicU64; LINE] = [const { AtomicU64::new(0) }; LINE];

/// Attempts to read a key that is being written, before waiting for the writer.
const ATTEMPTS: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Evicted = 0,
    /// Locks of dead or hanging processes.
    Inherited = 1,
    Reset = 2,
    Damaged = 3,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shard<'a> {
    pub(crate) words: Words<'a>,
    pub(crate) map: &'a Geometry,
    pub(crate) seeds: Seeds,
    pub(crate) hints: &'a Hints,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The value is in the buffer.
    Hit,
    Miss,
    /// Possibly damaged, or being written all the time: read it again under the lock.
    Unclear,
}

enum Attempt {
    Found(Found),
    Changed,
    /// The record of this slot is damaged.
    Damaged(usize, Slot),
}

impl<'a> Shard<'a> {
    #[inline]
    pub(crate) fn get(&self, hash: u64, key: &[u8], now: u64, out: &mut Vec<u8>) -> Found {
        let hint = self.fetch(hash);
        for _ in 0..ATTEMPTS {
            match self.look(hash, key, now, hint, out) {
                Attempt::Found(found) => return found,
                Attempt::Damaged(..) => return Found::Unclear,
                Attempt::Changed => std::hint::spin_loop(),
            }
        }
        Found::Unclear
    }

    /// As [`get`](Self::get) under the lock: whether there is an entry, or an error if it is damaged.
    #[cold]
    pub(crate) fn get_alone(&self, hash: u64, key: &[u8], now: u64, out: &mut Vec<u8>) -> Result<bool, Fault> {
        self.free_busy(self.places(hash));
        match self.look(hash, key, now, Hint::NONE, out) {
            Attempt::Found(found) => Ok(found == Found::Hit),
            // Under the lock, slots change by the counts of readers only.
            Attempt::Changed => Ok(false),
            Attempt::Damaged(at, slot) => {
                let _ = self.words.at(at).compare_exchange(slot.0, Slot::EMPTY.0, Relaxed, Relaxed);
                self.count(Count::Damaged);
                Err(Fault::Damaged)
            }
        }
    }

    /// Empties slots whose writer died. Requires the lock.
    #[cold]
    pub(crate) fn free_busy(&self, places: impl Iterator<Item = usize>) {
        for at in places {
            if self.slot(at).is_busy() {
                self.words.at(at).store(Slot::EMPTY.0, Relaxed);
            }
        }
    }

    #[inline]
    fn look(&self, hash: u64, key: &[u8], now: u64, hint: Hint, out: &mut Vec<u8>) -> Attempt {
        let home = self.home(hash);
        for start in [home, home ^ LINE].map(|at| self.map.index.start + at) {
            let line = self.line(start);
            // Compare all eight without branches: mispredictions would stall on this line.
            let fits = |mask, slot: &AtomicU64| mask << 1 | u32::from(Slot(slot.load(Relaxed)).fits(hash));
            let mut mask = line.iter().rev().fold(0_u32, fits);
            while mask != 0 {
                let at = mask.trailing_zeros() as usize % LINE;
                mask &= mask - 1;
                let slot = Slot(line[at].load(Acquire));
                if slot.is_busy() || !slot.fits(hash) {
                    return Attempt::Changed;
                }
                let found = self.read(slot, hash, key, now, out);
                fence(Acquire);
                let is_same = Slot(line[at].load(Relaxed)).same(slot);
                match found {
                    _ if !is_same => return Attempt::Changed,
                    None => {}
                    Some(CopyResult::Whole) => {
                        use_once(&line[at], slot);
                        if !hint.is_for(slot.at()) {
                            self.hints.note(hash, slot.at(), record::size(key.len(), out.len()));
                        }
                        return Attempt::Found(Found::Hit);
                    }
                    Some(CopyResult::OtherKey) => return Attempt::Found(Found::Miss),
                    Some(CopyResult::Damaged) => return Attempt::Damaged(start + at, slot),
                }
            }
        }
        Attempt::Found(Found::Miss)
    }

    /// Reads the record of a slot: complete, dead (`OtherKey`) or damaged; `None` if it has another key.
    #[inline]
    fn read(&self, slot: Slot, hash: u64, key: &[u8], now: u64, out: &mut Vec<u8>) -> Option<CopyResult> {
        let Some((words, head)) = self.record(slot) else { return Some(CopyResult::Damaged) };
        if head.hash != hash {
            // Most likely another key with the same tag; a damaged hash is noticed when the ring overwrites it.
            return None;
        }
        if head.value > self.map.max_value {
            return Some(CopyResult::Damaged);
        }
        match record::read(words, &head, key, self.seeds, out) {
            CopyResult::OtherKey => None,
            CopyResult::Whole if head.is_tombstone() || head.expires <= now => Some(CopyResult::OtherKey),
            other => Some(other),
        }
    }

    /// The record of a slot, with all words up to the end of the shard.
    #[inline]
    pub(crate) fn record(&self, slot: Slot) -> Option<(&'a [AtomicU64], Head)> {
        let words = self.words.part(slot.at()..self.map.main.end)?;
        let head = Head::load(words)?;
        (head.kind == Kind::Entry && slot.at() >= self.map.small.start).then_some((words, head))
    }

    /// Prefetches the likely line of the index, and the likely record.
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

    /// The words of the index for a key, in two adjacent lines, so that the processor prefetches the second.
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

/// Counts a use, up to three: readers of a hot key do not write.
#[inline]
fn use_once(word: &AtomicU64, slot: Slot) {
    if let Some(used) = slot.used() {
        let _ = word.compare_exchange(slot.0, used.0, Relaxed, Relaxed);
    }
}

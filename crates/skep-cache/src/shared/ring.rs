//! A ring buffer of records, part of a shard.
//!
//! Head and tail only grow; the remainder is the position, the quotient the lap. A record never wraps: if it does not
//! fit before the end, a filler takes the rest and it begins at the start.

use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::record::{self, Head, Kind};
use super::words::Words;

/// Why a write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another writer held the lock until the timeout, or took it.
    Busy,
    /// The shard is damaged and must be reset.
    Damaged,
}

/// A ring as it was loaded. Changing it requires the shard's lock.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    range: Range<usize>,
    /// The word of the head; the tail is in the next.
    at: usize,
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

impl Ring {
    pub(crate) fn load(words: &Words<'_>, range: &Range<usize>, at: usize) -> Result<Self, Fault> {
        let [head, tail] = [words.load(at), words.load(at + 1)];
        let is_sound = tail <= head && head - tail <= range.len() as u64 && head % 2 == 0 && tail % 2 == 0;
        let ring = Self { range: range.clone(), at, head, tail };
        if is_sound && head < u64::MAX / 2 { Ok(ring) } else { Err(Fault::Damaged) }
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    pub(crate) fn word(&self, position: u64) -> usize {
        self.range.start + (position % self.range.len() as u64) as usize
    }

    pub(crate) fn lap(&self, position: u64) -> u64 {
        position / self.range.len() as u64
    }

    /// Words before the end of the ring that a record of this size cannot use.
    fn gap(&self, size: usize) -> usize {
        let left = self.range.end - self.word(self.head);
        if left < size { left } else { 0 }
    }

    /// Whether a record of this size fits without eviction, with `reserve` words left.
    pub(crate) fn fits(&self, size: usize, reserve: usize) -> bool {
        let free = self.range.len() - (self.head - self.tail) as usize;
        self.gap(size) + size + reserve <= free
    }

    /// The position to write a record that fits. The head stays, so no reader sees it yet.
    pub(crate) fn begin(&mut self, words: &Words<'_>, size: usize) -> u64 {
        let gap = self.gap(size);
        if gap > 0 {
            let at = self.word(self.head);
            words.part(at..at + gap).into_iter().for_each(record::pad);
            self.advance_head(words, gap);
        }
        self.head
    }

    /// Adds the record written at the head to the ring.
    pub(crate) fn advance_head(&mut self, words: &Words<'_>, size: usize) {
        self.head += size as u64;
        words.at(self.at).store(self.head, Release);
    }

    /// The oldest record, or `None` if the ring is empty. Skips fillers.
    pub(crate) fn oldest(&mut self, words: &Words<'_>) -> Result<Option<Head>, Fault> {
        while self.tail < self.head {
            let head = self.record(words)?;
            if head.kind != Kind::Pad {
                return Ok(Some(head));
            }
            self.advance_tail(words, head.words());
        }
        Ok(None)
    }

    /// Checks that records are contiguous from tail to head.
    pub(crate) fn walk(&mut self, words: &Words<'_>) -> Result<(), Fault> {
        while self.tail < self.head {
            self.tail += self.record(words)?.words() as u64;
        }
        Ok(())
    }

    /// The oldest record, also if it is a filler.
    fn record(&self, words: &Words<'_>) -> Result<Head, Fault> {
        let at = self.word(self.tail);
        let left = words.part(at..self.range.end).ok_or(Fault::Damaged)?;
        // A gap shorter than a header is a filler without a header.
        let head = if left.len() < record::HEADER { Some(Head::filler(left.len())) } else { Head::load(left) };
        let head = head.ok_or(Fault::Damaged)?;
        let size = head.words();
        let most = (self.head - self.tail).min((self.range.end - at) as u64);
        if size == 0 || size % 2 == 1 || size as u64 > most { Err(Fault::Damaged) } else { Ok(head) }
    }

    /// Drops the oldest record, to which no slot points any more.
    pub(crate) fn advance_tail(&mut self, words: &Words<'_>, size: usize) {
        self.tail += size as u64;
        words.at(self.at + 1).store(self.tail, Release);
    }

    /// Empties the ring and skips some laps, so that no old slot matches.
    pub(crate) fn reset(words: &Words<'_>, range: &Range<usize>, at: usize, laps: u64) {
        let start = (laps & 0xffff_ffff) * 7 * range.len() as u64;
        words.at(at + 1).store(start, Relaxed);
        words.at(at).store(start, Release);
    }
}

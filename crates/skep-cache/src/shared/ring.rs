//! A part of a shard that is filled round and round.
//!
//! Head and tail only ever grow; the remainder says where they are, the quotient how often the ring came round. A record never
//! wraps: what does not fit before the end begins at the start, and a filler says so.

use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::record::{self, Head, Kind};
use super::words::Words;

/// A shard says something that cannot be; it has to be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// A ring as it was when it was loaded; whoever changes it holds the shard's lock.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    range: Range<usize>,
    /// The word that holds the head; the tail stands in the next.
    at: usize,
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

impl Ring {
    /// Loads and checks.
    pub(crate) fn load(words: &Words<'_>, range: &Range<usize>, at: usize) -> Result<Self, Damaged> {
        let [head, tail] = [words.load(at), words.load(at + 1)];
        let is_sound = tail <= head && head - tail <= range.len() as u64 && head % 2 == 0 && tail % 2 == 0;
        let ring = Self { range: range.clone(), at, head, tail };
        if is_sound && head < u64::MAX / 2 { Ok(ring) } else { Err(Damaged) }
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    /// The word of the shard at a position.
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

    /// Whether a record of this size fits without anything going, and so many words stay free.
    pub(crate) fn fits(&self, size: usize, reserve: usize) -> bool {
        let free = self.range.len() - (self.head - self.tail) as usize;
        self.gap(size) + size + reserve <= free
    }

    /// Where a record of this size is to be written; it fits. The head stays, so that nobody else sees the place.
    pub(crate) fn begin(&mut self, words: &Words<'_>, size: usize) -> u64 {
        let gap = self.gap(size);
        if gap > 0 {
            let at = self.word(self.head);
            words.part(at..at + gap).into_iter().for_each(record::pad);
            self.advance_head(words, gap);
        }
        self.head
    }

    /// The record that was written at the head belongs to the ring from now on.
    pub(crate) fn advance_head(&mut self, words: &Words<'_>, size: usize) {
        self.head += size as u64;
        words.at(self.at).store(self.head, Release);
    }

    /// The oldest record, or `None` if the ring is empty. Fillers are stepped over.
    pub(crate) fn oldest(&mut self, words: &Words<'_>) -> Result<Option<Head>, Damaged> {
        while self.tail < self.head {
            let head = self.record(words)?;
            if head.kind != Kind::Pad {
                return Ok(Some(head));
            }
            self.advance_tail(words, head.words());
        }
        Ok(None)
    }

    /// Looks whether one record follows the other from tail to head.
    pub(crate) fn walk(&mut self, words: &Words<'_>) -> Result<(), Damaged> {
        while self.tail < self.head {
            self.tail += self.record(words)?.words() as u64;
        }
        Ok(())
    }

    /// The oldest record, also if it is a filler.
    fn record(&self, words: &Words<'_>) -> Result<Head, Damaged> {
        let at = self.word(self.tail);
        let left = words.part(at..self.range.end).ok_or(Damaged)?;
        // What is too short for a header is always filled up, and has no room to say so.
        let head = if left.len() < record::HEADER { Some(Head::filler(left.len())) } else { Head::load(left) };
        let head = head.ok_or(Damaged)?;
        let size = head.words();
        let most = (self.head - self.tail).min((self.range.end - at) as u64);
        if size == 0 || size % 2 == 1 || size as u64 > most { Err(Damaged) } else { Ok(head) }
    }

    /// The oldest record is gone: no slot points to it any more.
    pub(crate) fn advance_tail(&mut self, words: &Words<'_>, size: usize) {
        self.tail += size as u64;
        words.at(self.at + 1).store(self.tail, Release);
    }

    /// Empties the ring, some laps on, so that no old slot looks like a new one.
    pub(crate) fn reset(words: &Words<'_>, range: &Range<usize>, at: usize, laps: u64) {
        let start = (laps & 0xffff_ffff) * 7 * range.len() as u64;
        words.at(at + 1).store(start, Relaxed);
        words.at(at).store(start, Release);
    }
}

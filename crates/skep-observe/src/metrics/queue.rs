//! A queue in the memory of metrics, to the process that exports.
//!
//! All threads of all workers add to it without waiting. One process takes from it, and what it took leaves the queue
//! when the receiver has it, so that a process that dies loses nothing. A place is written to again only after that.

use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "otlp")]
use super::Metrics;
#[cfg(any(test, feature = "otlp"))]
use crate::sys::shared_words::load_bytes;
use crate::sys::shared_words::store_bytes;

/// Which queue.
#[cfg(feature = "otlp")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueKind {
    Spans,
    LogRecords,
}

#[cfg(feature = "otlp")]
impl QueueKind {
    /// How the log calls what is in it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spans => "spans",
            Self::LogRecords => "log records",
        }
    }
}

/// A view of a queue. Its numbers: how many texts were put into it, how many were taken, how many are lost, and how
/// many there is room for.
pub(crate) struct Queue<'m> {
    pub(super) numbers: &'m [AtomicU64],
    pub(super) places: &'m [AtomicU64],
    /// The words of a place: its sequence number, the length of its text, and the text.
    pub(super) each: usize,
}

const HEAD: usize = 0;
const TAIL: usize = 1;
const DROPPED: usize = 2;
pub(super) const CAPACITY: usize = 3;
/// The words of its numbers.
pub(super) const NUMBERS: usize = 4;

/// The words of a place that are no text.
const PREFIX: usize = 2;

impl Queue<'_> {
    /// Puts a text into it. False if there is no room for it, now or ever.
    pub(crate) fn push(&self, text: &[u8]) -> bool {
        if text.is_empty() || text.len() > (self.each - PREFIX) * 8 {
            return false;
        }
        let capacity = self.capacity();
        let has_room = |head: u64| {
            let waiting = head.saturating_sub(self.numbers[TAIL].load(Ordering::Acquire));
            (waiting < capacity).then_some(head + 1)
        };
        let taken = self.numbers[HEAD].fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room);
        let Ok(number) = taken else { return false };
        let place = self.place(number);
        place[1].store(text.len() as u64, Ordering::Relaxed);
        store_bytes(&place[PREFIX..], text);
        place[0].store(number + 1, Ordering::Release);
        true
    }

    /// Counts texts that nobody will get.
    pub(crate) fn drop(&self, number: u64) {
        self.numbers[DROPPED].fetch_add(number, Ordering::Relaxed);
    }

    /// How many texts were put into it, and how many were dropped.
    pub(crate) fn counts(&self) -> [u64; 2] {
        [HEAD, DROPPED].map(|at| self.numbers[at].load(Ordering::Relaxed))
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.numbers[CAPACITY].load(Ordering::Relaxed).min((self.places.len() / self.each) as u64)
    }

    /// The place of a text by its number; there must be room for some.
    fn place(&self, number: u64) -> &[AtomicU64] {
        let at = usize::try_from(number % self.capacity()).unwrap_or(0) * self.each;
        &self.places[at..at + self.each]
    }
}

/// For the exporter.
#[cfg(any(test, feature = "otlp"))]
impl Queue<'_> {
    /// The next texts, at most this number, and what [`finish`](Self::finish) is to be called with. One that is lost is
    /// `None`.
    ///
    /// A text that is being written ends them, unless it is the abandoned one, whose writer was killed.
    pub(crate) fn next(&self, most: usize, abandoned: Option<u64>) -> (Vec<Option<Vec<u8>>>, u64) {
        let (mut texts, mut next) = (Vec::new(), self.numbers[TAIL].load(Ordering::Acquire));
        let head = self.numbers[HEAD].load(Ordering::Acquire);
        while next < head && texts.len() < most {
            let place = self.place(next);
            let is_written = place[0].load(Ordering::Acquire) == next + 1;
            if !is_written && abandoned != Some(next) {
                break;
            }
            let length = usize::try_from(place[1].load(Ordering::Relaxed)).unwrap_or(usize::MAX);
            texts.push(load_bytes(&place[PREFIX..], length).filter(|_| is_written));
            next += 1;
        }
        (texts, next)
    }

    /// Frees the places of what was taken.
    pub(crate) fn finish(&self, next: u64) {
        self.numbers[TAIL].fetch_max(next, Ordering::Release);
    }

    /// What a thread does that is killed while it puts a text into it.
    #[cfg(test)]
    pub(super) fn leave_unfinished(&self) {
        self.numbers[HEAD].fetch_add(1, Ordering::Relaxed);
    }

    /// True if there is something in it, complete or not.
    pub(crate) fn has_some(&self) -> bool {
        self.numbers[TAIL].load(Ordering::Relaxed) < self.numbers[HEAD].load(Ordering::Relaxed)
    }
}

#[cfg(feature = "otlp")]
impl Metrics {
    pub(crate) fn queue(&self, kind: QueueKind) -> Queue<'_> {
        match kind {
            QueueKind::Spans => self.spans(),
            QueueKind::LogRecords => self.log_records(),
        }
    }
}

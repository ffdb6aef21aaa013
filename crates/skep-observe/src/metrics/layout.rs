//! Where which number is.
//!
//! A header; names and routes of services, and texts of statements; the last errors and slow requests; a block for each
//! thread, with counters, and for each service and outcome a histogram; then the queues of spans and of log records,
//! whose lengths are settings.

use std::sync::atomic::{AtomicU64, Ordering};

use super::histogram::BUCKETS;
use super::queue::{self, Queue};
use super::{Metrics, Queues};
use crate::sys::shared_words::{load_bytes, store_bytes};

/// Changes with the layout.
pub(super) const VERSION: u64 = 0x736b_6570_6d65_0003;

/// Threads or processes that count in places of their own; further ones share them.
pub(super) const BLOCKS: usize = 64;
/// Services that have a name; further ones count as none.
pub(super) const SERVICES: usize = 256;
/// SQL statements that are counted one by one.
pub(super) const STATEMENTS: usize = 128;
/// Errors, and slow requests, that are remembered.
pub(super) const RECORDS: usize = 64;

pub(super) const MAGIC: usize = 0;
pub(super) const CREATED: usize = 1;
/// How many records were written to each ring.
pub(super) const HEADS: [usize; 2] = [2, 3];
/// The numbers of the queues.
const SPANS: usize = 4;
const LOG_RECORDS: usize = SPANS + queue::NUMBERS;
const HEADER: usize = LOG_RECORDS + queue::NUMBERS;

/// A text: its state and length, and bytes.
const NAME_WORDS: usize = 16;
const STATEMENT_WORDS: usize = 52;
const NAMES_AT: usize = HEADER;
const STATEMENTS_AT: usize = NAMES_AT + SERVICES * NAME_WORDS;

const ROUTES_AT: usize = STATEMENTS_AT + STATEMENTS * STATEMENT_WORDS;

/// A record: its sequence number, and bytes.
pub(super) const RECORD_WORDS: usize = 192;
const RINGS_AT: usize = ROUTES_AT + SERVICES * NAME_WORDS;

/// A cache line, in words.
const LINE: usize = 8;
const BLOCKS_AT: usize = (RINGS_AT + 2 * RECORDS * RECORD_WORDS).next_multiple_of(LINE);

/// How a request ended, as far as metrics tell.
pub(crate) const OUTCOMES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "closed"];

/// A series: buckets, the sum in nanoseconds, and an example.
pub(super) const SUM: usize = BUCKETS;
pub(super) const EXAMPLE_ID: usize = BUCKETS + 1;
pub(super) const EXAMPLE_TIME: usize = BUCKETS + 2;
pub(super) const EXAMPLE_AT: usize = BUCKETS + 3;
const SERIES: usize = (BUCKETS + 4).next_multiple_of(LINE);

/// A statement in a block: runs, their time and the longest one, in nanoseconds.
pub(super) const STATEMENT_NUMBERS: usize = 3;

const USED: usize = 0;
const COUNTERS_AT: usize = LINE;
const STATEMENT_COUNTS_AT: usize = COUNTERS_AT + Counter::ROOM;
const ACTIVITY_AT: usize = STATEMENT_COUNTS_AT + STATEMENTS * STATEMENT_NUMBERS;
const ACTIVITY_WORDS: usize = 24;
const SERIES_AT: usize = (ACTIVITY_AT + ACTIVITY_WORDS).next_multiple_of(LINE);
const BLOCK: usize = SERIES_AT + SERVICES * OUTCOMES.len() * SERIES;

/// Without the queues.
pub(super) const WORDS: usize = BLOCKS_AT + BLOCKS * BLOCK;

/// A place of the queue of spans, and of log records.
const SPAN_WORDS: usize = 128;
const LOG_RECORD_WORDS: usize = crate::log::LONGEST_RECORD.div_ceil(8) + 2;

/// All of it, with queues of these lengths.
pub(super) fn words(spans: usize, log_records: usize) -> usize {
    WORDS + spans * SPAN_WORDS + log_records * LOG_RECORD_WORDS
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident $word:literal;)+) => {
        /// What is counted besides requests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "most are the limit of that name")]
        pub enum Counter { $($(#[$doc])* $name),+ }

        impl Counter {
            /// Each of them, with the name of the limit that was reached, if it is one.
            pub const ALL: &[(Self, &'static str)] = &[$((Self::$name, $word)),+];
        }
    };
}

counters! {
    /// Connections that were accepted.
    Accepted "";
    /// Statements, and their time in nanoseconds.
    Statements ""; StatementTime "";
    /// Look-ups in the cache of pages and fragments, and their time in nanoseconds.
    CacheReads ""; CacheTime "";
    Connections "limits.connections";
    RequestTime "limits.request_time";
    Unsent "limits.unsent";
    Url "limits.url";
    HeaderTime "limits.header_time";
    HeaderSize "limits.header_bytes";
    WriteIdle "limits.write_idle";
    Http2Resets "limits.http2_resets";
    BodySize "limits.body";
    RateLimit "rate limit";
    Http2ControlFrames "limits.http2_control_frames";
}

impl Counter {
    /// Room for more.
    const ROOM: usize = 32;
}

impl Metrics {
    fn word(&self, at: usize) -> &AtomicU64 {
        &self.memory.words()[at]
    }

    pub(super) fn head(&self, ring: usize) -> &AtomicU64 {
        self.word(HEADS[ring])
    }

    /// A record of a ring: its sequence number, and its bytes.
    pub(super) fn record(&self, ring: usize, position: usize) -> &[AtomicU64] {
        let at = RINGS_AT + (ring * RECORDS + position) * RECORD_WORDS;
        &self.memory.words()[at..at + RECORD_WORDS]
    }

    /// Notes how long the queues are.
    pub(super) fn set_queues(&self, queues: &Queues) {
        for (at, length) in [(SPANS, queues.spans), (LOG_RECORDS, queues.log_records)] {
            self.word(at + queue::CAPACITY).store(length as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn spans(&self) -> Queue<'_> {
        let end = self.memory.words().len().min(words(self.capacity(SPANS), 0));
        self.queue_at(SPANS, &self.memory.words()[WORDS..end], SPAN_WORDS)
    }

    pub(super) fn log_records(&self) -> Queue<'_> {
        let start = self.memory.words().len().min(words(self.capacity(SPANS), 0));
        self.queue_at(LOG_RECORDS, &self.memory.words()[start..], LOG_RECORD_WORDS)
    }

    fn queue_at<'m>(&'m self, at: usize, places: &'m [AtomicU64], each: usize) -> Queue<'m> {
        Queue { numbers: &self.memory.words()[at..at + queue::NUMBERS], places, each }
    }

    fn capacity(&self, at: usize) -> usize {
        // No more than could be there: another process may have written anything.
        let most = self.memory.words().len() / SPAN_WORDS;
        usize::try_from(self.word(at + queue::CAPACITY).load(Ordering::Relaxed)).map_or(most, |length| length.min(most))
    }

    pub(super) fn texts(&self, kind: Texts) -> TextTable<'_> {
        let Texts { at, most, words } = kind;
        TextTable { words: &self.memory.words()[at..at + most * words], each: words }
    }

    pub(super) fn block(&self, thread: usize) -> Block<'_> {
        let at = BLOCKS_AT + (thread % BLOCKS) * BLOCK;
        Block(&self.memory.words()[at..at + BLOCK])
    }

    /// The blocks that were ever used. To read another one would take memory for it.
    pub(super) fn used_blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..BLOCKS).map(|thread| self.block(thread)).filter(|block| block.0[USED].load(Ordering::Relaxed) != 0)
    }
}

/// The numbers of a thread.
#[derive(Clone, Copy)]
pub(super) struct Block<'m>(&'m [AtomicU64]);

impl<'m> Block<'m> {
    pub(super) fn set_used(self) {
        self.0[USED].store(1, Ordering::Relaxed);
    }

    pub(super) fn counter(self, counter: Counter) -> &'m AtomicU64 {
        &self.0[COUNTERS_AT + counter as usize]
    }

    pub(super) fn statement(self, number: usize) -> &'m [AtomicU64] {
        let at = STATEMENT_COUNTS_AT + number * STATEMENT_NUMBERS;
        &self.0[at..at + STATEMENT_NUMBERS]
    }

    pub(super) fn series(self, service: usize, outcome: usize) -> &'m [AtomicU64] {
        let at = SERIES_AT + (service.min(SERVICES - 1) * OUTCOMES.len() + outcome) * SERIES;
        &self.0[at..at + SERIES]
    }

    /// The request that has been running for longest: a text, as [`TextTable`] has it.
    pub(super) fn activity(self) -> &'m [AtomicU64] {
        &self.0[ACTIVITY_AT..ACTIVITY_AT + ACTIVITY_WORDS]
    }
}

/// A table of texts, to which every process adds and from which nothing is taken.
#[derive(Clone, Copy)]
pub(super) struct Texts {
    at: usize,
    most: usize,
    words: usize,
}

impl Texts {
    pub(super) const SERVICES: Self = Self { at: NAMES_AT, most: SERVICES, words: NAME_WORDS };
    /// Routes of services, at the same positions.
    pub(super) const ROUTES: Self = Self { at: ROUTES_AT, most: SERVICES, words: NAME_WORDS };
    pub(super) const STATEMENTS: Self = Self { at: STATEMENTS_AT, most: STATEMENTS, words: STATEMENT_WORDS };
}

/// The state of a place: nobody has it, somebody writes to it, or it is complete. Above it is the length in bytes.
const FREE: u64 = 0;
const WRITING: u64 = 1;
const COMPLETE: u64 = 2;

pub(super) struct TextTable<'m> {
    words: &'m [AtomicU64],
    each: usize,
}

impl TextTable<'_> {
    /// The position of a text, which is added if it is new. `None` if the table is full.
    ///
    /// A place whose writer died stays unused. Two processes that add the same text at the same time may add it twice:
    /// readers sum up by text.
    pub(super) fn find_or_add(&self, text: &str) -> Option<u16> {
        let text = &text[..text.floor_char_boundary((self.each - 1) * 8)];
        for (position, place) in self.words.chunks_exact(self.each).enumerate() {
            let free = place[0].compare_exchange(FREE, WRITING, Ordering::Acquire, Ordering::Acquire);
            if free.is_ok() {
                write_text(place, text);
            }
            if free.is_ok() || read_text(place).as_deref() == Some(text) {
                return u16::try_from(position).ok();
            }
        }
        None
    }

    /// Replaces the text at a position.
    pub(super) fn set(&self, position: u16, text: &str) {
        write_text(&self.words[usize::from(position) * self.each..][..self.each], text);
    }

    /// The text at a position.
    pub(super) fn get(&self, position: usize) -> Option<String> {
        read_text(&self.words[position * self.each..][..self.each])
    }

    /// All that is complete, by position.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, String)> {
        let places = self.words.chunks_exact(self.each);
        let taken = places.take_while(|place| place[0].load(Ordering::Relaxed) != FREE);
        taken.enumerate().filter_map(|(position, place)| Some((position, read_text(place)?)))
    }
}

/// Writes a text, and then that it is complete. What does not fit is cut off.
pub(super) fn write_text(place: &[AtomicU64], text: &str) {
    let text = &text[..text.floor_char_boundary((place.len() - 1) * 8)];
    store_bytes(&place[1..], text.as_bytes());
    place[0].store(COMPLETE | (text.len() as u64) << 8, Ordering::Release);
}

pub(super) fn clear_text(place: &[AtomicU64]) {
    place[0].store(FREE, Ordering::Relaxed);
}

/// The text, if it is complete. One that is being replaced may be a mix of both.
pub(super) fn read_text(place: &[AtomicU64]) -> Option<String> {
    let state = place[0].load(Ordering::Acquire);
    let length = usize::try_from(state >> 8).ok()?;
    let bytes = load_bytes(&place[1..], length)?;
    (state & 0xff == COMPLETE).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

//! Spans of traced requests, in a queue to the process that exports them.
//!
//! All threads of all workers add to it without waiting; what finds no room is counted and dropped. One process takes from it, and a span
//! leaves the queue when the receiver has it, so that a process that dies loses none. A place is written to again only after that.

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::Metrics;
#[cfg(any(test, feature = "otlp"))]
use super::layout::load_bytes;
use super::layout::{SPAN_WORDS, store_bytes};

/// A span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpanRecord {
    /// 32 hexadecimal digits.
    pub(crate) trace: String,
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    /// Nanoseconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) work: SpanWork,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SpanWork {
    Request(RequestSpan),
    /// The text of a statement, if it is known.
    Sql(Option<String>),
    Cache,
}

/// A request, from its header section to the last byte of its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestSpan {
    pub(crate) method: String,
    pub(crate) service: String,
    /// The pattern of its path; empty if it reached nothing.
    pub(crate) route: String,
    /// 0: the client closed the connection before the response.
    pub(crate) status: u16,
    pub(crate) tls: bool,
    pub(crate) version: String,
    /// Nanoseconds since 1970: the application was called, and had a response.
    pub(crate) called: u64,
    pub(crate) answered: u64,
    pub(crate) cause: Option<String>,
}

/// The bytes of a span.
const ROOM: usize = (SPAN_WORDS - 2) * 8;

impl Metrics {
    /// Puts a span into the queue, or counts it as dropped.
    pub(super) fn push_span(&self, span: &SpanRecord) {
        let text = serde_json::to_vec(span).unwrap_or_default();
        let capacity = self.spans_capacity();
        let has_room = |head: u64| {
            let waiting = head.saturating_sub(self.spans_tail().load(Ordering::Acquire));
            (waiting < capacity).then_some(head + 1)
        };
        let fits = !text.is_empty() && text.len() <= ROOM;
        let taken = if fits {
            self.spans_head().fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room).ok()
        } else {
            None
        };
        let Some(number) = taken else { return self.drop_spans(1) };
        let place = self.span(number);
        place[1].store(text.len() as u64, Ordering::Relaxed);
        store_bytes(&place[2..], &text);
        place[0].store(number + 1, Ordering::Release);
    }

    /// Counts spans that nobody will get.
    pub(crate) fn drop_spans(&self, number: u64) {
        self.spans_dropped().fetch_add(number, Ordering::Relaxed);
    }
}

/// For the exporter.
#[cfg(any(test, feature = "otlp"))]
impl Metrics {
    pub(crate) fn dropped_spans(&self) -> u64 {
        self.spans_dropped().load(Ordering::Relaxed)
    }

    /// The next spans, at most this number, and what [`finish_spans`](Self::finish_spans) is to be called with.
    ///
    /// A span that is being written ends them, unless it is the abandoned one: that is dropped, since its writer was killed.
    pub(crate) fn next_spans(&self, most: usize, abandoned: Option<u64>) -> (Vec<SpanRecord>, u64) {
        let (mut spans, mut next) = (Vec::new(), self.spans_tail().load(Ordering::Acquire));
        let head = self.spans_head().load(Ordering::Acquire);
        while next < head && spans.len() < most {
            let place = self.span(next);
            let is_written = place[0].load(Ordering::Acquire) == next + 1;
            if !is_written && abandoned != Some(next) {
                break;
            }
            let length = usize::try_from(place[1].load(Ordering::Relaxed)).unwrap_or(usize::MAX);
            let bytes = load_bytes(&place[2..], length).filter(|_| is_written).unwrap_or_default();
            match serde_json::from_slice(&bytes) {
                Ok(span) => spans.push(span),
                Err(_) => self.drop_spans(1),
            }
            next += 1;
        }
        (spans, next)
    }

    /// Frees the places of spans that were taken.
    pub(crate) fn finish_spans(&self, next: u64) {
        self.spans_tail().fetch_max(next, Ordering::Release);
    }

    /// True if there are spans in the queue, complete or not.
    pub(crate) fn has_spans(&self) -> bool {
        self.spans_tail().load(Ordering::Relaxed) < self.spans_head().load(Ordering::Relaxed)
    }
}

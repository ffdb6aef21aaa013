//! Spans of traced requests: what is in the [`queue`](super::queue) of spans.

use serde::{Deserialize, Serialize};

use super::Metrics;

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

impl Metrics {
    /// Puts a span into the queue, or counts it as dropped.
    pub(super) fn push_span(&self, span: &SpanRecord) {
        let text = serde_json::to_vec(span).unwrap_or_default();
        if !self.spans().push(&text) {
            self.spans().drop(1);
        }
    }
}

//! The last errors and slow requests: two rings of records that all threads write to.
//!
//! A record has a sequence number, which is odd while somebody writes it. A reader that finds another number afterwards
//! has read a mix, and drops it.

use std::sync::atomic::{Ordering, fence};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Metrics;
use super::layout::{RECORD_WORDS, RECORDS};
use crate::sys::shared_words::{load_bytes, store_bytes};

/// A request that failed by the fault of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ErrorRecord {
    /// When it ended, in milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) id: String,
    pub(crate) status: u16,
    pub(crate) service: String,
    pub(crate) method: String,
    /// Without the query, which may hold secrets.
    pub(crate) path: String,
    pub(crate) cause: String,
}

/// A request that took long, and where its time went, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SlowRecord {
    pub(crate) at: u64,
    pub(crate) id: String,
    /// 0: the client closed the connection before the response.
    pub(crate) status: u16,
    pub(crate) service: String,
    pub(crate) method: String,
    pub(crate) path: String,
    /// In all.
    pub(crate) micros: u64,
    /// Until the application was called.
    pub(crate) wait: u64,
    pub(crate) sql: u64,
    pub(crate) cache: u64,
    /// Writing HTML and JSON. A version before this one did not tell it from the handler.
    #[serde(default)]
    pub(crate) render: u64,
    /// The rest of the application.
    pub(crate) handler: u64,
    /// Until the client had taken the response.
    pub(crate) write: u64,
    pub(crate) statements: u32,
    pub(crate) slowest: Vec<SlowStatement>,
}

/// The runs of one statement in a slow request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SlowStatement {
    pub(crate) text: String,
    pub(crate) runs: u32,
    pub(crate) micros: u64,
}

/// Which ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    Errors,
    Slow,
}

/// The bytes of a record.
const ROOM: usize = (RECORD_WORDS - 1) * 8;

impl Metrics {
    /// Writes a record in the place of the oldest one. One that does not fit because nearly all of it must be escaped
    /// is left out.
    pub(super) fn push(&self, ring: Ring, record: &impl Serialize) {
        let Ok(mut text) = serde_json::to_vec(record) else { return };
        if text.len() > ROOM {
            return;
        }
        text.resize(ROOM, 0);
        let number = self.head(ring as usize).fetch_add(1, Ordering::Relaxed);
        let place = self.record(ring as usize, position(number));
        place[0].store(2 * number + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        store_bytes(&place[1..], &text);
        place[0].store(2 * number + 2, Ordering::Release);
    }

    /// What is in a ring, the newest first.
    pub(crate) fn records<R: DeserializeOwned>(&self, ring: Ring) -> Vec<R> {
        let last = self.head(ring as usize).load(Ordering::Relaxed);
        let first = last.saturating_sub(RECORDS as u64);
        (first..last).rev().filter_map(|number| self.read_record(ring, number)).collect()
    }

    fn read_record<R: DeserializeOwned>(&self, ring: Ring, number: u64) -> Option<R> {
        let place = self.record(ring as usize, position(number));
        if place[0].load(Ordering::Acquire) != 2 * number + 2 {
            return None;
        }
        let bytes = load_bytes(&place[1..], ROOM)?;
        fence(Ordering::Acquire);
        let end = bytes.iter().rposition(|byte| *byte != 0)? + 1;
        (place[0].load(Ordering::Relaxed) == 2 * number + 2).then(|| serde_json::from_slice(&bytes[..end]).ok())?
    }
}

fn position(number: u64) -> usize {
    usize::try_from(number % RECORDS as u64).unwrap_or(0)
}

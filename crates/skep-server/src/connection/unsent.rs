//! The bytes of responses that wait for their clients: a budget of the process, and how much of it one connection may
//! use.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Smaller responses are not counted: a socket takes them at once.
const SMALL: usize = 4 << 10;

/// One connection begins no further response while it holds this part of `limits.unsent`.
const SHARE: usize = 128;

/// How long a client may take nothing while half of `limits.unsent` is held.
const IMPATIENT: Duration = Duration::from_secs(1);

/// What all connections of this process hold together, and may hold.
#[derive(Clone, Debug)]
pub(crate) struct UnsentLimit {
    held: Arc<AtomicUsize>,
    limit: usize,
}

impl UnsentLimit {
    pub(crate) fn new(limit: usize) -> Self {
        Self { held: Arc::default(), limit }
    }

    /// How long a client may take nothing of its response: `usual`, or less when much is held.
    pub(super) fn patience(&self, usual: Duration) -> Duration {
        if self.held.load(Ordering::Relaxed) > self.limit / 2 { usual.min(IMPATIENT) } else { usual }
    }
}

/// What one connection holds.
#[derive(Debug)]
pub(super) struct Unsent {
    process: UnsentLimit,
    bytes: Cell<usize>,
    /// Requests that wait until it holds less.
    waiting: RefCell<Vec<Waker>>,
}

impl Unsent {
    pub(super) fn new(process: &UnsentLimit) -> Self {
        Self { process: process.clone(), bytes: Cell::default(), waiting: RefCell::default() }
    }

    /// Holds the bytes of a response, and says how many are to be [given back](Self::give_back). `None` if the process
    /// has no room for them.
    pub(super) fn take(&self, bytes: usize) -> Option<usize> {
        if bytes < SMALL {
            return Some(0);
        }
        let UnsentLimit { held, limit } = &self.process;
        if held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > *limit {
            held.fetch_sub(bytes, Ordering::Relaxed);
            return None;
        }
        self.bytes.set(self.bytes.get() + bytes);
        Some(bytes)
    }

    pub(super) fn give_back(&self, bytes: usize) {
        if bytes > 0 {
            self.process.held.fetch_sub(bytes, Ordering::Relaxed);
            self.bytes.set(self.bytes.get() - bytes);
            self.waiting.take().iter().for_each(Waker::wake_by_ref);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Ready if the connection may begin another response.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        if self.bytes.get() <= self.process.limit / SHARE {
            return Poll::Ready(());
        }
        self.waiting.borrow_mut().push(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../tests/unit/connection/unsent.rs"]
mod tests;

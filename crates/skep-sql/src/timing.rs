//! How long statements take: for the account of a request, or for a log of slow statements.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

static OBSERVER: OnceLock<&'static dyn StatementObserver> = OnceLock::new();

/// Hears of each statement that has run, on the thread that waited for it.
pub trait StatementObserver: Send + Sync {
    /// Whether the statement that begins now, on this thread, is of interest. No clock is read for any other.
    fn is_interested(&self) -> bool;

    /// A statement has run, well or not, or a transaction was committed, whose text is `commit`. Values are not in the
    /// text.
    fn has_run(&self, text: &str, start: Instant, time: Duration);
}

/// Has all statements of this process told to an observer. True if it is the first one: the first one stays.
pub fn observe_statements(observer: &'static dyn StatementObserver) -> bool {
    OBSERVER.set(observer).is_ok()
}

/// The time since a statement began, if somebody wants to know.
#[derive(Debug)]
pub(crate) struct Timer(Option<Instant>);

impl Timer {
    pub(crate) fn start() -> Self {
        // The statements of a component are its host's to time.
        if cfg!(target_family = "wasm") {
            return Self(None);
        }
        Self(OBSERVER.get().filter(|observer| observer.is_interested()).map(|_| Instant::now()))
    }

    pub(crate) fn note_statement(&self, text: &str) {
        if let (Some(start), Some(observer)) = (self.0, OBSERVER.get()) {
            observer.has_run(text, start, start.elapsed());
        }
    }
}

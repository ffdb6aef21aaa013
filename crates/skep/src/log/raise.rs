//! Levels that are raised for single requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::{Level, callsite};

/// A raised level, as long as its request lasts.
#[derive(Debug)]
pub(crate) struct Raised(Level);

/// How many requests have raised the level to `trace`, and to anything less.
static TRACE: AtomicUsize = AtomicUsize::new(0);
static OTHERS: AtomicUsize = AtomicUsize::new(0);

/// The most verbose level to which a request that is in progress is raised: callsites up to there have to ask whose request it is.
/// Without such a request, they cost what they always cost.
#[must_use]
pub fn raised_level() -> Option<Level> {
    if TRACE.load(Ordering::Acquire) > 0 {
        return Some(Level::TRACE);
    }
    (OTHERS.load(Ordering::Acquire) > 0).then_some(Level::DEBUG)
}

fn counter(level: Level) -> &'static AtomicUsize {
    if level == Level::TRACE { &TRACE } else { &OTHERS }
}

impl Raised {
    pub(crate) fn new(level: Level) -> Self {
        if counter(level).fetch_add(1, Ordering::AcqRel) == 0 {
            callsite::rebuild_interest_cache();
        }
        Self(level)
    }

    pub(crate) fn level(&self) -> Level {
        self.0
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if counter(self.0).fetch_sub(1, Ordering::AcqRel) == 1 {
            callsite::rebuild_interest_cache();
        }
    }
}

//! Levels that are raised for single requests: by a token that the request brings, or because of whose request it is.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tracing::{Level, callsite};

/// Whose requests are raised is asked by one of these.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'w> {
    /// The client, as a trusted proxy or the connection names it.
    Address(IpAddr),
    /// The user, as a guard names it.
    User(&'w str),
}

/// Finds the level to which requests of a client or a user are raised.
pub type Raiser = fn(Whose<'_>) -> Option<Level>;

static RAISER: OnceLock<Raiser> = OnceLock::new();
static IS_RAISING: AtomicBool = AtomicBool::new(false);

/// Asks `raiser` for each request from now on, or no more. While nobody is raised, a request costs one relaxed load for
/// its address, and one for its user. The first raiser stays.
pub fn set_raising(raiser: Raiser, is_raising: bool) {
    RAISER.get_or_init(|| raiser);
    IS_RAISING.store(is_raising, Ordering::Relaxed);
}

/// The level to which this one's requests are raised.
pub fn level_for(whose: Whose<'_>) -> Option<Level> {
    if !IS_RAISING.load(Ordering::Relaxed) {
        return None;
    }
    RAISER.get()?(whose)
}

/// A raised level, as long as its request lasts.
#[derive(Debug)]
pub(crate) struct Raised(Level);

/// How many requests have raised the level to `trace`, and to anything less.
static TRACE: AtomicUsize = AtomicUsize::new(0);
static OTHERS: AtomicUsize = AtomicUsize::new(0);

/// The most verbose level to which a request that is in progress is raised: callsites up to there have to ask whose
/// request it is. Without such a request, they cost what they always cost.
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

//! How long to wait before the successor of a crashed worker is started.

use std::time::Duration;

/// A worker that exits before this age has exited early.
const EARLY: Duration = Duration::from_secs(10);

/// This many early exits in a row are a crash loop.
const CRASH_LOOP: u32 = 5;

/// This many early exits in a row cause no delay.
const WITHOUT_DELAY: u32 = 3;

const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Counts early exits in a row. The first few successors start at once, the others with exponential backoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    early_exits: u32,
}

impl Backoff {
    /// A worker has exited at this age. `useful`: it did not crash because of how it starts. Returns the delay before
    /// its successor starts.
    pub(crate) fn record_exit(&mut self, age: Duration, useful: bool) -> Duration {
        self.early_exits = if age < EARLY && !useful { self.early_exits.saturating_add(1) } else { 1 };
        match self.early_exits.checked_sub(WITHOUT_DELAY + 1) {
            None => Duration::ZERO,
            Some(more) => MAX_DELAY.min(FIRST_DELAY.saturating_mul(1 << more.min(16))),
        }
    }

    pub(crate) fn early_exits(self) -> u32 {
        self.early_exits
    }

    pub(crate) fn is_crash_loop(self) -> bool {
        self.early_exits >= CRASH_LOOP
    }

    /// A worker has been running for this long. Resets the count once it is old enough.
    pub(crate) fn note_uptime(&mut self, age: Duration) {
        if age >= EARLY {
            self.early_exits = 0;
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/backoff.rs"]
mod tests;

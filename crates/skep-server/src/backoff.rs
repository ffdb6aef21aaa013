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
    /// A worker has exited at this age. `useful`: it did not crash because of how it starts. Returns the delay before its successor starts.
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
mod tests {
    use super::*;

    #[test]
    fn the_first_restarts_are_immediate_and_a_crash_loop_backs_off_exponentially() {
        let mut backoff = Backoff::default();
        let delays: Vec<u128> =
            (0..14).map(|_| backoff.record_exit(Duration::from_millis(5), false).as_millis()).collect();
        assert_eq!(delays[..6], [0, 0, 0, 100, 200, 400]);
        assert_eq!(delays[13], 30_000);
        assert!(backoff.is_crash_loop());
        assert_eq!(backoff.record_exit(Duration::from_secs(11), false), Duration::ZERO);
        assert!(!backoff.is_crash_loop());
    }

    #[test]
    fn five_early_exits_in_a_row_are_a_crash_loop_unless_the_workers_were_useful() {
        let mut backoff = Backoff::default();
        let mut is_loop = |useful| {
            backoff.record_exit(Duration::ZERO, useful);
            backoff.is_crash_loop()
        };
        let loops: Vec<bool> = (0..6).map(|_| is_loop(false)).collect();
        assert_eq!(loops, [false, false, false, false, true, true]);
        assert!(!is_loop(true));
        backoff.note_uptime(Duration::from_secs(10));
        assert_eq!(backoff.early_exits(), 0);
    }
}

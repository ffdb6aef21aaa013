//! Stops asking a driver that does not answer, and asks again after a while.
//!
//! A plain value without a clock. After five failures in a row it opens for a second, then for two, four, up to thirty;
//! when the time is over, one call tries.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Time;

#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: AtomicU32,
    /// Until then nobody asks, in milliseconds; 0 while it is closed.
    until: AtomicU64,
}

/// So many failures in a row open it.
const FAILURES: u32 = 5;
/// How long it stays open at most.
const LONGEST: Duration = Duration::from_secs(30);

impl Breaker {
    /// Whether to ask the driver now. After a pause one is let through to try, and the others wait as long again.
    #[inline]
    pub(crate) fn allows(&self, now: Time) -> bool {
        match self.until.load(Ordering::Relaxed) {
            0 => true,
            until if now.millis() < until => false,
            until => {
                let next = now.plus(self.pause()).millis();
                self.until.compare_exchange(until, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            }
        }
    }

    /// The driver answered.
    #[inline]
    pub(crate) fn succeeded(&self) {
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Relaxed);
            self.until.store(0, Ordering::Release);
        }
    }

    /// The driver did not answer. Whether that opened the breaker, which was closed.
    pub(crate) fn failed(&self, now: Time) -> bool {
        let failures = self.failures.fetch_add(1, Ordering::AcqRel).saturating_add(1);
        if failures < FAILURES {
            return false;
        }
        self.until.swap(now.plus(self.pause()).millis(), Ordering::AcqRel) == 0
    }

    pub(crate) fn is_open(&self) -> bool {
        self.until.load(Ordering::Relaxed) != 0
    }

    fn pause(&self) -> Duration {
        let beyond = self.failures.load(Ordering::Relaxed).saturating_sub(FAILURES).min(5);
        Duration::from_secs(1 << beyond).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(breaker: &Breaker, now: Time) {
        for failure in 1..=FAILURES {
            assert!(breaker.allows(now));
            assert_eq!(breaker.failed(now), failure == FAILURES);
        }
    }

    #[test]
    fn it_opens_after_failures_in_a_row_only() {
        let breaker = Breaker::default();
        let now = Time::from_millis(1_000);
        for _ in 0..100 {
            breaker.failed(now);
            breaker.succeeded();
        }
        open(&breaker, now);
        assert!(!breaker.allows(now) && breaker.is_open());
    }

    #[test]
    fn after_a_pause_one_tries_and_pauses_grow() {
        let breaker = Breaker::default();
        let mut now = Time::from_millis(1_000);
        open(&breaker, now);
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            assert!(!breaker.allows(now.plus(Duration::from_millis(pause * 1_000 - 1))), "{pause}");
            now = now.plus(Duration::from_secs(pause));
            assert!(breaker.allows(now), "{pause}");
            assert!(!breaker.allows(now), "one tries");
            breaker.failed(now);
        }
        breaker.succeeded();
        assert!(breaker.allows(now) && breaker.allows(now) && !breaker.is_open());
    }
}

//! A circuit breaker: stops calling a backend that fails, and probes it after a while.
//!
//! A plain value without a clock. Consecutive failures open it for a pause that doubles up to a maximum; after each
//! pause one call is let through as a probe. Used for whole drivers ([`Breaker::default`]) and for single servers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Time;

#[derive(Debug)]
pub(crate) struct Breaker {
    /// Consecutive failures that open it.
    threshold: u32,
    first_pause: Duration,
    longest_pause: Duration,
    failures: AtomicU32,
    /// Open until then, in milliseconds; 0 while it is closed.
    until: AtomicU64,
}

impl Default for Breaker {
    fn default() -> Self {
        Self::new(5, Duration::from_secs(1), Duration::from_secs(30))
    }
}

impl Breaker {
    pub(crate) fn new(threshold: u32, first_pause: Duration, longest_pause: Duration) -> Self {
        Self { threshold, first_pause, longest_pause, failures: AtomicU32::new(0), until: AtomicU64::new(0) }
    }

    /// Whether to call the backend now. After a pause one caller may probe; the others wait for another pause.
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

    /// Notes a success, which closes it. Whether there were failures before.
    #[inline]
    pub(crate) fn succeeded(&self) -> bool {
        if self.failures.load(Ordering::Relaxed) == 0 {
            return false;
        }
        self.failures.store(0, Ordering::Relaxed);
        self.until.store(0, Ordering::Release);
        true
    }

    /// Notes a failure. Whether it opened the breaker, which was closed.
    pub(crate) fn failed(&self, now: Time) -> bool {
        let failures = self.failures.fetch_add(1, Ordering::AcqRel).saturating_add(1);
        if failures < self.threshold {
            return false;
        }
        let until = now.plus(self.pause().max(Duration::from_millis(1)));
        self.until.swap(until.millis(), Ordering::AcqRel) == 0
    }

    pub(crate) fn is_open(&self) -> bool {
        self.until.load(Ordering::Relaxed) != 0
    }

    fn pause(&self) -> Duration {
        let repeats = self.failures.load(Ordering::Relaxed).saturating_sub(self.threshold).min(16);
        self.first_pause.saturating_mul(1 << repeats).min(self.longest_pause)
    }
}

#[cfg(test)]
#[path = "../tests/unit/breaker.rs"]
mod tests;

//! The counters of a cache.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The counters of a cache since it was built.
///
/// ```
/// use skep_cache::{Cache, Memory};
///
/// let cache = Cache::<str, u32>::new("answers", Memory::new(1 << 20))?;
/// cache.blocking().get("life")?;
/// assert_eq!((cache.stats().hits, cache.stats().misses), (0, 1));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Reads that found an entry, including negative ones.
    pub hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Stale hits, included in `hits`.
    pub stale: u64,
    /// Entries stored.
    pub sets: u64,
    /// Writes refused because the key was set or removed meanwhile.
    pub refused: u64,
    /// Entries removed.
    pub removals: u64,
    /// Computations that ended.
    pub computations: u64,
    /// Computations that failed, panicked or timed out, included in `computations`.
    pub failed_computations: u64,
    /// Calls that got the result of another caller's computation.
    pub coalesced: u64,
    /// Failed calls of the driver.
    pub failures: u64,
    /// Entries that could not be decoded, which were misses.
    pub undecodable: u64,
    /// Whether the circuit breaker of the driver is open.
    pub breaker_open: bool,
}

/// A counter, in the order of [`Stats`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Hit,
    Miss,
    Stale,
    Set,
    Refused,
    Removal,
    Computation,
    FailedComputation,
    Coalesced,
    Failure,
    Undecodable,
}

const COUNTS: usize = 11;
/// Threads that have a stripe of their own and count with a plain store. The others share one stripe and count with an atomic
/// addition, which costs half as much as a hit.
const OWN: usize = 15;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    stripes: [Stripe; OWN + 1],
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe([AtomicU64; COUNTS]);

/// All stripes are taken.
const ALL: u32 = (1 << OWN) - 1;

/// The stripes that are taken, a bit each.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// The stripe of a thread in all counters, released when the thread ends.
struct StripeGuard(usize);

impl StripeGuard {
    fn take() -> Self {
        let free = |taken: u32| (taken != ALL).then_some(taken | (taken + 1));
        // The next owner sees the counts of the previous one.
        let before = TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, free);
        Self(before.map_or(OWN, |taken| taken.trailing_ones() as usize))
    }
}

impl Drop for StripeGuard {
    fn drop(&mut self) {
        if self.0 < OWN {
            TAKEN.fetch_and(!(1 << self.0), Ordering::Release);
        }
    }
}

#[inline]
fn stripe() -> usize {
    thread_local! {
        static STRIPE: StripeGuard = StripeGuard::take();
    }
    // A thread may still count after its guard was dropped.
    STRIPE.try_with(|stripe| stripe.0).unwrap_or(OWN)
}

impl Counters {
    #[inline]
    pub(crate) fn count(&self, what: Count) {
        let stripe = stripe();
        let count = &self.stripes[stripe.min(OWN)].0[what as usize];
        if stripe < OWN {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn stats(&self, breaker_open: bool) -> Stats {
        let sum = |what: Count| self.stripes.iter().map(|stripe| stripe.0[what as usize].load(Ordering::Relaxed)).sum();
        Stats {
            hits: sum(Count::Hit),
            misses: sum(Count::Miss),
            stale: sum(Count::Stale),
            sets: sum(Count::Set),
            refused: sum(Count::Refused),
            removals: sum(Count::Removal),
            computations: sum(Count::Computation),
            failed_computations: sum(Count::FailedComputation),
            coalesced: sum(Count::Coalesced),
            failures: sum(Count::Failure),
            undecodable: sum(Count::Undecodable),
            breaker_open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_counts_are_not_lost() {
        let counters = Counters::default();
        for _ in 0..3 {
            std::thread::scope(|scope| {
                for _ in 0..2 * OWN {
                    scope.spawn(|| (0..1_000).for_each(|_| counters.count(Count::Hit)));
                }
            });
        }
        assert_eq!(counters.stats(false).hits, 3 * 2 * OWN as u64 * 1_000);
    }
}

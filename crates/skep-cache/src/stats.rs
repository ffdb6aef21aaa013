//! The counters of a cache.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Defines [`Stats`], and a [`Count`] for each of its numbers.
macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident: $count:ident,)*) => {
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
            $($(#[$doc])* pub $field: u64,)*
            /// Whether the circuit breaker of the driver is open.
            pub breaker_open: bool,
        }

        /// A counter, in the order of [`Stats`].
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Count { $($count),* }

        const COUNTS: usize = [$(Count::$count),*].len();

        impl Counters {
            pub(crate) fn stats(&self, breaker_open: bool) -> Stats {
                Stats { $($field: self.sum(Count::$count),)* breaker_open }
            }
        }
    };
}

counters! {
    /// Reads that found an entry, including negative ones.
    hits: Hit,
    /// Reads that found none.
    misses: Miss,
    /// Stale hits, included in `hits`.
    stale: Stale,
    /// Entries stored.
    sets: Set,
    /// Writes refused because the key was set or removed meanwhile.
    refused: Refused,
    /// Entries removed.
    removals: Removal,
    /// Computations that ended.
    computations: Computation,
    /// Computations that failed, panicked or timed out, included in `computations`.
    failed_computations: FailedComputation,
    /// Calls that got the result of another caller's computation.
    coalesced: Coalesced,
    /// Failed calls of the driver.
    failures: Failure,
    /// Entries that could not be decoded, which were misses.
    undecodable: Undecodable,
}

/// Threads that have a stripe of their own and count with a plain store. The others share one stripe and count with an
/// atomic addition, which costs half as much as a hit.
const OWN: usize = 15;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    stripes: [Stripe; OWN + 1],
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe([AtomicU64; COUNTS]);

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

    fn sum(&self, what: Count) -> u64 {
        self.stripes.iter().map(|stripe| stripe.0[what as usize].load(Ordering::Relaxed)).sum()
    }
}

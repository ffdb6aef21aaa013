//! What a cache counts.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What a cache has done since it was made.
///
/// ```
/// use skep_cache::{Cache, Memory};
///
/// let cache = Cache::<str, u32>::new("answers", Memory::new(1 << 20))?;
/// cache.now().get("life")?;
/// assert_eq!((cache.stats().hits, cache.stats().misses), (0, 1));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Reads that found what they looked for, "there is none" included.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Hits that were stale, among `hits`.
    pub stale: u64,
    /// Entries stored.
    pub sets: u64,
    /// Writes refused because what they were made of had been removed or overwritten since.
    pub refused: u64,
    /// Entries removed.
    pub removals: u64,
    /// Computations that came to an end, whichever.
    pub computations: u64,
    /// Computations that failed, panicked or took too long, among `computations`.
    pub failed_computations: u64,
    /// Callers who got what another was computing.
    pub waited: u64,
    /// Calls of the driver that failed.
    pub failures: u64,
    /// Entries that could not be decoded, and were misses.
    pub undecodable: u64,
    /// Whether the driver is not asked at the moment, because it does not answer.
    pub resting: bool,
}

/// What is counted; the order is that of [`Stats`].
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
    Waited,
    Failure,
    Undecodable,
}

const COUNTS: usize = 11;
const STRIPES: usize = 8;

/// Each thread counts in one of eight places, so that threads seldom write the same cache line.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    stripes: [Stripe; STRIPES],
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe([AtomicU64; COUNTS]);

fn stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES;
    }
    OWN.with(|own| *own)
}

impl Counters {
    #[inline]
    pub(crate) fn count(&self, what: Count) {
        self.stripes[stripe()].0[what as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self, resting: bool) -> Stats {
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
            waited: sum(Count::Waited),
            failures: sum(Count::Failure),
            undecodable: sum(Count::Undecodable),
            resting,
        }
    }
}

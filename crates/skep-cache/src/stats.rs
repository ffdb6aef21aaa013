//! What a cache counts.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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
/// So many threads count in a place of their own, with a plain store; all others share one more, and count with a locked addition,
/// which costs as much as half a hit.
const OWN: usize = 15;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    stripes: [Stripe; OWN + 1],
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe([AtomicU64; COUNTS]);

/// All places are taken.
const ALL: u32 = (1 << OWN) - 1;

/// Which places threads have, a bit each.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// The place of a thread, in all counters; it is another's when the thread has ended.
struct Place(usize);

impl Place {
    fn take() -> Self {
        let free = |taken: u32| (taken != ALL).then_some(taken | (taken + 1));
        // What the one before has counted is seen by the one after.
        let before = TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, free);
        Self(before.map_or(OWN, |taken| taken.trailing_ones() as usize))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0 < OWN {
            TAKEN.fetch_and(!(1 << self.0), Ordering::Release);
        }
    }
}

#[inline]
fn place() -> usize {
    thread_local! {
        static PLACE: Place = Place::take();
    }
    // A thread that ends and still counts has given its place back.
    PLACE.try_with(|place| place.0).unwrap_or(OWN)
}

impl Counters {
    #[inline]
    pub(crate) fn count(&self, what: Count) {
        let place = place();
        let count = &self.stripes[place.min(OWN)].0[what as usize];
        if place < OWN {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            count.fetch_add(1, Ordering::Relaxed);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_however_many_threads_count() {
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

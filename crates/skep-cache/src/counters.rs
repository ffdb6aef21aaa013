//! Counters of attempts and rates in a table of a fixed size, which nobody can push out.
//!
//! The generic cell rate algorithm (GCRA): a counter is one number, the time at which it is full again. A [`Counters`]
//! table is made of buckets of eight counters, as the zones of nginx's `limit_req`: a keyed hash gives each key two
//! buckets, and in them it takes a place whose counter is full again, and which therefore remembers nothing. A counter
//! that still holds somebody back is never replaced by another key. Where both buckets hold somebody back, the key is
//! counted in a row of its network, which others may share: a table that is full is stricter, and forgets nothing.
//!
//! A counter is one word that changes atomically, so threads and forked processes share the table, and a process that
//! is killed leaves nothing half done. Time is monotonic: a clock that is moved changes no counter.
//!
//! Start reading at [`Counters::add`].

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;

use crate::clock::Clock;
#[cfg(all(feature = "shared", unix))]
use crate::error::Error;
use crate::error::Result;
#[cfg(all(feature = "shared", unix))]
use crate::shared::Mapping;

/// Counters of a bucket: 64 bytes, a cache line.
const WAYS: usize = 8;
/// Lower bits of a word: the time at which its counter is full again, in units of 8 µs since the table was made (nine
/// years). The upper 19 bits mark its key.
const TIME_BITS: u32 = 45;
const TIME: u64 = (1 << TIME_BITS) - 1;
/// Microseconds are shifted by this.
const UNIT: u32 = 3;
/// One of this many words belongs to the rows of networks.
const ROWS: usize = 16;

/// How often something may be done: `burst` times at once, and then once each time that `each` has passed.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::Pace;
///
/// let pace = Pace { burst: 2, each: Duration::from_secs(10) };
/// let first = pace.after_one_more(0, 1_000).unwrap();
/// let second = pace.after_one_more(first, 1_000).unwrap();
/// assert_eq!(pace.after_one_more(second, 1_000), Err(Duration::from_secs(10)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How often at once. 0 counts as 1.
    pub burst: u32,
    /// The time until one more is allowed. Steps below a millisecond are rounded to 8 µs in a table.
    pub each: Duration,
}

impl Pace {
    /// When a counter that is full again at `free_at` is full again after one more, in microseconds; or how long that
    /// one has to wait.
    pub fn after_one_more(self, free_at: u64, now: u64) -> std::result::Result<u64, Duration> {
        self.after(free_at, now, 0)
    }

    /// When it is full again without the last one.
    #[must_use]
    pub fn before_last(self, free_at: u64) -> u64 {
        free_at.saturating_sub(self.step(0))
    }

    /// The same for a pace of this many per `period`: 0 has no limit.
    #[must_use]
    pub fn per(count: u32, period: Duration) -> Option<Self> {
        (count > 0).then(|| Self { burst: count, each: period / count })
    }

    /// A pace that is this many times as fast.
    #[must_use]
    pub fn times(self, factor: u32) -> Self {
        Self { burst: self.burst.saturating_mul(factor), each: self.each / factor.max(1) }
    }

    /// `each` in microseconds, or in a unit of more of them.
    fn step(self, unit: u32) -> u64 {
        let micros = u64::try_from(self.each.as_micros()).unwrap_or(u64::MAX);
        (micros.saturating_add((1 << unit) >> 1) >> unit).max(1)
    }

    fn after(self, free_at: u64, now: u64, unit: u32) -> std::result::Result<u64, Duration> {
        let step = self.step(unit);
        let full = step.saturating_mul(u64::from(self.burst.max(1)));
        // No counter is used up for longer than its pace: a clock that was set back closes nothing for as long.
        let free_at = free_at.clamp(now, now.saturating_add(full));
        let then = free_at.saturating_add(step);
        if then - now > full { Err(Duration::from_micros((then - now - full) << unit)) } else { Ok(then) }
    }
}

/// A change of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// One more.
    Add(Pace),
    /// One less: what was added does not count.
    GiveBack(Pace),
    /// As if nothing was ever added.
    Clear,
}

/// Counters in a table of a fixed size, which processes share. None that still holds somebody back is forgotten.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Clock, Counters, Pace};
///
/// let clock = Clock::manual();
/// let counters = Counters::new(1 << 20, clock.clone())?;
/// let pace = Pace { burst: 1, each: Duration::from_secs(10) };
/// assert_eq!(counters.add(b"ada", pace, b"192.0.2.0"), Ok(()));
/// assert_eq!(counters.add(b"ada", pace, b"192.0.2.0"), Err(Duration::from_secs(10)));
/// clock.advance(Duration::from_secs(10));
/// assert_eq!(counters.add(b"ada", pace, b"192.0.2.0"), Ok(()));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct Counters {
    words: Words,
    /// Buckets. The words behind them are the rows of networks.
    buckets: usize,
    /// Keys cannot be chosen so that they meet.
    seeds: RandomState,
    clock: Clock,
    /// The clock's time when the table was made.
    origin: u64,
}

#[derive(Debug)]
enum Words {
    #[cfg(all(feature = "shared", unix))]
    Mapped(Mapping),
    #[cfg_attr(all(feature = "shared", unix), expect(dead_code, reason = "for systems without such mappings"))]
    Owned(Box<[AtomicU64]>),
}

/// Where a key has its counter, or could have one.
enum Lookup<'w> {
    Own(&'w AtomicU64, u64),
    Free(&'w AtomicU64, u64),
    None,
}

impl Counters {
    /// A table of this many bytes, 1 KiB at least. Pages of it that nobody uses take no memory. Processes that are
    /// forked later share it.
    ///
    /// # Errors
    /// If the system has not that much memory.
    pub fn new(bytes: usize, clock: Clock) -> Result<Self> {
        let words = bytes.max(1024) / size_of::<AtomicU64>();
        let buckets = (words - words / ROWS) / WAYS;
        // Processes that are forked later agree on it. Start-up code of a component has no time.
        let origin = if cfg!(target_family = "wasm") { 0 } else { clock.micros() };
        Ok(Self { words: Words::new(words)?, buckets, seeds: RandomState::new(), clock, origin })
    }

    /// Counts one more for a key; or how long that has to wait, and then nothing is stored. If there is no place for a
    /// new key, it counts for its network.
    pub fn add<K: Hash + ?Sized>(&self, key: &K, pace: Pace, network: &[u8]) -> std::result::Result<(), Duration> {
        let (mark, now) = (self.mark(key), self.now());
        let row = self.row(network, pace);
        loop {
            let counted = row.load(Acquire);
            let (word, old, mark, free_at) = match self.find(mark, now) {
                Lookup::Own(word, old) => (word, old, mark, old & TIME),
                // What was counted for its network meanwhile is not forgotten.
                Lookup::Free(word, old) => (word, old, mark, counted),
                Lookup::None => (row, counted, Mark::NONE, counted),
            };
            let then = pace.after(free_at, now, UNIT)?;
            if word.compare_exchange(old, mark.word(then), AcqRel, Acquire).is_ok() {
                return Ok(());
            }
        }
    }

    /// Applies a [`Change`]. Only [`Change::Add`] may have to wait.
    pub fn change<K: Hash + ?Sized>(
        &self,
        key: &K,
        change: Change,
        network: &[u8],
    ) -> std::result::Result<(), Duration> {
        let step = match change {
            Change::Add(pace) => return self.add(key, pace, network),
            Change::GiveBack(pace) => pace.step(UNIT),
            Change::Clear => TIME,
        };
        let mark = self.mark(key);
        // What was counted for a network stays counted: others share it.
        while let Lookup::Own(word, old) = self.find(mark, self.now()) {
            let new = mark.word((old & TIME).saturating_sub(step));
            if word.compare_exchange(old, new, AcqRel, Acquire).is_ok() {
                break;
            }
        }
        Ok(())
    }

    /// The counter of a key, or the first place in its buckets that is free.
    fn find(&self, mark: Mark, now: u64) -> Lookup<'_> {
        let mut free = Lookup::None;
        for bucket in [mark.hash & 0xffff_ffff, mark.hash >> 21 & 0xff_ffff] {
            let first = usize::try_from(bucket).expect("32 bits") % self.buckets * WAYS;
            for word in &self.words.all()[first..first + WAYS] {
                let old = word.load(Acquire);
                if mark.is_of(old) {
                    return Lookup::Own(word, old);
                }
                if old & TIME <= now && matches!(free, Lookup::None) {
                    free = Lookup::Free(word, old);
                }
            }
        }
        free
    }

    /// What a network is counted in at a pace.
    fn row(&self, network: &[u8], pace: Pace) -> &AtomicU64 {
        let rows = &self.words.all()[self.buckets * WAYS..];
        let hash = self.seeds.hash_one((network, pace.burst, pace.each)) >> 32;
        let hash = usize::try_from(hash).expect("32 bits");
        &rows[hash % rows.len()]
    }

    fn mark<K: Hash + ?Sized>(&self, key: &K) -> Mark {
        let hash = self.seeds.hash_one(key);
        Mark { hash, mark: (hash >> TIME_BITS).max(1) }
    }

    /// One unit at least, so that a word of zeros is full again.
    fn now(&self) -> u64 {
        (self.clock.micros().saturating_sub(self.origin) >> UNIT) + 1
    }
}

/// What distinguishes a key.
#[derive(Clone, Copy)]
struct Mark {
    hash: u64,
    mark: u64,
}

impl Mark {
    /// Of the rows, which belong to no key.
    const NONE: Self = Self { hash: 0, mark: 0 };

    fn is_of(self, word: u64) -> bool {
        word >> TIME_BITS == self.mark
    }

    fn word(self, time: u64) -> u64 {
        self.mark << TIME_BITS | time.min(TIME)
    }
}

impl Words {
    #[cfg(all(feature = "shared", unix))]
    fn new(count: usize) -> Result<Self> {
        Mapping::anonymous(count)
            .map(Self::Mapped)
            .map_err(|error| Error::unreachable("reserving memory for counters").because(error))
    }

    #[cfg(not(all(feature = "shared", unix)))]
    fn new(count: usize) -> Result<Self> {
        Ok(Self::Owned((0..count).map(|_| AtomicU64::new(0)).collect()))
    }

    fn all(&self) -> &[AtomicU64] {
        match self {
            #[cfg(all(feature = "shared", unix))]
            Self::Mapped(mapping) => mapping.words(),
            Self::Owned(words) => words,
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/counters.rs"]
mod tests;

//! Time for expiry and waiting, and versions to order writes.
//!
//! A manual [`Clock`] stands still until a test advances it. Drivers have no clock: each call gets the time.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::timer::{Sleep, Timer};

/// A moment, in milliseconds since 1970.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::Time;
///
/// assert_eq!(Time::from_millis(1_000).plus(Duration::from_secs(1)), Time::from_millis(2_000));
/// assert_eq!(Time::NEVER.plus(Duration::from_secs(1)), Time::NEVER);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// Later than all times.
    pub const NEVER: Self = Self(u64::MAX);

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// This much later, at most [`Time::NEVER`].
    #[must_use]
    #[inline]
    pub fn plus(self, duration: Duration) -> Self {
        // `Duration::as_millis` without 128-bit arithmetic: every write does this twice.
        let millis = duration.as_secs().saturating_mul(1_000).saturating_add(u64::from(duration.subsec_millis()));
        Self(self.0.saturating_add(millis))
    }

    /// The time since an earlier moment, or zero.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Orders the writes of a key: later ones have higher versions.
///
/// The upper 42 bits are milliseconds, the lower 22 tell apart what happened within one: 10 are drawn by chance once
/// for each process, so that two processes do not draw the same number, 12 count. A clock that has seen a higher
/// version than its own draws above that.
///
/// ```
/// use skep_cache::Clock;
///
/// let clock = Clock::manual();
/// assert!(clock.version() < clock.version());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

/// Bits below the milliseconds.
const FINE: u32 = 22;
/// Bits that are the process's own.
const NODE: u32 = 10;

impl Version {
    /// Lower than all versions of a clock.
    pub const ZERO: Self = Self(0);

    /// The version with this number.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// The number of this version.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    pub(crate) const fn time(self) -> Time {
        Time(self.0 >> FINE)
    }

    pub(crate) const fn last_of_millisecond(self) -> Self {
        Self(self.0 | ((1 << FINE) - 1))
    }

    /// Higher than what other processes draw above this version in a moment.
    pub(crate) const fn after_some_draws(self) -> Self {
        Self(self.0.saturating_add(16 << NODE))
    }

    /// A higher version, for a change of a stored entry.
    #[must_use]
    pub const fn successor(self) -> Self {
        Self(self.0.saturating_add(1 << NODE))
    }
}

/// A source of time. Clones share it.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::Clock;
///
/// let clock = Clock::manual();
/// let start = clock.now();
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now().since(start), Duration::from_secs(60));
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    source: Source,
    /// The highest version that was drawn or observed.
    seen: Arc<AtomicU64>,
}

#[derive(Clone, Default)]
enum Source {
    #[default]
    System,
    Manual(Arc<Manual>),
    /// The system's, with versions from a function.
    Drawn(fn() -> u64),
}

struct Manual {
    now: AtomicU64,
    timer: Arc<Timer>,
}

/// The highest version that this process has drawn by the system's time.
static LAST: AtomicU64 = AtomicU64::new(0);

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::of(Source::System)
    }

    /// A clock that stands still (in January 2027) until [`Clock::advance`].
    #[must_use]
    pub fn manual() -> Self {
        Self::of(Source::Manual(Arc::new(Manual { now: AtomicU64::new(1_800_000_000_000), timer: Arc::default() })))
    }

    /// The system's time with versions from a function: for instances of a component, which share a cache but no
    /// memory. Each would count for itself, and two might draw the same version.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use skep_cache::Clock;
    ///
    /// static COUNT: AtomicU64 = AtomicU64::new(7 << 22);
    /// let of_instance = || Clock::drawing(|| COUNT.fetch_add(1 << 10, Ordering::Relaxed));
    /// assert!(of_instance().version() < of_instance().version());
    /// ```
    #[must_use]
    pub fn drawing(versions: fn() -> u64) -> Self {
        Self::of(Source::Drawn(versions))
    }

    fn of(source: Source) -> Self {
        Self { source, seen: Arc::default() }
    }

    /// The same time for one cache. What that observes is ahead of the time after an invalidation; to draw as far ahead
    /// for another cache, whose invalidations know nothing of it, would keep its outdated entries valid.
    pub(crate) fn of_one_cache(&self) -> Self {
        if self.by_hand().is_some() { self.clone() } else { Self::of(self.source.clone()) }
    }

    /// The current time.
    #[inline]
    pub fn now(&self) -> Time {
        self.by_hand().map_or_else(system, |manual| Time(manual.now.load(Ordering::Acquire)))
    }

    /// True if it is [advanced](Self::advance) by hand.
    #[must_use]
    pub fn is_manual(&self) -> bool {
        self.by_hand().is_some()
    }

    /// Advances a manual clock.
    ///
    /// # Panics
    ///
    /// If it is not manual.
    pub fn advance(&self, duration: Duration) {
        let manual = self.by_hand().expect("only a manual clock can be advanced");
        let millis = u64::try_from(duration.as_millis()).expect("less than 500 million years");
        let before = manual.now.fetch_add(millis, Ordering::AcqRel);
        manual.timer.fire(Time(before + millis));
    }

    /// Sleeps until a moment. Needs no runtime: see [`driver::block_on`](crate::driver::block_on).
    pub fn sleep_until(&self, until: Time) -> Sleep {
        Sleep::new(self.clone(), until)
    }

    pub(crate) fn timer(&self) -> Option<Arc<Timer>> {
        self.by_hand().map_or_else(Timer::system, |manual| Some(Arc::clone(&manual.timer)))
    }

    /// Microseconds since an arbitrary moment, to measure durations.
    pub(crate) fn micros(&self) -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        if let Some(manual) = self.by_hand() {
            return manual.now.load(Ordering::Acquire) * 1_000;
        }
        u64::try_from(START.get_or_init(Instant::now).elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// A version higher than all that this clock has drawn or observed.
    pub fn version(&self) -> Version {
        self.version_at(self.now())
    }

    /// As [`version`](Self::version), if the time is known.
    pub(crate) fn version_at(&self, now: Time) -> Version {
        let by_time = || (now.millis() << FINE) | node(now);
        let by_time = match self.source {
            Source::Drawn(draw) => draw(),
            Source::Manual(_) => by_time(),
            // No two caches of a process draw the same.
            Source::System => draw(&LAST, by_time()),
        };
        Version(draw(&self.seen, by_time))
    }

    /// Makes all later versions of this clock higher than `seen`, a version of another process.
    pub fn observe(&self, seen: Version) {
        self.seen.fetch_max(seen.0, Ordering::AcqRel);
    }

    #[inline]
    fn by_hand(&self) -> Option<&Manual> {
        if let Source::Manual(manual) = &self.source { Some(manual) } else { None }
    }
}

/// At least `minimum`, and higher than the last.
fn draw(last: &AtomicU64, minimum: u64) -> u64 {
    let node = minimum & ((1 << NODE) - 1);
    let mut drawn = 0;
    let next = |last: u64| {
        drawn = minimum.max(((last >> NODE << NODE) | node) + (1 << NODE));
        Some(drawn)
    };
    last.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok();
    drawn
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.by_hand().is_some() { "manual" } else { "system" };
        write!(f, "Clock({name}, {} ms)", self.now().millis())
    }
}

/// The system's time. On Linux that of the last tick, at most 4 ms old, which costs a fifth: every hit reads it.
#[cfg(target_os = "linux")]
#[inline]
fn system() -> Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    Time(seconds.unwrap_or_default() * 1_000 + nanos.unwrap_or_default() / 1_000_000)
}

#[cfg(not(target_os = "linux"))]
fn system() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time(since.as_secs() * 1_000 + u64::from(since.subsec_millis()))
}

/// The random bits of this process in a version, which change after a fork. The process id is a system call: read it
/// once for each millisecond at most.
fn node(now: Time) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let mask = (1 << NODE) - 1;
    let last = LAST.load(Ordering::Relaxed);
    if last >> NODE == now.millis() {
        return last & mask;
    }
    let node = u64::from(process_id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - NODE);
    LAST.store((now.millis() << NODE) | node, Ordering::Relaxed);
    node
}

/// The process id, or a random number in a component.
#[cfg(not(target_family = "wasm"))]
fn process_id() -> u32 {
    std::process::id()
}

/// Includes the time: randomness from before the snapshot is the same in all instances.
#[cfg(target_family = "wasm")]
fn process_id() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let hash = RandomState::new().hash_one(now.as_nanos());
    u32::try_from(hash >> 32).expect("32 bits")
}

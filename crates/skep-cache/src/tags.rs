//! Voids many entries at once: those of a tag, those of a namespace.
//!
//! A tag has an epoch, an entry of its own beside the others: what is not newer than it is void. So invalidating is one
//! write, however many entries have the tag, and takes the way through tiers and machines that every write takes. Where
//! a tag's epoch is missing, because it was evicted, its entries are void: losing it can cost a miss, never show what is stale.
//!
//! Epochs read are kept until the driver's generation changes; where it has none, for the cache's `lag`, or until the driver
//! hears of a change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use crate::clock::{Clock, Time, Version};
use crate::driver::{Driver, Entry, Flags, Header, Record, When};
use crate::error::Result;

/// What is known of epochs.
#[derive(Debug)]
pub(crate) struct Epochs {
    /// The tag that all entries of the namespace have, unwritten.
    namespace: u64,
    /// The namespace's epoch, at the generation `seen`.
    own: AtomicU64,
    seen: AtomicU64,
    /// Invalidations by ourselves: after one, nothing counts as known.
    bumps: AtomicU64,
    lag: u64,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    generation: u64,
    tags: HashMap<u64, Version>,
}

/// What an epoch says of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    Void,
    /// An epoch has to be read first.
    Unknown,
}

/// So far ahead of the time a millisecond is still given to one invalidation alone.
const AHEAD: Duration = Duration::from_millis(50);
/// More epochs than this are not kept at once.
const KNOWN: usize = 65_536;

/// The number of a tag: FNV-1a, the same on all machines. Two tags with one number are invalidated together, which does no harm.
pub(crate) fn hash(tag: &str) -> u64 {
    tag.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Where a tag's epoch is. No namespace begins with 0.
fn key(tag: u64) -> [u8; 12] {
    let mut key = *b"\0tag00000000";
    key[4..].copy_from_slice(&tag.to_be_bytes());
    key
}

fn record(version: Version) -> Record {
    Record::new(&Header { flags: Flags::EPOCH, version, ..Header::default() }, &[], &[])
}

impl Epochs {
    pub(crate) fn new(namespace: &str, lag: Duration) -> Self {
        Self {
            namespace: hash(&format!("\0{namespace}")),
            own: AtomicU64::new(0),
            seen: AtomicU64::new(u64::MAX),
            bumps: AtomicU64::new(0),
            lag: u64::try_from(lag.as_millis()).unwrap_or(u64::MAX).max(1),
            known: RwLock::default(),
        }
    }

    /// The number under which what was read counts as known.
    #[inline]
    pub(crate) fn generation<D: Driver>(&self, driver: &D, now: Time) -> u64 {
        let generation = driver.generation().unwrap_or_else(|| {
            // Spread over all bits, so that no change of the one looks like none because the other changed too.
            let here = driver.generation_here().unwrap_or(0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (now.millis() / self.lag).wrapping_add(here)
        });
        generation.wrapping_add(self.bumps.load(Ordering::Acquire) << 40)
    }

    #[inline]
    pub(crate) fn judge(&self, entry: &Entry<'_>, generation: u64) -> Verdict {
        if self.seen.load(Ordering::Acquire) != generation {
            return Verdict::Unknown;
        }
        if entry.version().to_u64() <= self.own.load(Ordering::Acquire) {
            return Verdict::Void;
        }
        if entry.has_tags() { self.judge_tags(entry, generation) } else { Verdict::Valid }
    }

    fn judge_tags(&self, entry: &Entry<'_>, generation: u64) -> Verdict {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.generation != generation {
            return Verdict::Unknown;
        }
        for tag in entry.tags() {
            match known.tags.get(&tag) {
                None => return Verdict::Unknown,
                Some(&epoch) if entry.version() <= epoch => return Verdict::Void,
                Some(_) => {}
            }
        }
        Verdict::Valid
    }

    /// The same, and reads what is not known.
    pub(crate) async fn judge_now<D: Driver>(
        &self,
        driver: &D,
        clock: &Clock,
        entry: Entry<'_>,
        now: Time,
    ) -> Result<Verdict> {
        let generation = self.prepare(driver, clock, now).await?;
        for tag in entry.tags() {
            if self.known(tag, generation).is_some() {
                continue;
            }
            let Some(epoch) = driver.get(&key(tag), now, |epoch| epoch.version()).await? else {
                return Ok(Verdict::Void);
            };
            self.note(tag, epoch, generation, clock);
            if entry.version() <= epoch {
                return Ok(Verdict::Void);
            }
        }
        Ok(match self.judge(&entry, generation) {
            // Others invalidated meanwhile; not to know is to be on the safe side.
            Verdict::Unknown => Verdict::Void,
            verdict => verdict,
        })
    }

    /// Whether an invalidation voids what was just computed. It need not be stored, so an epoch that is missing tells of none.
    pub(crate) async fn is_void<D: Driver>(
        &self,
        driver: &D,
        clock: &Clock,
        entry: Entry<'_>,
        now: Time,
    ) -> Result<bool> {
        let generation = self.prepare(driver, clock, now).await?;
        if entry.version().to_u64() <= self.own.load(Ordering::Acquire) {
            return Ok(true);
        }
        for tag in entry.tags() {
            let mut epoch = self.known(tag, generation);
            if epoch.is_none() {
                epoch = driver.get(&key(tag), now, |epoch| epoch.version()).await?;
                if let Some(epoch) = epoch {
                    self.note(tag, epoch, generation, clock);
                }
            }
            if epoch.is_some_and(|epoch| entry.version() <= epoch) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the namespace's epoch and those of these tags are known.
    #[inline]
    pub(crate) fn are_known(&self, tags: &[u64], generation: u64) -> bool {
        self.seen.load(Ordering::Acquire) == generation
            && (tags.is_empty() || tags.iter().all(|tag| self.known(*tag, generation).is_some()))
    }

    /// Makes sure that the namespace's epoch is known. Gives back the generation for which it is.
    pub(crate) async fn prepare<D: Driver>(&self, driver: &D, clock: &Clock, now: Time) -> Result<u64> {
        let generation = self.generation(driver, now);
        if self.seen.load(Ordering::Acquire) == generation {
            return Ok(generation);
        }
        let own = self.own_epoch(driver, clock, now).await?;
        clock.observe(own);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *known = Known { generation, tags: HashMap::new() };
        self.own.fetch_max(own.to_u64(), Ordering::AcqRel);
        self.seen.store(generation, Ordering::Release);
        Ok(generation)
    }

    async fn own_epoch<D: Driver>(&self, driver: &D, clock: &Clock, now: Time) -> Result<Version> {
        let key = key(self.namespace);
        if let Some(epoch) = driver.get(&key, now, |epoch| epoch.version()).await? {
            return Ok(epoch);
        }
        let first = clock.version_at(now);
        if driver.set(&key, &record(first), When::Absent, now).await? {
            return Ok(first);
        }
        Ok(driver.get(&key, now, |epoch| epoch.version()).await?.unwrap_or(first))
    }

    /// Makes sure that the tags have epochs, so that an entry of this version, about to be stored, is valid.
    ///
    /// An epoch that is missing here was never made, or was evicted. In the second case an invalidation since this version was
    /// drawn is lost with it: that takes an eviction within the length of one computation.
    pub(crate) async fn ensure<D: Driver>(&self, driver: &D, clock: &Clock, tags: &[u64], at: Version) -> Result<()> {
        let now = clock.now();
        let generation = self.prepare(driver, clock, now).await?;
        for &tag in tags {
            if self.known(tag, generation).is_some() {
                continue;
            }
            let before = Version::from_u64(at.to_u64() - 1);
            let epoch = match driver.get(&key(tag), now, |epoch| epoch.version()).await? {
                Some(epoch) => epoch,
                None if driver.set(&key(tag), &record(before), When::Absent, now).await? => before,
                None => continue,
            };
            self.note(tag, epoch, generation, clock);
        }
        Ok(())
    }

    /// Voids all that is tagged so: entries up to now, and up to `skew` later for who has a clock that is ahead.
    pub(crate) async fn invalidate<D: Driver>(
        &self,
        driver: &D,
        clock: &Clock,
        tag: u64,
        skew: Duration,
    ) -> Result<()> {
        let now = clock.now();
        if let Some(last) = driver.get(&key(tag), now, |epoch| epoch.version()).await? {
            clock.observe(last);
        }
        let at = now.plus(skew);
        let drawn = clock.version_at(at);
        // Others have drawn versions in this millisecond, and theirs may be the higher ones. Who invalidates more often than once in each
        // does not run away from the time with all of its versions.
        let epoch = if drawn.time().since(at) < AHEAD { drawn.last_of_millisecond() } else { drawn };
        clock.observe(epoch);
        // Refused only if somebody invalidated at the same time, which will do.
        driver.set(&key(tag), &record(epoch), When::Newer, now).await?;
        self.bumps.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    pub(crate) async fn invalidate_all<D: Driver>(&self, driver: &D, clock: &Clock, skew: Duration) -> Result<()> {
        self.invalidate(driver, clock, self.namespace, skew).await
    }

    fn known(&self, tag: u64, generation: u64) -> Option<Version> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.generation == generation).then(|| known.tags.get(&tag).copied())?
    }

    /// Keeps what was read, unless something was invalidated since.
    fn note(&self, tag: u64, epoch: Version, generation: u64, clock: &Clock) {
        clock.observe(epoch);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.generation != generation {
            return;
        }
        if known.tags.len() >= KNOWN {
            known.tags.clear();
        }
        known.tags.insert(tag, epoch);
    }
}

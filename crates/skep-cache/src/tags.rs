//! Invalidates all entries of a tag or a namespace at once.
//!
//! A tag has an epoch, stored as an entry: entries of the tag that are not newer are invalid. So invalidation is one
//! write, and reaches tiers and machines as every write does. If a tag's epoch was evicted, its entries are invalid:
//! that costs misses and never revives an entry.
//!
//! Epochs are cached in memory until the driver's generation changes, which it does after each write of an epoch
//! through it: so all caches on a driver see an invalidation by one of them at once. If the generation is not complete,
//! epochs of other processes are read again after the invalidation lag at most.

use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skep_units::{read_lock, write_lock};

use crate::clock::{Clock, Time, Version};
use crate::driver::{Driver, Entry, Flags, Header, Record, Stamp, When};
use crate::error::Result;

#[derive(Debug)]
pub(crate) struct Epochs {
    /// The implicit tag of all entries of the namespace.
    pub(crate) namespace: u64,
    /// The namespace's epoch, at the generation `seen`.
    own: AtomicU64,
    seen: AtomicU64,
    lag: u64,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    generation: u64,
    tags: HashMap<u64, Version>,
}

/// The result of checking an entry against epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    Invalid,
    /// An epoch has to be read first.
    Unknown,
}

/// How far versions may run ahead of the clock while each invalidation takes a millisecond of its own.
const AHEAD: Duration = Duration::from_millis(50);
const KNOWN: usize = 65_536;

/// The hash of a tag: FNV-1a, the same on all machines. Tags that collide are invalidated together, which is harmless.
pub(crate) fn hash(tag: &str) -> u64 {
    tag.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Stands for a tag whose epoch is at least that of every other tag: the highest version that any process can have
/// seen.
const LATEST: u64 = 0;

/// The key of a tag's epoch. No namespace begins with 0.
fn key(tag: u64) -> [u8; 12] {
    let mut key = *b"\0tag00000000";
    key[4..].copy_from_slice(&tag.to_be_bytes());
    key
}

fn record(version: Version) -> Record {
    Record::new(&Header { flags: Flags::EPOCH, version, ..Header::default() }, &[], &[])
}

async fn stored(driver: &impl Driver, tag: u64, now: Time) -> Result<Option<Version>> {
    driver.get(&key(tag), now, |epoch| epoch.version()).await
}

impl Epochs {
    pub(crate) fn new(namespace: &str, lag: Duration) -> Self {
        Self {
            namespace: hash(&format!("\0{namespace}")),
            own: AtomicU64::new(0),
            seen: AtomicU64::new(u64::MAX),
            lag: u64::try_from(lag.as_millis()).unwrap_or(u64::MAX).max(1),
            known: RwLock::default(),
        }
    }

    /// The number under which epochs count as known.
    #[inline]
    pub(crate) fn generation(&self, driver: &impl Driver, now: Time) -> u64 {
        match driver.generation() {
            Stamp::Complete(generation) => generation,
            other => {
                // Spread over all bits, so that a change of one summand is not cancelled by the other.
                let partial = other.number().unwrap_or(0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (now.millis() / self.lag).wrapping_add(partial)
            }
        }
    }

    #[inline]
    pub(crate) fn judge(&self, entry: &Entry<'_>, generation: u64) -> Verdict {
        if self.seen.load(Ordering::Acquire) != generation {
            return Verdict::Unknown;
        }
        if entry.version().to_u64() <= self.own.load(Ordering::Acquire) {
            return Verdict::Invalid;
        }
        if entry.has_tags() { self.judge_tags(entry, generation) } else { Verdict::Valid }
    }

    fn judge_tags(&self, entry: &Entry<'_>, generation: u64) -> Verdict {
        let known = read_lock(&self.known);
        if known.generation != generation {
            return Verdict::Unknown;
        }
        for tag in entry.tags() {
            match known.tags.get(&tag) {
                None => return Verdict::Unknown,
                Some(&epoch) if entry.version() <= epoch => return Verdict::Invalid,
                Some(_) => {}
            }
        }
        Verdict::Valid
    }

    /// As [`judge`](Self::judge), but reads unknown epochs.
    pub(crate) async fn judge_now(
        &self,
        driver: &impl Driver,
        clock: &Clock,
        entry: Entry<'_>,
        now: Time,
    ) -> Result<Verdict> {
        let generation = self.prepare(driver, clock, now).await?;
        for tag in entry.tags() {
            let epoch = self.epoch(driver, clock, tag, generation, now).await?;
            if epoch.is_none_or(|epoch| entry.version() <= epoch) {
                return Ok(Verdict::Invalid);
            }
        }
        Ok(match self.judge(&entry, generation) {
            // Another process invalidated meanwhile: a miss is safe.
            Verdict::Unknown => Verdict::Invalid,
            verdict => verdict,
        })
    }

    /// Whether a tag of a value just computed was invalidated. A missing epoch means that it was not, since the value
    /// need not be stored.
    pub(crate) async fn is_invalidated(
        &self,
        driver: &impl Driver,
        clock: &Clock,
        entry: Entry<'_>,
        now: Time,
    ) -> Result<bool> {
        let generation = self.prepare(driver, clock, now).await?;
        if entry.version().to_u64() <= self.own.load(Ordering::Acquire) {
            return Ok(true);
        }
        for tag in entry.tags() {
            let epoch = self.epoch(driver, clock, tag, generation, now).await?;
            if epoch.is_some_and(|epoch| entry.version() <= epoch) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn epoch(
        &self,
        driver: &impl Driver,
        clock: &Clock,
        tag: u64,
        generation: u64,
        now: Time,
    ) -> Result<Option<Version>> {
        if let Some(epoch) = self.known(tag, generation) {
            return Ok(Some(epoch));
        }
        let epoch = stored(driver, tag, now).await?;
        if let Some(epoch) = epoch {
            self.note(tag, epoch, generation, clock);
        }
        Ok(epoch)
    }

    /// Whether the namespace's epoch and those of these tags are known.
    #[inline]
    pub(crate) fn are_known(&self, tags: &[u64], generation: u64) -> bool {
        self.seen.load(Ordering::Acquire) == generation
            && (tags.is_empty() || tags.iter().all(|tag| self.known(*tag, generation).is_some()))
    }

    /// Reads the namespace's epoch if necessary. Returns the generation for which it is known.
    pub(crate) async fn prepare(&self, driver: &impl Driver, clock: &Clock, now: Time) -> Result<u64> {
        let generation = self.generation(driver, now);
        if self.seen.load(Ordering::Acquire) == generation {
            return Ok(generation);
        }
        let own = self.own_epoch(driver, clock, now).await?;
        clock.observe(own);
        // What is computed from now on is not older than the invalidations so far, whatever their tags.
        stored(driver, LATEST, now).await?.into_iter().for_each(|latest| clock.observe(latest));
        let mut known = write_lock(&self.known);
        *known = Known { generation, tags: HashMap::new() };
        self.own.fetch_max(own.to_u64(), Ordering::AcqRel);
        self.seen.store(generation, Ordering::Release);
        Ok(generation)
    }

    async fn own_epoch(&self, driver: &impl Driver, clock: &Clock, now: Time) -> Result<Version> {
        if let Some(epoch) = stored(driver, self.namespace, now).await? {
            return Ok(epoch);
        }
        let first = clock.version_at(now);
        if driver.set(&key(self.namespace), &record(first), When::Absent, now).await? {
            return Ok(first);
        }
        Ok(stored(driver, self.namespace, now).await?.unwrap_or(first))
    }

    /// Creates missing epochs, so that an entry of this version, about to be stored, is valid.
    ///
    /// A missing epoch never existed or was evicted. If it was evicted after an invalidation during this computation,
    /// that invalidation is lost.
    pub(crate) async fn ensure(&self, driver: &impl Driver, clock: &Clock, tags: &[u64], at: Version) -> Result<()> {
        let now = clock.now();
        let generation = self.prepare(driver, clock, now).await?;
        let before = Version::from_u64(at.to_u64() - 1);
        for &tag in tags {
            if self.epoch(driver, clock, tag, generation, now).await?.is_none()
                && driver.set(&key(tag), &record(before), When::Absent, now).await?
            {
                self.note(tag, before, generation, clock);
            }
        }
        Ok(())
    }

    /// Invalidates all entries of a tag up to now, or up to `skew` later for machines whose clock is ahead.
    pub(crate) async fn invalidate(&self, driver: &impl Driver, clock: &Clock, tag: u64, skew: Duration) -> Result<()> {
        let now = clock.now();
        for tag in [LATEST, tag] {
            stored(driver, tag, now).await?.into_iter().for_each(|last| clock.observe(last));
        }
        let at = now.plus(skew);
        let drawn = clock.version_at(at);
        // Other processes may have drawn higher versions in this millisecond, so take its last one. Frequent
        // invalidations only leave room for some, or versions would run ahead of the clock.
        let is_near = drawn.time().since(at) < AHEAD;
        let epoch = if is_near { drawn.last_of_millisecond() } else { drawn.after_some_draws() };
        clock.observe(epoch);
        // The latest epoch first: who has seen this one draws versions above it, perhaps for an entry of another tag,
        // which the next invalidation of that tag must exceed. Refused only if another process invalidated at the same
        // time, which is as good.
        for tag in [LATEST, tag] {
            driver.set(&key(tag), &record(epoch), When::Newer, now).await?;
        }
        Ok(())
    }

    fn known(&self, tag: u64, generation: u64) -> Option<Version> {
        let known = read_lock(&self.known);
        (known.generation == generation).then(|| known.tags.get(&tag).copied())?
    }

    /// Notes an epoch, unless something was invalidated since it was read.
    fn note(&self, tag: u64, epoch: Version, generation: u64, clock: &Clock) {
        clock.observe(epoch);
        let mut known = write_lock(&self.known);
        if known.generation != generation {
            return;
        }
        if known.tags.len() >= KNOWN {
            known.tags.clear();
        }
        known.tags.insert(tag, epoch);
    }
}

//! A driver in the memory of this process: the fastest tier, lost when the process ends.
//!
//! It starts no thread: expired entries are dropped when they are read or evicted. Eviction is in [`store`].

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::clock::Time;
use crate::driver::{
    Claim, Driver, Entry, Flags, Ready, Record, Removal, Stamp, Token, Usage, When, count, may_replace, tombstone,
};
use crate::error::{Error, Result};

mod store;

use skep_units::lock;
use store::Store;

/// Stores entries in the memory of this process, and evicts the least used.
///
/// ```
/// use skep_cache::{Cache, Memory};
///
/// let cache = Cache::<str, u32>::new("answers", Memory::new(64 << 20))?;
/// cache.blocking().set("life", &42)?;
/// assert_eq!(cache.blocking().get("life")?, Some(42));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    store: Store,
    hasher: crate::hash::Hashing,
    /// Writers of a key lock its stripe, so that checking and storing are atomic.
    stripes: Box<[Mutex<Leases>]>,
    generation: AtomicU64,
    pinned: AtomicU64,
}

type Leases = HashMap<Box<[u8]>, (Token, Time)>;

/// Locks for writers: more than threads are likely to write at the same time.
const STRIPES: usize = 64;
/// A stripe with more leases drops the expired ones.
const LEASES: usize = 64;
/// Epochs that are never evicted; further ones are evicted as other entries.
const PINNED: u64 = 4_096;

impl Memory {
    /// Limits the bytes of keys and entries, plus 96 bytes for each entry.
    ///
    /// One entry may be as large as three quarters of a shard: of the whole cache below 2 MiB, of at least 1 MiB above.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self::bounded(bytes, u64::MAX)
    }

    /// Limits the bytes and, approximately, the number of entries.
    #[must_use]
    pub fn bounded(bytes: u64, entries: u64) -> Self {
        Self {
            store: Store::new(bytes, entries),
            hasher: crate::hash::hashing(),
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            generation: AtomicU64::new(0),
            pinned: AtomicU64::new(0),
        }
    }

    fn lock(&self, key: &[u8]) -> MutexGuard<'_, Leases> {
        let stripe = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or_default() % STRIPES;
        lock(&self.stripes[stripe])
    }

    /// Stores an entry; the caller holds the stripe's lock.
    fn put(&self, key: &[u8], record: Record, when: When) -> Result<()> {
        let epoch = record.entry().flags().has(Flags::EPOCH);
        let pin = epoch && self.pinned.fetch_add(1, Ordering::Relaxed) < PINNED;
        let fits = self.store.insert(key, record, pin);
        if epoch && when != When::Absent {
            self.generation.fetch_add(1, Ordering::Release);
        }
        fits.map_err(|bytes| Error::too_large(bytes, self.store.limit()))
    }
}

impl Driver for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        // By reference: moving the record out of the option would cost a hit measurably.
        let found = self.store.get(key);
        let Some(entry) = found.as_ref().map(Record::entry) else { return Ok(None) };
        if entry.is_live(now) {
            return Ok(Some(read(entry)));
        }
        if !entry.exists(now) {
            self.store.cache.remove_if(key, |found| !found.record.entry().exists(now));
        }
        Ok(None)
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let mut leases = self.lock(key);
        let allowed = match when {
            When::Always => true,
            When::Leased(token) => leases.get(key).is_some_and(|&(held, until)| held == token && now < until),
            _ => {
                let old = self.store.peek(key);
                may_replace(when, record.entry().version(), old.as_ref().map(Record::entry), now)
            }
        };
        if allowed {
            end(&mut leases, key);
            self.put(key, record.clone(), when)?;
        }
        Ok(allowed)
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        let mut leases = self.lock(key);
        end(&mut leases, key);
        let old = self.store.peek(key);
        let old = old.as_ref().map(Record::entry).filter(|old| old.exists(now));
        if now < removal.until {
            self.put(key, tombstone(removal, old), When::Always)?;
        } else {
            self.store.cache.remove(key);
        }
        Ok(old.is_some_and(|old| old.is_live(now)))
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        let mut leases = self.lock(key);
        if leases.get(key).is_some_and(|&(_, until)| now < until) {
            return Ok(None);
        }
        if leases.len() >= LEASES {
            leases.retain(|_, (_, until)| now < *until);
        }
        leases.insert(key.into(), (claim.token, claim.until));
        Ok(Some(claim.token))
    }

    async fn release(&self, key: &[u8], token: Token, _: Time) -> Result<()> {
        let mut leases = self.lock(key);
        if leases.get(key).is_some_and(|&(held, _)| held == token) {
            leases.remove(key);
        }
        Ok(())
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        let mut leases = self.lock(key);
        let old = self.store.peek(key).filter(|old| old.entry().is_live(now));
        let (next, sum, _) = count(old.as_ref(), by, fresh)?;
        end(&mut leases, key);
        self.put(key, next, When::Always)?;
        Ok(sum)
    }

    async fn keys<F: FnMut(&[u8]) + Send>(&self, prefix: &[u8], now: Time, mut each: F) -> Result<()> {
        for (key, found) in self.store.cache.iter() {
            if key.starts_with(prefix) && found.record.entry().is_live(now) {
                each(&key);
            }
        }
        Ok(())
    }

    async fn clear(&self, prefix: &[u8], _: Time) -> Result<()> {
        self.store.cache.retain(|key, _| !key.starts_with(prefix));
        Ok(())
    }

    fn generation(&self) -> Stamp {
        Stamp::Complete(self.generation.load(Ordering::Acquire))
    }

    fn usage(&self) -> Usage {
        self.store.usage()
    }
}

impl Ready for Memory {}

/// Ends the lease on a key. The map is usually empty, and would hash the key nevertheless.
fn end(leases: &mut Leases, key: &[u8]) {
    if !leases.is_empty() {
        leases.remove(key);
    }
}

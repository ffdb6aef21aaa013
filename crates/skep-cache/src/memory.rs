//! A driver in this process: the fastest tier, forgotten when the process ends.
//!
//! It starts no thread: what expired is dropped when it is met or when room is needed. Which entries stay decides
//! [`store`], which has one map for large caches and one for small ones.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::Time;
use crate::driver::{
    Claim, Driver, Entry, Flags, Ready, Record, Removal, Token, Usage, When, count, may_replace, tombstone,
};
use crate::error::{Error, Result};

mod large;
mod small;
mod store;

use store::Store;

/// Keeps entries in this process's memory, the used rather than the unused.
///
/// ```
/// use skep_cache::{Cache, Memory};
///
/// let cache = Cache::<str, u32>::new("answers", Memory::new(64 << 20))?;
/// cache.now().set("life", &42)?;
/// assert_eq!(cache.now().get("life")?, Some(42));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    store: Store,
    hasher: crate::hash::Hashing,
    /// Writes of a key hold its stripe, so that what they check stays true until they are done.
    stripes: Box<[Mutex<Leases>]>,
    generation: AtomicU64,
    pinned: AtomicU64,
}

type Leases = HashMap<Box<[u8]>, (Token, Time)>;

/// Locks for writers: more than threads are likely to write at once.
const STRIPES: usize = 64;
/// A stripe with more leases than this drops those that ended.
const LEASES: usize = 64;
/// So many epochs are kept whatever happens; with more, tags compete for room like all else.
const PINNED: u64 = 4_096;

impl Memory {
    /// At most so many bytes: keys, entries, and 96 bytes for the management of each.
    ///
    /// One entry may be as large as three quarters of a shard: of all of a cache below 2 MiB, of 1 MiB at least of a larger one.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self::bounded(bytes, u64::MAX)
    }

    /// At most so many bytes, and about so many entries: each then weighs at least its share.
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
        self.stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores what its caller has decided to store, under the stripe's lock.
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
        // Looked at where it lies: to take it out of the option moves it, which a hit notices.
        let found = self.store.get(key);
        let Some(entry) = found.as_ref().map(Record::entry) else { return Ok(None) };
        if entry.is_live(now) {
            return Ok(Some(read(entry)));
        }
        if !entry.exists(now) {
            self.store.remove_dead(key, now);
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
            self.store.remove(key);
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

    async fn keys<F>(&self, prefix: &[u8], now: Time, mut each: F) -> Result<()>
    where
        F: FnMut(&[u8]) + Send,
    {
        self.store.each(|key, entry| {
            if key.starts_with(prefix) && entry.is_live(now) {
                each(key);
            }
        });
        Ok(())
    }

    async fn clear(&self, prefix: &[u8], _: Time) -> Result<()> {
        self.store.remove_prefix(prefix);
        Ok(())
    }

    fn generation(&self) -> Option<u64> {
        Some(self.generation.load(Ordering::Acquire))
    }

    fn usage(&self) -> Usage {
        self.store.usage()
    }
}

impl Ready for Memory {}

/// Ends the lease on a key, if there is one. There seldom is any, and an empty map would hash the key all the same.
fn end(leases: &mut Leases, key: &[u8]) {
    if !leases.is_empty() {
        leases.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::driver::{Header, ready};

    /// Bytes of a cache that `store` takes for a small one.
    const SMALL: u64 = 400 << 10;

    fn fill(memory: &Memory, entries: u32, bytes: usize) {
        let now = Clock::manual().now();
        let record = Record::new(&Header::default(), &[], &vec![b'x'; bytes]);
        for key in 0..entries {
            ready(memory.set(&key.to_le_bytes(), &record, When::Always, now)).unwrap();
        }
    }

    #[test]
    fn the_bound_in_bytes_is_kept() {
        for bytes in [1 << 20, SMALL] {
            let memory = Memory::new(bytes);
            fill(&memory, 10_000, 1_000);
            let usage = memory.usage();
            assert!((bytes * 3 / 4..=bytes).contains(&usage.bytes.unwrap()), "{usage:?}");
            assert!(usage.evicted.unwrap() > 8_000, "{usage:?}");
        }
    }

    #[test]
    fn the_bound_in_entries_is_kept() {
        for bytes in [64 << 20, 1 << 20, SMALL] {
            let memory = Memory::bounded(bytes, 1_000);
            fill(&memory, 10_000, 10);
            let entries = memory.usage().entries.unwrap();
            assert!((800..=1_000).contains(&entries), "{entries} in {bytes} bytes");
        }
    }

    #[test]
    fn what_is_larger_than_a_shard_is_refused_and_replaces_nothing_silently() {
        [1 << 20, SMALL].map(Memory::new).iter().for_each(refuses_what_is_too_large);
    }

    fn refuses_what_is_too_large(memory: &Memory) {
        let now = Clock::manual().now();
        fill(memory, 1, 10);
        let large = Record::new(&Header::default(), &[], &vec![0; 2 << 20]);
        let refused = ready(memory.set(&0_u32.to_le_bytes(), &large, When::Always, now)).unwrap_err();
        assert!(refused.is_too_large(), "{refused}");
        let got = ready(memory.get(&0_u32.to_le_bytes(), now, |entry| entry.value().len())).unwrap();
        assert_eq!(got, None, "the old value is not the last that was set");
        let fits = Record::new(&Header::default(), &[], &vec![0; memory.store.limit() - 1_000]);
        assert!(ready(memory.set(b"large", &fits, When::Always, now)).unwrap());
        assert!(ready(memory.get(b"large", now, |_| ())).unwrap().is_some());
    }

    #[test]
    fn the_epochs_of_tags_are_kept_when_others_are_evicted() {
        for bytes in [1 << 20, SMALL] {
            let memory = Memory::new(bytes);
            let now = Clock::manual().now();
            let epoch = Record::new(&Header { flags: Flags::EPOCH, ..Header::default() }, &[], &[]);
            ready(memory.set(b"epoch", &epoch, When::Always, now)).unwrap();
            fill(&memory, 10_000, 1_000);
            assert!(ready(memory.get(b"epoch", now, |_| ())).unwrap().is_some());
        }
    }
}

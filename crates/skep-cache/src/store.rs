//! The small trait for backends that know only bytes, and the driver made of one.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;

use crate::clock::{Time, Version};
use crate::driver::{ATTEMPTS, Driver, Entry, EpochWrites, Record, Removal, Stamp, When};
use crate::error::{Error, Result};
use crate::flight::{Leader, Role, SingleFlight};
use crate::slot::{Change, Operation, Outcome, Stored, operations, show};

/// What a backend must do to become a driver: get, set with an expiry, and remove bytes under a key.
///
/// [`StoreDriver`] adds the rest of the [`Driver`] contract: conditions, leases, tombstones and counters.
/// `docs/guides/extend/cache-driver.md` shows a whole driver of 40 lines.
pub trait KeyValueStore: Send + Sync + 'static {
    /// The name for logs and statistics.
    fn name(&self) -> &'static str;

    /// The bytes under a key.
    fn get(&self, key: &[u8]) -> impl Future<Output = Result<Option<Bytes>>> + Send;

    /// Stores bytes. They may be dropped after `ttl` and must not be dropped much earlier; `None` does not expire.
    fn set(&self, key: &[u8], value: Bytes, ttl: Option<Duration>) -> impl Future<Output = Result<()>> + Send;

    /// Removes the bytes under a key.
    fn remove(&self, key: &[u8]) -> impl Future<Output = Result<()>> + Send;

    /// Stores `value` (or removes the key for `None`) if the key still holds `expected`. Whether it did.
    ///
    /// The default compares and stores in two steps. [`StoreDriver`] makes that atomic among its callers in this
    /// process. Override it with an atomic operation of the backend if several processes write to it.
    fn compare_and_set(
        &self,
        key: &[u8],
        expected: Option<&[u8]>,
        value: Option<Bytes>,
        ttl: Option<Duration>,
    ) -> impl Future<Output = Result<bool>> + Send {
        async move {
            if self.get(key).await?.as_deref() != expected {
                return Ok(false);
            }
            match value {
                Some(value) => self.set(key, value, ttl).await?,
                None => self.remove(key).await?,
            }
            Ok(true)
        }
    }
}

/// A [`Driver`] made of a [`KeyValueStore`].
///
/// Clocks of machines differ, so the store keeps bytes two seconds longer than their entry; the entry's header decides.
#[derive(Debug)]
pub struct StoreDriver<S> {
    store: S,
    /// One writer for each key at a time.
    writers: SingleFlight<()>,
    epochs: EpochWrites,
}

/// Added to each time to live.
const SLACK: Duration = Duration::from_secs(2);

impl<S: KeyValueStore> StoreDriver<S> {
    /// Makes a driver.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, writers: SingleFlight::default(), epochs: EpochWrites::default() }
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Waits until no other caller in this process writes the key.
    async fn lock(&self, key: &[u8]) -> Leader<'_, ()> {
        loop {
            match self.writers.join(key) {
                Role::Leader(leader) => return leader,
                Role::Follower(follower) => drop(follower.await),
            }
        }
    }

    /// Reads, decides, and writes back if nobody wrote in between.
    async fn apply(&self, key: &[u8], operation: Operation, now: Time) -> Result<Outcome> {
        let _guard = self.lock(key).await;
        for _ in 0..ATTEMPTS {
            let old = self.store.get(key).await?;
            let (change, outcome) = operation.apply(old.as_deref().unwrap_or_default(), now)?;
            let (value, ttl) = match change {
                Change::Keep => return Ok(outcome),
                Change::Drop if old.is_none() => return Ok(outcome),
                Change::Drop => (None, None),
                Change::Put(stored) => (Some(Bytes::from(stored.parts().concat())), ttl(stored.ends, now)),
            };
            if self.store.compare_and_set(key, old.as_deref(), value, ttl).await? {
                return Ok(outcome);
            }
        }
        Err(Error::contended(ATTEMPTS))
    }
}

fn ttl(ends: Time, now: Time) -> Option<Duration> {
    (ends < Time::NEVER).then(|| ends.since(now) + SLACK)
}

impl<S: KeyValueStore> Driver for StoreDriver<S> {
    fn name(&self) -> &'static str {
        self.store.name()
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let Some(bytes) = self.store.get(key).await? else { return Ok(None) };
        let shown = show(&bytes, now, read);
        if shown.is_err() {
            self.apply(key, Operation::Remove(Removal { version: Version::ZERO, until: now }), now).await?;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.epochs.during(record, when);
        if when != When::Always || !record.entry().exists(now) {
            return Ok(self.apply(key, Operation::Set(record.clone(), when), now).await?.done());
        }
        let _guard = self.lock(key).await;
        let stored = Stored::plain(record);
        self.store.set(key, stored.entry, ttl(stored.ends, now)).await.map(|()| true)
    }

    operations!(apply await);

    fn generation(&self) -> Stamp {
        self.epochs.stamp()
    }
}

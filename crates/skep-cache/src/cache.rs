//! Typed values over a driver.
//!
//! Plain reads and writes are here, misses in [`compute`], access to the driver in [`inner`].

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blocking::BlockingCache;
use crate::clock::Time;
use crate::codec::{Codec, Postcard};
use crate::driver::{ATTEMPTS, Driver, Header, Ready, Usage};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::policy::EntryPolicy;
use crate::stats::{Count, Stats};

mod builder;
mod compute;
mod inner;
mod value;

pub use builder::Builder;
use inner::Inner;

/// The default driver.
#[cfg(feature = "memory")]
pub(crate) type Usual = crate::Memory;
#[cfg(not(feature = "memory"))]
pub(crate) type Usual = crate::Null;

/// Values of type `V` under keys of type `K`, in the driver `D`, encoded by `C`. Clones share everything.
///
/// [`blocking`](Cache::blocking) has the same methods without `await`. A failure of the driver is a miss for reads, and
/// `false` for writes; it is counted, logged (target `skep_cache`) and opens a circuit breaker. [`Builder::errors`]
/// makes it an error.
///
/// See [the crate](crate) for an example.
pub struct Cache<K: ?Sized, V, D = Usual, C = Postcard> {
    inner: Arc<Inner<D, C>>,
    types: PhantomData<fn(&K) -> V>,
}

impl<K: ?Sized, V> Cache<K, V> {
    /// Starts a cache with settings. The namespace separates its keys from those of other caches on the same driver.
    /// See [`Cache`] for an example.
    pub fn builder(namespace: &str) -> Builder<K, V> {
        Builder::new(namespace)
    }
}

impl<K: ?Sized, V, D: Driver> Cache<K, V, D> {
    /// A cache with the default settings: a TTL of an hour, encoded with postcard.
    ///
    /// # Errors
    ///
    /// If the namespace is empty, longer than 64 bytes or contains a zero byte.
    pub fn new(namespace: &str, driver: D) -> Result<Self> {
        Builder::new(namespace).build(driver)
    }
}

impl<K: Serialize + ?Sized, V: Send, D: Driver, C: Codec<V>> Cache<K, V, D, C> {
    /// The fresh value, if there is one.
    pub async fn get(&self, key: &K) -> Result<Option<V>> {
        let mut encoded = Key::empty();
        self.inner.prefix.write(key, &mut encoded)?;
        self.inner.fresh(&encoded, |value| value.decode(&self.inner.codec)).await
    }

    /// Passes the encoded value to `read`, without decoding it, and without copying it if the driver allows.
    ///
    /// See [`Raw`](crate::Raw) for bytes that are values, [`Codec`] for an example.
    pub async fn read<R: Send>(&self, key: &K, read: impl FnOnce(&[u8]) -> R + Send) -> Result<Option<R>> {
        let mut encoded = Key::empty();
        self.inner.prefix.write(key, &mut encoded)?;
        self.inner.fresh(&encoded, |value| value.with_bytes(read)).await
    }

    /// The values of several keys, in their order.
    pub async fn get_many<'k>(&self, keys: impl IntoIterator<Item = &'k K>) -> Result<Vec<Option<V>>>
    where
        K: 'k,
    {
        let keys = keys.into_iter().map(|key| self.inner.prefix.key(key)).collect::<Result<Vec<_>>>()?;
        self.inner.fresh_many(&keys, |value| value.decode(&self.inner.codec)).await
    }

    /// Stores a value with the default policy. Whether it was stored: `false` if the driver failed.
    pub async fn set(&self, key: &K, value: &V) -> Result<bool> {
        self.set_with(key, value, &self.inner.policy).await
    }

    /// Stores a value with a policy of its own.
    pub async fn set_with(&self, key: &K, value: &V, policy: &EntryPolicy) -> Result<bool> {
        let mut encoded = Key::empty();
        self.inner.prefix.write(key, &mut encoded)?;
        let now = self.inner.clock.now();
        let Some(version) = self.inner.ready_to_write(&policy.tags, now).await? else { return Ok(false) };
        let header = policy.header(false, version, now, self.inner.rules.grace());
        let record = self.inner.encode::<V>(&header, &policy.tags, Some(value))?;
        self.inner.store(&encoded, &record, now).await
    }

    /// Stores a negative entry: `get_or_none` does not compute until it expires. Whether it was stored.
    pub async fn set_none(&self, key: &K) -> Result<bool> {
        let key = self.inner.prefix.key(key)?;
        let (now, policy) = (self.inner.clock.now(), &self.inner.policy);
        let Some(version) = self.inner.ready_to_write(&policy.tags, now).await? else { return Ok(false) };
        let header = policy.header(true, version, now, self.inner.rules.grace());
        let record = self.inner.encode::<V>(&header, &policy.tags, None)?;
        self.inner.store(&key, &record, now).await
    }

    /// Stores several values with the default policy. Whether they were stored: `false` if the driver failed.
    pub async fn set_many<'k>(&self, entries: impl IntoIterator<Item = (&'k K, &'k V)>) -> Result<bool>
    where
        K: 'k,
        V: 'k,
    {
        let (inner, now) = (&*self.inner, self.inner.clock.now());
        let Some(version) = inner.ready_to_write(&inner.policy.tags, now).await? else { return Ok(false) };
        let mut records = Vec::new();
        for (key, value) in entries {
            let header = inner.policy.header(false, version, now, inner.rules.grace());
            records.push((inner.prefix.key(key)?, inner.encode::<V>(&header, &inner.policy.tags, Some(value))?));
        }
        inner.store_many(&records, now).await
    }

    /// Removes the value. Whether there was one. The results of computations in flight are not stored.
    ///
    /// # Errors
    ///
    /// Always if the driver fails: the value may still be there. Tried even while the circuit breaker is open.
    pub async fn remove(&self, key: &K) -> Result<bool> {
        let key = self.inner.prefix.key(key)?;
        self.inner.remove(&key).await
    }

    /// Invalidates all entries of this namespace, of every schema, in all tiers and on all machines, with one write.
    /// Frees their space if the driver can.
    ///
    /// # Errors
    ///
    /// Always if the driver fails: the entries may still be found. Tried even while the circuit breaker is open.
    pub async fn clear(&self) -> Result<()> {
        self.inner.clear().await
    }

    /// Invalidates all entries with this tag, of all caches on this driver, with one write. See [`EntryPolicy::tag`].
    ///
    /// Takes effect in this process when it returns; in others at once or within [`Builder::invalidation_lag`],
    /// depending on the driver. Between machines it is as exact as their clocks (see [`Builder::clock_skew`]).
    ///
    /// # Errors
    ///
    /// As [`clear`](Cache::clear).
    pub async fn invalidate_tag(&self, tag: &str) -> Result<()> {
        self.inner.invalidate(crate::tags::hash(tag)).await
    }

    /// The same by the tag's id, as [`EntryPolicy::tags`] has it.
    ///
    /// # Errors
    ///
    /// As [`clear`](Cache::clear).
    pub async fn invalidate_tag_id(&self, tag: u64) -> Result<()> {
        self.inner.invalidate(tag).await
    }

    /// Changes a value atomically and returns the new one. `change` gets the current value, and is called again if
    /// another write came between.
    ///
    /// ```
    /// use skep_cache::{Cache, Memory};
    ///
    /// let cache = Cache::<str, Vec<u32>>::new("numbers", Memory::new(1 << 20))?;
    /// cache.blocking().update("primes", |primes| [primes.unwrap_or_default(), vec![2]].concat())?;
    /// assert_eq!(cache.blocking().update("primes", |primes| [primes.unwrap_or_default(), vec![3]].concat())?, [2, 3]);
    /// # Ok::<(), skep_cache::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Always if the driver fails. If other writes came between a hundred times.
    pub async fn update(&self, key: &K, change: impl FnMut(Option<V>) -> V + Send) -> Result<V> {
        self.update_with(key, &self.inner.policy, change).await
    }

    /// As [`update`](Cache::update), with a policy of its own.
    pub async fn update_with(
        &self,
        key: &K,
        policy: &EntryPolicy,
        mut change: impl FnMut(Option<V>) -> V + Send,
    ) -> Result<V> {
        let key = self.inner.prefix.key(key)?;
        for _ in 0..ATTEMPTS {
            let (old, when) = self.inner.for_update(&key, |value| value.decode(&self.inner.codec)).await?;
            let value = change(old);
            if self.inner.replace(&key, &value, policy, when).await? {
                return Ok(value);
            }
        }
        Err(Error::contended(ATTEMPTS))
    }

    /// Adds to the counter under this key and returns the sum. A counter starts at 0 with the default policy.
    ///
    /// # Errors
    ///
    /// Always if the driver fails. If the key holds a value that is not a counter.
    pub async fn increment(&self, key: &K, by: i64) -> Result<i64> {
        let key = self.inner.prefix.key(key)?;
        self.inner.increment(&key, by).await
    }

    /// The counter under this key.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's name is not general enough for rustc")]
    pub async fn counter(&self, key: &K) -> Result<Option<i64>> {
        let key = self.inner.prefix.key(key)?;
        self.inner.fresh(&key, |value| value.number()).await
    }

    /// Sets the TTL of an entry, from now. Whether there was one.
    pub async fn touch(&self, key: &K, ttl: Duration) -> Result<bool> {
        let key = self.inner.prefix.key(key)?;
        self.inner.touch(&key, ttl).await
    }

    /// When the entry stops being fresh, if there is a fresh one.
    pub async fn expires_at(&self, key: &K) -> Result<Option<Time>> {
        Ok(self.header(key).await?.map(|header| header.fresh_until))
    }

    /// The header of the entry, if there is a fresh one.
    pub async fn header(&self, key: &K) -> Result<Option<Header>> {
        let key = self.inner.prefix.key(key)?;
        self.inner.fresh_header(&key).await
    }

    /// The keys of this cache, in no order. Keys of more than about 180 bytes, which are stored as digests, are
    /// missing.
    ///
    /// # Errors
    ///
    /// [`Error::is_unsupported`] if the driver cannot list its keys.
    pub async fn keys<O: DeserializeOwned + Send>(&self) -> Result<Vec<O>> {
        self.inner.keys().await
    }
}

impl<K: ?Sized, V, D: Driver, C> Cache<K, V, D, C> {
    /// The counters since the cache was built.
    pub fn stats(&self) -> Stats {
        self.inner.counters.stats(self.inner.breaker.is_open())
    }

    /// How much the driver stores, of all caches on it.
    pub fn usage(&self) -> Usage {
        self.inner.driver.usage()
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.inner.driver
    }
}

impl<K: ?Sized, V, D: Ready, C> Cache<K, V, D, C> {
    /// The same methods without `await` or a runtime. A caller that waits for another thread's computation blocks.
    pub fn blocking(&self) -> BlockingCache<'_, K, V, D, C> {
        BlockingCache::new(self)
    }
}

impl<K: ?Sized, V, D, C> Clone for Cache<K, V, D, C> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), types: PhantomData }
    }
}

impl<K: ?Sized, V, D: Driver, C> fmt::Debug for Cache<K, V, D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("driver", &self.inner.driver.name()).field("stats", &self.stats()).finish()
    }
}

/// How long a tombstone refuses older writes. Longer than a write is likely to take.
const REMOVAL: Duration = Duration::from_mins(1);

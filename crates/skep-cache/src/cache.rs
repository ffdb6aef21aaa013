//! Typed values over a driver.
//!
//! What is stored and read as is stands here; what is computed on a miss, in [`compute`]; the way to the driver, which fails
//! and rests, in [`inner`].

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock::Time;
use crate::codec::{Codec, Postcard};
use crate::driver::{Driver, Header, Ready, Usage};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::life::Life;
use crate::now::Now;
use crate::stats::{Count, Stats};

mod builder;
mod compute;
mod inner;
mod packed;
mod value;
mod voiding;

pub use builder::Builder;
use inner::Inner;

/// The driver of who does not name one.
#[cfg(feature = "memory")]
pub(crate) type Usual = crate::Memory;
#[cfg(not(feature = "memory"))]
pub(crate) type Usual = crate::Null;

/// Values of type `V` under keys of type `K`, in the driver `D`, encoded by `C`. Clones share everything.
///
/// With an async driver each method is awaited; [`now`](Cache::now) has the same methods for sync programs.
/// A driver that fails is a miss: reads find nothing, writes say that they did not store. It is counted, logged (target `skep_cache`) and
/// rested for a while; [`Builder::errors`] makes it an error instead.
///
/// ```
/// # skep_cache::driver::block_on(async {
/// use std::time::Duration;
/// use skep_cache::{Cache, Memory};
///
/// let posts = Cache::<u32, String>::builder("posts")
///     .ttl(Duration::from_secs(60))
///     .stale(Duration::from_secs(600))
///     .build(Memory::new(64 << 20))?;
///
/// let post = posts.get_or(&7, || async { std::fs::read_to_string("Cargo.toml") }).await?;
/// assert_eq!(posts.get(&7).await?, Some(post));
/// # Ok::<(), skep_cache::Error>(())
/// # }).unwrap();
/// ```
pub struct Cache<K: ?Sized, V, D = Usual, C = Postcard> {
    inner: Arc<Inner<D, C>>,
    types: PhantomData<fn(&K) -> V>,
}

impl<K: ?Sized, V> Cache<K, V> {
    /// Begins a cache with settings of its own. The namespace keeps its keys apart from those of other caches on the same
    /// driver; see [`Cache`] for an example.
    pub fn builder(namespace: &str) -> Builder<K, V> {
        Builder::new(namespace)
    }
}

impl<K: ?Sized, V, D: Driver> Cache<K, V, D> {
    /// A cache with the usual settings: an hour to live, encoded with postcard.
    ///
    /// # Errors
    ///
    /// If the namespace is empty, longer than 64 bytes or has a zero byte in it.
    pub fn new(namespace: &str, driver: D) -> Result<Self> {
        Builder::new(namespace).build(driver)
    }
}

impl<K, V, D, C> Cache<K, V, D, C>
where
    K: Serialize + ?Sized,
    V: Send,
    D: Driver,
    C: Codec<V>,
{
    /// The value, if there is a fresh one.
    pub async fn get(&self, key: &K) -> Result<Option<V>> {
        let mut encoded = Key::unwritten();
        self.inner.prefix.write(key, &mut encoded)?;
        self.inner.fresh(&encoded, |value| value.decode(&self.inner.codec)).await
    }

    /// Shows the value's bytes, as the codec wrote them, to `read`: nothing is decoded, nor copied where the driver can lend.
    ///
    /// See [`Raw`](crate::Raw) for bytes that are values, [`Codec`] for an example.
    pub async fn read<R: Send>(&self, key: &K, read: impl FnOnce(&[u8]) -> R + Send) -> Result<Option<R>> {
        let mut encoded = Key::unwritten();
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

    /// Stores a value, to live as the cache says. Whether it was stored: not if the driver failed.
    pub async fn set(&self, key: &K, value: &V) -> Result<bool> {
        self.set_for(key, value, &self.inner.life).await
    }

    /// Stores a value with a life of its own. See [`Life`].
    pub async fn set_for(&self, key: &K, value: &V, life: &Life) -> Result<bool> {
        let mut encoded = Key::unwritten();
        self.inner.prefix.write(key, &mut encoded)?;
        let now = self.inner.clock.now();
        let Some(version) = self.inner.ready_to_write(&life.tags, now).await? else { return Ok(false) };
        let header = life.header(false, version, now, self.inner.rules.grace());
        let record = self.inner.encode::<V>(&header, &life.tags, Some(value))?;
        self.inner.store(&encoded, &record, now).await
    }

    /// Stores that there is no value: `get_or_none` does not ask again until then. Whether it was stored.
    pub async fn set_none(&self, key: &K) -> Result<bool> {
        let key = self.inner.prefix.key(key)?;
        let (now, life) = (self.inner.clock.now(), &self.inner.life);
        let Some(version) = self.inner.ready_to_write(&life.tags, now).await? else { return Ok(false) };
        let header = life.header(true, version, now, self.inner.rules.grace());
        let record = self.inner.encode::<V>(&header, &life.tags, None)?;
        self.inner.store(&key, &record, now).await
    }

    /// Stores several values, to live as the cache says. Whether they were stored: not if the driver failed.
    pub async fn set_many<'k>(&self, entries: impl IntoIterator<Item = (&'k K, &'k V)>) -> Result<bool>
    where
        K: 'k,
        V: 'k,
    {
        let (inner, now) = (&*self.inner, self.inner.clock.now());
        let Some(version) = inner.ready_to_write(&inner.life.tags, now).await? else { return Ok(false) };
        let mut records = Vec::new();
        for (key, value) in entries {
            let header = inner.life.header(false, version, now, inner.rules.grace());
            records.push((inner.prefix.key(key)?, inner.encode::<V>(&header, &inner.life.tags, Some(value))?));
        }
        inner.store_many(&records, now).await
    }

    /// Removes the value. Whether there was one. What others are computing from what was true before is not stored.
    ///
    /// # Errors
    ///
    /// If the driver fails, whatever the policy: the value may still be there. It is asked even while it rests.
    pub async fn remove(&self, key: &K) -> Result<bool> {
        let key = self.inner.prefix.key(key)?;
        self.inner.remove(&key).await
    }

    /// Voids all entries of this namespace, whichever schema, in all tiers and on all machines: one write. Frees their room where the
    /// driver can.
    ///
    /// # Errors
    ///
    /// If the driver fails, whatever the policy: what should be void may still be found. It is asked even while it rests.
    pub async fn clear(&self) -> Result<()> {
        self.inner.clear().await
    }

    /// Voids all entries with this tag, of all caches on this driver: one write, however many they are. See [`Life::tag`].
    ///
    /// In this process it holds from when it returns; in others at once, or within [`Builder::lag`], as the driver can tell. Between
    /// machines it is as exact as their clocks (see [`Builder::skew`]).
    ///
    /// # Errors
    ///
    /// As [`clear`](Cache::clear).
    pub async fn invalidate_tag(&self, tag: &str) -> Result<()> {
        self.inner.invalidate(tag).await
    }

    /// Changes a value in one step that no other write comes between: `change` gets what is there, and is called again
    /// when another was faster. Gives back what is stored now.
    ///
    /// ```
    /// use skep_cache::{Cache, Memory};
    ///
    /// let cache = Cache::<str, Vec<u32>>::new("numbers", Memory::new(1 << 20))?;
    /// cache.now().update("primes", |primes| [primes.unwrap_or_default(), vec![2]].concat())?;
    /// assert_eq!(cache.now().update("primes", |primes| [primes.unwrap_or_default(), vec![3]].concat())?, [2, 3]);
    /// # Ok::<(), skep_cache::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the driver fails, whatever the policy: nobody should take for done what is not. If others were faster a hundred times.
    pub async fn update(&self, key: &K, change: impl FnMut(Option<V>) -> V + Send) -> Result<V> {
        self.update_for(key, &self.inner.life, change).await
    }

    /// The same, and what is stored has a life of its own from now on. See [`Life`].
    ///
    /// # Errors
    ///
    /// As [`update`](Cache::update).
    pub async fn update_for(&self, key: &K, life: &Life, mut change: impl FnMut(Option<V>) -> V + Send) -> Result<V> {
        let key = self.inner.prefix.key(key)?;
        for _ in 0..ATTEMPTS {
            let (old, when) = self.inner.for_update(&key, |value| value.decode(&self.inner.codec)).await?;
            let value = change(old);
            if self.inner.replace(&key, &value, life, when).await? {
                return Ok(value);
            }
        }
        Err(Error::contended(ATTEMPTS))
    }

    /// Adds to the counter under this key, and gives back the sum. A counter begins at 0 and lives as the cache says.
    ///
    /// # Errors
    ///
    /// If the driver fails, whatever the policy. If a value and not a counter is there.
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

    /// Makes an entry live so long from now on. Whether there was one.
    pub async fn touch(&self, key: &K, ttl: Duration) -> Result<bool> {
        let key = self.inner.prefix.key(key)?;
        self.inner.touch(&key, ttl).await
    }

    /// Until when the entry is fresh, if there is one that is.
    pub async fn expires_at(&self, key: &K) -> Result<Option<Time>> {
        Ok(self.header(key).await?.map(|header| header.fresh_until))
    }

    /// All that is noted about an entry, if there is a fresh one.
    pub async fn header(&self, key: &K) -> Result<Option<Header>> {
        let key = self.inner.prefix.key(key)?;
        self.inner.fresh_header(&key).await
    }

    /// The keys of this cache, in no order, at a moment that is gone when you read them. Keys so long that they became digests
    /// (more than about 180 bytes) are not among them.
    ///
    /// # Errors
    ///
    /// [`Error::is_unsupported`] if the driver cannot list its keys.
    pub async fn keys<O: DeserializeOwned + Send>(&self) -> Result<Vec<O>> {
        self.inner.keys().await
    }
}

impl<K: ?Sized, V, D: Driver, C> Cache<K, V, D, C> {
    /// What it has counted since it was made.
    pub fn stats(&self) -> Stats {
        self.inner.counters.stats(self.inner.breaker.is_open())
    }

    /// How much the driver keeps, of all caches on it.
    pub fn usage(&self) -> Usage {
        self.inner.driver.usage()
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.inner.driver
    }
}

impl<K: ?Sized, V, D: Ready, C> Cache<K, V, D, C> {
    /// The same methods for sync programs: no runtime, no `await`. Who waits for another thread's computation blocks.
    pub fn now(&self) -> Now<'_, K, V, D, C> {
        Now::new(self)
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

/// How often `update` tries.
const ATTEMPTS: u32 = 100;
/// How long the mark of a removal refuses what is older. Longer than a value is likely to be on its way.
const REMOVAL: Duration = Duration::from_mins(1);

//! The blocking API of the cache, for programs without a runtime.

use std::error::Error as StdError;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::block::block_on;
use crate::cache::Cache;
use crate::clock::Time;
use crate::codec::Codec;
use crate::driver::Ready;
use crate::error::Result;
use crate::policy::{Computed, EntryPolicy};

/// The methods of a [`Cache`] without `await`, for a [`Ready`] driver. From [`Cache::blocking`].
///
/// Needs no runtime. `get_or` blocks while another thread or process computes the same value.
///
/// ```
/// use skep_cache::{Cache, Memory};
///
/// let cache = Cache::<str, u32>::new("answers", Memory::new(1 << 20))?;
/// let answer = cache.blocking().get_or("life", || Ok::<_, std::io::Error>(42))?;
/// assert_eq!(answer, 42);
/// assert_eq!(cache.blocking().increment("asked", 1)?, 1);
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockingCache<'a, K: ?Sized, V, D: Ready, C>(&'a Cache<K, V, D, C>);

impl<'a, K: ?Sized, V, D: Ready, C> BlockingCache<'a, K, V, D, C> {
    pub(crate) fn new(cache: &'a Cache<K, V, D, C>) -> Self {
        Self(cache)
    }
}

impl<K, V, D, C> BlockingCache<'_, K, V, D, C>
where
    K: Serialize + ?Sized,
    V: Send,
    D: Ready,
    C: Codec<V>,
{
    /// The fresh value, if there is one. See [`Cache::get`].
    #[inline]
    pub fn get(&self, key: &K) -> Result<Option<V>> {
        block_on(self.0.get(key))
    }

    /// Stores a value. See [`Cache::set`].
    #[inline]
    pub fn set(&self, key: &K, value: &V) -> Result<bool> {
        block_on(self.0.set(key, value))
    }

    /// Stores a value with a policy of its own. See [`Cache::set_with`].
    #[inline]
    pub fn set_with(&self, key: &K, value: &V, policy: &EntryPolicy) -> Result<bool> {
        block_on(self.0.set_with(key, value, policy))
    }

    /// Stores a negative entry. See [`Cache::set_none`].
    #[inline]
    pub fn set_none(&self, key: &K) -> Result<bool> {
        block_on(self.0.set_none(key))
    }

    /// Removes the value. See [`Cache::remove`].
    #[inline]
    pub fn remove(&self, key: &K) -> Result<bool> {
        block_on(self.0.remove(key))
    }

    /// Invalidates all entries of this namespace. See [`Cache::clear`].
    #[inline]
    pub fn clear(&self) -> Result<()> {
        block_on(self.0.clear())
    }

    /// Invalidates all entries with this tag. See [`Cache::invalidate_tag`].
    #[inline]
    pub fn invalidate_tag(&self, tag: &str) -> Result<()> {
        block_on(self.0.invalidate_tag(tag))
    }

    /// Adds to a counter. See [`Cache::increment`].
    #[inline]
    pub fn increment(&self, key: &K, by: i64) -> Result<i64> {
        block_on(self.0.increment(key, by))
    }

    /// The counter under this key. See [`Cache::counter`].
    #[inline]
    pub fn counter(&self, key: &K) -> Result<Option<i64>> {
        block_on(self.0.counter(key))
    }

    /// Sets the TTL of an entry, from now. See [`Cache::touch`].
    #[inline]
    pub fn touch(&self, key: &K, ttl: Duration) -> Result<bool> {
        block_on(self.0.touch(key, ttl))
    }

    /// When the entry stops being fresh. See [`Cache::expires_at`].
    #[inline]
    pub fn expires_at(&self, key: &K) -> Result<Option<Time>> {
        block_on(self.0.expires_at(key))
    }

    /// Passes the encoded value to `read`. See [`Cache::read`].
    #[inline]
    pub fn read<R: Send>(&self, key: &K, read: impl FnOnce(&[u8]) -> R + Send) -> Result<Option<R>> {
        block_on(self.0.read(key, read))
    }

    /// The values of several keys. See [`Cache::get_many`].
    pub fn get_many<'k>(&self, keys: impl IntoIterator<Item = &'k K>) -> Result<Vec<Option<V>>>
    where
        K: 'k,
    {
        block_on(self.0.get_many(keys))
    }

    /// Stores several values. See [`Cache::set_many`].
    pub fn set_many<'k>(&self, entries: impl IntoIterator<Item = (&'k K, &'k V)>) -> Result<bool>
    where
        K: 'k,
        V: 'k,
    {
        block_on(self.0.set_many(entries))
    }

    /// Changes a value atomically. See [`Cache::update`].
    pub fn update(&self, key: &K, change: impl FnMut(Option<V>) -> V + Send) -> Result<V> {
        block_on(self.0.update(key, change))
    }

    /// The keys of this cache. See [`Cache::keys`].
    pub fn keys<O: DeserializeOwned + Send>(&self) -> Result<Vec<O>> {
        block_on(self.0.keys())
    }

    /// The value; on a miss, the result of `compute`. See [`Cache::get_or`]. Timeouts cannot interrupt `compute`, which blocks its
    /// thread.
    pub fn get_or<A, E>(&self, key: &K, compute: impl FnOnce() -> Result<A, E>) -> Result<V>
    where
        A: Into<Computed<V>>,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        block_on(self.0.get_or(key, || async { compute() }))
    }

    /// The same where there may be no value. See [`Cache::get_or_none`].
    pub fn get_or_none<A, E>(&self, key: &K, compute: impl FnOnce() -> Result<Option<A>, E>) -> Result<Option<V>>
    where
        A: Into<Computed<V>>,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        block_on(self.0.get_or_none(key, || async { compute() }))
    }
}

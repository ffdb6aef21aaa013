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

/// Methods that block on the method of the same name.
macro_rules! blocking {
    ($($(#[$meta:meta])* pub fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            $(#[$meta])*
            #[inline]
            pub fn $name(&self, $($argument: $type),*) -> $result {
                block_on(self.0.$name($($argument),*))
            }
        )*
    };
}

impl<K: Serialize + ?Sized, V: Send, D: Ready, C: Codec<V>> BlockingCache<'_, K, V, D, C> {
    blocking! {
        /// The fresh value, if there is one. See [`Cache::get`].
        pub fn get(key: &K) -> Result<Option<V>>;

        /// Stores a value. See [`Cache::set`].
        pub fn set(key: &K, value: &V) -> Result<bool>;

        /// Stores a value with a policy of its own. See [`Cache::set_with`].
        pub fn set_with(key: &K, value: &V, policy: &EntryPolicy) -> Result<bool>;

        /// Stores a negative entry. See [`Cache::set_none`].
        pub fn set_none(key: &K) -> Result<bool>;

        /// Removes the value. See [`Cache::remove`].
        pub fn remove(key: &K) -> Result<bool>;

        /// Invalidates all entries of this namespace. See [`Cache::clear`].
        pub fn clear() -> Result<()>;

        /// Invalidates all entries with this tag. See [`Cache::invalidate_tag`].
        pub fn invalidate_tag(tag: &str) -> Result<()>;

        /// Adds to a counter. See [`Cache::increment`].
        pub fn increment(key: &K, by: i64) -> Result<i64>;

        /// The counter under this key. See [`Cache::counter`].
        pub fn counter(key: &K) -> Result<Option<i64>>;

        /// Sets the TTL of an entry, from now. See [`Cache::touch`].
        pub fn touch(key: &K, ttl: Duration) -> Result<bool>;

        /// When the entry stops being fresh. See [`Cache::expires_at`].
        pub fn expires_at(key: &K) -> Result<Option<Time>>;

        /// Changes a value atomically. See [`Cache::update`].
        pub fn update(key: &K, change: impl FnMut(Option<V>) -> V + Send) -> Result<V>;
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

    /// The keys of this cache. See [`Cache::keys`].
    pub fn keys<O: DeserializeOwned + Send>(&self) -> Result<Vec<O>> {
        block_on(self.0.keys())
    }

    /// The value; on a miss, the result of `compute`. See [`Cache::get_or`]. Timeouts cannot interrupt `compute`, which
    /// blocks its thread.
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

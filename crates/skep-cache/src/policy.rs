//! The policy of an entry: its expiry, weight and tags.

use std::time::Duration;

use crate::clock::{Time, Version};
use crate::driver::{Flags, Header};
use crate::setters::setters;
use crate::tags;

/// The policy of an entry: its TTL, weight and tags.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Cache, EntryPolicy, Memory};
///
/// let cache = Cache::<u32, String>::new("posts", Memory::new(1 << 20))?;
/// let policy = EntryPolicy::new(Duration::from_secs(60)).tag("author:7");
/// cache.blocking().set_with(&1, &"Hello".to_owned(), &policy)?;
/// cache.blocking().invalidate_tag("author:7")?;
/// assert_eq!(cache.blocking().get(&1)?, None);
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EntryPolicy {
    pub(crate) ttl: Duration,
    pub(crate) jitter: f64,
    pub(crate) idle: Duration,
    pub(crate) negative: Duration,
    pub(crate) weight: u32,
    pub(crate) tags: Vec<u64>,
}

impl EntryPolicy {
    /// A policy with this TTL; [`Duration::MAX`] never expires.
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, jitter: 0.0, idle: Duration::ZERO, negative: ttl, weight: 0, tags: Vec::new() }
    }

    setters! {
        /// Shortens the TTL by a random part, at most this one (0 to 1): entries stored together do not expire
        /// together.
        pub fn jitter(part: f64) => jitter = part.clamp(0.0, 1.0);

        /// Expires when it was not read for this long (at most 49 days), accurate to an eighth.
        pub fn idle(idle: Duration) => idle = idle;

        /// The TTL of a negative entry.
        pub fn negative(negative: Duration) => negative = negative;

        /// Weight in bytes beyond its own size, for drivers with a limit.
        pub fn weight(bytes: u32) => weight = bytes;
    }

    /// Adds a tag: invalidating it invalidates the entry. All caches of a driver share the tags; an entry has at most
    /// 64.
    ///
    /// # Panics
    ///
    /// If it has 64 tags.
    pub fn tag(mut self, tag: &str) -> Self {
        assert!(self.tags.len() < crate::driver::Record::MAX_TAGS, "an entry has at most 64 tags");
        self.tags.push(tags::hash(tag));
        self
    }

    /// The hashes of its tags, for entries derived from this one: see [`inherit`](EntryPolicy::inherit).
    #[must_use]
    pub fn tags(&self) -> &[u64] {
        &self.tags
    }

    /// Adds the tags of an entry that this one is derived from. If there would be more than 64, adds none and returns
    /// their number.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep_cache::EntryPolicy;
    ///
    /// let part = EntryPolicy::new(Duration::from_secs(60)).tag("articles");
    /// let mut whole = EntryPolicy::new(Duration::from_secs(600)).tag("pages");
    /// assert!(whole.inherit(part.tags()).is_ok());
    /// assert_eq!(whole.tags().len(), 2);
    /// ```
    pub fn inherit(&mut self, tags: &[u64]) -> std::result::Result<(), usize> {
        let new: Vec<u64> = tags.iter().copied().filter(|tag| !self.tags.contains(tag)).collect();
        let sum = self.tags.len() + new.len();
        if sum > crate::driver::Record::MAX_TAGS {
            return Err(sum);
        }
        self.tags.extend(new);
        Ok(())
    }

    /// The header of an entry stored `now`, which may be served stale for another `grace`.
    pub(crate) fn header(&self, negative: bool, version: Version, now: Time, grace: Duration) -> Header {
        let mut ttl = if negative { self.negative } else { self.ttl };
        if self.jitter > 0.0 && ttl < Duration::MAX {
            ttl = ttl.mul_f64(1.0 - self.jitter * fastrand::f64());
        }
        let fresh_until = now.plus(ttl);
        let idle = u32::try_from(self.idle.as_millis()).unwrap_or(u32::MAX);
        let mut dead_at = fresh_until.plus(grace);
        if idle > 0 {
            dead_at = dead_at.min(now.plus(self.idle));
        }
        let flags = if negative { Flags::NEGATIVE } else { Flags::NONE };
        Header { flags, version, fresh_until, dead_at, idle, weight: self.weight, ..Header::default() }
    }
}

/// A computed value with a policy of its own.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Computed, Cache, EntryPolicy, Memory};
///
/// let cache = Cache::<str, String>::new("pages", Memory::new(1 << 20))?;
/// let page = cache.blocking().get_or("/", || {
///     let (text, max_age) = ("<h1>Hello".to_owned(), 30);
///     Ok::<_, std::io::Error>(Computed::new(text).policy(EntryPolicy::new(Duration::from_secs(max_age))))
/// })?;
/// assert_eq!(page, "<h1>Hello");
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Computed<V> {
    pub(crate) value: V,
    pub(crate) policy: Option<EntryPolicy>,
    pub(crate) store: bool,
}

impl<V> Computed<V> {
    /// A value with the policy of the cache.
    pub fn new(value: V) -> Self {
        Self { value, policy: None, store: true }
    }

    setters! {
        /// Sets the policy.
        pub fn policy(policy: EntryPolicy) => policy = Some(policy);

        /// Returns the value to the waiting callers without storing it.
        pub fn not_stored() => store = false;
    }
}

impl<V> From<V> for Computed<V> {
    fn from(value: V) -> Self {
        Self::new(value)
    }
}

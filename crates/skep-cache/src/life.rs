//! How long an entry lives, and what else is said about it when it is stored.

use std::time::Duration;

use crate::chance;
use crate::clock::{Time, Version};
use crate::driver::{Flags, Header};
use crate::tags;

/// How long an entry lives, how much it weighs, and what invalidates it.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Cache, Life, Memory};
///
/// let cache = Cache::<u32, String>::new("posts", Memory::new(1 << 20))?;
/// let life = Life::of(Duration::from_secs(60)).tag("author:7");
/// cache.now().set_for(&1, &"Hello".to_owned(), &life)?;
/// cache.now().invalidate_tag("author:7")?;
/// assert_eq!(cache.now().get(&1)?, None);
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Life {
    pub(crate) ttl: Duration,
    pub(crate) jitter: f64,
    pub(crate) idle: Duration,
    pub(crate) negative: Duration,
    pub(crate) weight: u32,
    pub(crate) tags: Vec<u64>,
}

impl Life {
    /// Fresh for so long; [`Duration::MAX`] is for ever.
    #[must_use]
    pub fn of(ttl: Duration) -> Self {
        Self { ttl, jitter: 0.0, idle: Duration::ZERO, negative: ttl, weight: 0, tags: Vec::new() }
    }

    /// Shortens the life by a random part of it, up to this one (0 to 1), drawn once when it is stored: what was
    /// stored together does not end together.
    #[must_use]
    pub fn jitter(mut self, part: f64) -> Self {
        self.jitter = part.clamp(0.0, 1.0);
        self
    }

    /// Ends when it was not read for so long (at most 49 days), to an eighth of it.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// How long the answer "there is none" is fresh.
    #[must_use]
    pub fn negative(mut self, negative: Duration) -> Self {
        self.negative = negative;
        self
    }

    /// What it weighs beside its own bytes, in bytes, where room is bounded.
    #[must_use]
    pub fn weight(mut self, bytes: u32) -> Self {
        self.weight = bytes;
        self
    }

    /// Is void when this tag is invalidated. At most 64 tags; tags are common to all caches of a driver.
    ///
    /// # Panics
    ///
    /// With the 65th.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        assert!(self.tags.len() < crate::driver::Record::MAX_TAGS, "an entry has at most 64 tags");
        self.tags.push(tags::hash(tag));
        self
    }

    /// The numbers of its tags, for what is made of this and must be void with it: see [`inherit`](Life::inherit).
    #[must_use]
    pub fn tags(&self) -> &[u64] {
        &self.tags
    }

    /// Is void with all these tags too, which are those of what it was made of. Nothing changes, and the number of tags that
    /// there would be is given back, if they would be more than 64.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep_cache::Life;
    ///
    /// let part = Life::of(Duration::from_secs(60)).tag("articles");
    /// let mut whole = Life::of(Duration::from_secs(600)).tag("pages");
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

    /// The header of an entry stored `now`, which may be shown stale for another `grace`.
    pub(crate) fn header(&self, negative: bool, version: Version, now: Time, grace: Duration) -> Header {
        let ttl = if negative { self.negative } else { self.ttl };
        let ttl = if self.jitter > 0.0 && ttl < Duration::MAX {
            ttl.mul_f64(1.0 - self.jitter * chance::draw())
        } else {
            ttl
        };
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

/// What a computation gives back when it has more to say than the value: how long it lives, what tags it has.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Answer, Cache, Life, Memory};
///
/// let cache = Cache::<str, String>::new("pages", Memory::new(1 << 20))?;
/// let page = cache.now().get_or("/", || {
///     let (text, max_age) = ("<h1>Hello".to_owned(), 30);
///     Ok::<_, std::io::Error>(Answer::of(text).living(Life::of(Duration::from_secs(max_age))))
/// })?;
/// assert_eq!(page, "<h1>Hello");
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Answer<V> {
    pub(crate) value: V,
    pub(crate) life: Option<Life>,
    pub(crate) keep: bool,
}

impl<V> Answer<V> {
    /// A value that lives as the cache says.
    pub fn of(value: V) -> Self {
        Self { value, life: None, keep: true }
    }

    /// Lives like this instead.
    #[must_use]
    pub fn living(mut self, life: Life) -> Self {
        self.life = Some(life);
        self
    }

    /// Is for those who wait for it now, and is not stored.
    #[must_use]
    pub fn unstored(mut self) -> Self {
        self.keep = false;
        self
    }
}

impl<V> From<V> for Answer<V> {
    fn from(value: V) -> Self {
        Self::of(value)
    }
}

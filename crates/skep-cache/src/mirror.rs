//! Mirrors writes to a second driver, to migrate from one to the other.

use crate::clock::Time;
use crate::driver::{Driver, Ready, Record, Removal, When, forward};
use crate::error::{Error, Result};

/// Reads from the first driver, writes to both.
///
/// Failures of the second driver are logged (target `skep_cache`) and never change a result. Once it is warm, build the cache on it
/// alone.
///
/// ```
/// use skep_cache::{Cache, Memory, Mirror};
///
/// let cache = Cache::<str, u32, _>::new("answers", Mirror::new(Memory::new(1 << 20), Memory::new(1 << 20)))?;
/// cache.blocking().set("life", &42)?;
/// assert_eq!(cache.driver().second().usage().entries, cache.driver().first().usage().entries);
/// # use skep_cache::Driver;
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct Mirror<A, B> {
    first: A,
    second: B,
}

impl<A: Driver, B: Driver> Mirror<A, B> {
    /// Reads from `first`, writes to both.
    #[must_use]
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }

    /// The driver for reads.
    pub fn first(&self) -> &A {
        &self.first
    }

    /// The driver for writes only.
    pub fn second(&self) -> &B {
        &self.second
    }

    fn log_failure<T>(&self, result: Result<T>) {
        if let Err(error) = result {
            let driver = self.second.name();
            tracing::warn!(target: "skep_cache", driver, %error, "write to the mirror failed");
        }
    }

    async fn copy(&self, key: &[u8], now: Time) -> Result<()> {
        if let Some(record) = self.first.get(key, now, |entry| entry.to_record()).await? {
            self.log_failure(self.second.set(key, &record, When::Always, now).await);
        }
        Ok(())
    }
}

impl<A: Driver, B: Driver> Driver for Mirror<A, B> {
    fn name(&self) -> &'static str {
        "mirror"
    }

    forward! { { mirror => mirror.first } get lease release abandon get_many keys generation stamp watch usage }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let stored = self.first.set(key, record, when, now).await?;
        if stored {
            self.log_failure(self.second.set(key, record, When::Always, now).await);
        }
        Ok(stored)
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        let removed = self.first.remove(key, removal, now).await;
        self.log_failure(self.second.remove(key, removal, now).await);
        removed
    }

    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        self.first.set_many(entries, now).await?;
        self.log_failure(self.second.set_many(entries, now).await);
        Ok(())
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        let sum = self.first.increment(key, by, fresh, now).await?;
        self.copy(key, now).await?;
        Ok(sum)
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        let touched = self.first.touch(key, fresh_until, dead_at, now).await?;
        self.copy(key, now).await?;
        Ok(touched)
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let cleared = self.first.clear(prefix, now).await;
        let second = self.second.clear(prefix, now).await;
        if !second.as_ref().is_err_and(Error::is_unsupported) {
            self.log_failure(second);
        }
        cleared
    }
}

impl<A: Ready, B: Ready> Ready for Mirror<A, B> {}

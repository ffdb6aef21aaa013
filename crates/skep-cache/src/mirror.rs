//! Mirrors writes to a second driver, to migrate from one to the other.

use crate::clock::Time;
use crate::driver::{Claim, Driver, Entry, Listener, Ready, Record, Removal, Stamp, Token, Usage, When};
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

    /// Copies the entry of a key to the second driver.
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

    fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> impl Future<Output = Result<Option<R>>> + Send
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        self.first.get(key, now, read)
    }

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

    fn lease(&self, key: &[u8], claim: Claim, now: Time) -> impl Future<Output = Result<Option<Token>>> + Send {
        self.first.lease(key, claim, now)
    }

    fn release(&self, key: &[u8], token: Token, now: Time) -> impl Future<Output = Result<()>> + Send {
        self.first.release(key, token, now)
    }

    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        self.first.abandon(key, token, now);
    }

    fn get_many<F>(&self, keys: &[&[u8]], now: Time, read: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(usize, Entry<'_>) + Send,
    {
        self.first.get_many(keys, now, read)
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

    fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(&[u8]) + Send,
    {
        self.first.keys(prefix, now, each)
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let cleared = self.first.clear(prefix, now).await;
        let second = self.second.clear(prefix, now).await;
        if !second.as_ref().is_err_and(Error::is_unsupported) {
            self.log_failure(second);
        }
        cleared
    }

    fn generation(&self) -> Stamp {
        self.first.generation()
    }

    fn stamp(&self, key: &[u8]) -> Stamp {
        self.first.stamp(key)
    }

    fn watch(&self, listener: Listener) -> bool {
        self.first.watch(listener)
    }

    fn usage(&self) -> Usage {
        self.first.usage()
    }
}

impl<A: Ready, B: Ready> Ready for Mirror<A, B> {}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use super::*;
    use crate::{Clock, Memory, driver::ready};

    #[test]
    fn the_second_has_what_the_first_stored_and_nothing_it_refused() {
        let (mirror, clock) = (Mirror::new(Memory::new(1 << 20), Memory::new(1 << 20)), Clock::manual());
        let now = clock.now();
        let record = |value: &[u8]| {
            Record::new(&crate::driver::Header { version: clock.version(), ..Default::default() }, &[], value)
        };
        assert!(ready(mirror.set(b"a", &record(b"kept"), When::Absent, now)).unwrap());
        assert!(!ready(mirror.set(b"a", &record(b"refused"), When::Absent, now)).unwrap());
        let second = |key: &[u8]| ready(mirror.second().get(key, now, |entry| entry.value().to_vec())).unwrap();
        assert_eq!(second(b"a").as_deref(), Some(&b"kept"[..]));
        ready(mirror.remove(b"a", Removal { version: clock.version(), until: now }, now)).unwrap();
        assert_eq!(second(b"a"), None);
    }
}

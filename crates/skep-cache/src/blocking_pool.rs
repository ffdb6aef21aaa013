//! Runs a blocking driver on blocking threads.

use std::sync::Arc;

use crate::clock::Time;
use crate::driver::{Claim, Driver, Entry, Ready, Record, Removal, Token, When, forward, ready};
use crate::error::{Error, Result};

/// Runs the calls of a [`Ready`] driver on tokio's blocking threads, or in place without a tokio runtime.
///
/// The hop costs about 15 µs, more than reading a small file or row from the page cache. Use it for large values and
/// slow disks, and where a slow call must not delay other tasks of the thread.
///
/// ```
/// use skep_cache::{Memory, BlockingPool};
///
/// let driver = BlockingPool::new(Memory::new(1 << 20));
/// # let _ = driver;
/// ```
#[derive(Debug)]
pub struct BlockingPool<D> {
    driver: Arc<D>,
}

impl<D> Clone for BlockingPool<D> {
    fn clone(&self) -> Self {
        Self { driver: Arc::clone(&self.driver) }
    }
}

impl<D: Ready> BlockingPool<D> {
    /// Wraps a driver.
    pub fn new(driver: D) -> Self {
        Self { driver: Arc::new(driver) }
    }

    /// Runs a call with a key or a prefix.
    async fn run<T: Send + 'static>(
        &self,
        key: &[u8],
        call: impl FnOnce(&D, &[u8]) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (driver, key) = (Arc::clone(&self.driver), key.to_vec());
        match tokio::runtime::Handle::try_current() {
            Err(_) => call(&driver, &key),
            Ok(runtime) => match runtime.spawn_blocking(move || call(&driver, &key)).await {
                Ok(result) => result,
                Err(error) => Err(Error::unreachable("waiting for a blocking thread").because(error)),
            },
        }
    }
}

impl<D: Ready> Driver for BlockingPool<D> {
    forward! { { pool => pool.driver } name generation stamp watch usage }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let found = self.run(key, move |driver, key| ready(driver.get(key, now, |entry| entry.to_record()))).await?;
        Ok(found.map(|record| read(record.entry())))
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let record = record.clone();
        self.run(key, move |driver, key| ready(driver.set(key, &record, when, now))).await
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        self.run(key, move |driver, key| ready(driver.remove(key, removal, now))).await
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        self.run(key, move |driver, key| ready(driver.lease(key, claim, now))).await
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.run(key, move |driver, key| ready(driver.release(key, token, now))).await
    }

    async fn get_many<F: FnMut(usize, Entry<'_>) + Send>(&self, keys: &[&[u8]], now: Time, mut read: F) -> Result<()> {
        let keys: Vec<_> = keys.iter().map(|key| key.to_vec()).collect();
        let found = self.run(&[], move |driver, _| {
            let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
            let mut found = Vec::new();
            ready(driver.get_many(&keys, now, |index, entry| found.push((index, entry.to_record()))))?;
            Ok(found)
        });
        for (index, record) in found.await? {
            read(index, record.entry());
        }
        Ok(())
    }

    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        let entries: Vec<_> = entries.iter().map(|(key, record)| (key.to_vec(), record.clone())).collect();
        self.run(&[], move |driver, _| {
            let entries: Vec<_> = entries.iter().map(|(key, record)| (key.as_slice(), record.clone())).collect();
            ready(driver.set_many(&entries, now))
        })
        .await
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        let fresh = fresh.clone();
        self.run(key, move |driver, key| ready(driver.increment(key, by, &fresh, now))).await
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        self.run(key, move |driver, key| ready(driver.touch(key, fresh_until, dead_at, now))).await
    }

    async fn keys<F: FnMut(&[u8]) + Send>(&self, prefix: &[u8], now: Time, mut each: F) -> Result<()> {
        let found = self.run(prefix, move |driver, prefix| {
            let mut found = Vec::new();
            ready(driver.keys(prefix, now, |key| found.push(key.to_vec())))?;
            Ok(found)
        });
        found.await?.iter().for_each(|key| each(key));
        Ok(())
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        self.run(prefix, move |driver, prefix| ready(driver.clear(prefix, now))).await
    }
}

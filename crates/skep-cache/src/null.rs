//! A driver that stores nothing, for tests and to disable a cache.

use crate::clock::Time;
use crate::driver::{Claim, Driver, Entry, Ready, Record, Removal, Stamp, Token, When};
use crate::error::Result;

/// Stores nothing. Every read is a miss, every write succeeds, every lease is granted, so each process computes each
/// value.
///
/// ```
/// use skep_cache::driver::{Header, Record, When, ready};
/// use skep_cache::{Clock, Driver, Null};
///
/// let now = Clock::system().now();
/// assert!(ready(Null.set(b"key", &Record::new(&Header::default(), &[], b"value"), When::Always, now))?);
/// assert_eq!(ready(Null.get(b"key", now, |_| ()))?, None);
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl Driver for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    async fn get<R: Send, F: FnOnce(Entry<'_>) -> R + Send>(&self, _: &[u8], _: Time, _: F) -> Result<Option<R>> {
        Ok(None)
    }

    async fn set(&self, _: &[u8], _: &Record, when: When, _: Time) -> Result<bool> {
        Ok(!matches!(when, When::Version(_)))
    }

    async fn remove(&self, _: &[u8], _: Removal, _: Time) -> Result<bool> {
        Ok(false)
    }

    async fn lease(&self, _: &[u8], claim: Claim, _: Time) -> Result<Option<Token>> {
        Ok(Some(claim.token))
    }

    async fn release(&self, _: &[u8], _: Token, _: Time) -> Result<()> {
        Ok(())
    }

    async fn keys<F: FnMut(&[u8]) + Send>(&self, _: &[u8], _: Time, _: F) -> Result<()> {
        Ok(())
    }

    async fn clear(&self, _: &[u8], _: Time) -> Result<()> {
        Ok(())
    }

    fn generation(&self) -> Stamp {
        Stamp::Complete(0)
    }
}

impl Ready for Null {}

//! Invalidation of a namespace or a tag.
//!
//! A failed write is a later miss, which is harmless. A failed invalidation leaves outdated entries in use, so it is always an
//! error, and it is tried even while the circuit breaker is open.

use super::inner::Inner;
use crate::driver::{Driver, Record};
use crate::error::Result;

impl<D: Driver, C: Send + Sync + 'static> Inner<D, C> {
    pub(crate) async fn clear(&self) -> Result<()> {
        let now = self.clock.now();
        let invalidated = self.epochs.invalidate_all(&self.driver, &self.clock, self.rules.clock_skew).await;
        self.require(invalidated, now)?;
        // Everything is invalid by now; freeing the space is optional.
        match self.driver.clear(self.prefix.as_bytes(), now).await {
            Err(error) if error.is_unsupported() => Ok(()),
            cleared => self.tolerate(cleared, now, ()),
        }
    }

    pub(crate) async fn invalidate(&self, tag: &str) -> Result<()> {
        let now = self.clock.now();
        let (tag, skew) = (crate::tags::hash(tag), self.rules.clock_skew);
        let invalidated = self.epochs.invalidate(&self.driver, &self.clock, tag, skew).await;
        self.require(invalidated, now)
    }

    /// Whether a tag of this record was invalidated, as far as the driver knows.
    pub(crate) async fn is_invalidated(&self, record: &Record) -> Result<bool> {
        let now = self.clock.now();
        if !self.breaker.allows(now) {
            return self.breaker_open(false);
        }
        let invalidated = self.epochs.is_invalidated(&self.driver, &self.clock, record.entry(), now).await;
        self.tolerate(invalidated, now, false)
    }
}

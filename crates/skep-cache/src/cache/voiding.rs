//! What becomes void together: a namespace, and what has a tag.
//!
//! A write that fails is a miss later, and harms nobody. An invalidation that fails leaves what is no longer true where
//! everybody finds it, so its caller is told, whatever the policy; and it is tried even while the driver rests.

use super::inner::Inner;
use crate::driver::{Driver, Record};
use crate::error::Result;

impl<D: Driver, C: Send + Sync + 'static> Inner<D, C> {
    pub(crate) async fn clear(&self) -> Result<()> {
        let now = self.clock.now();
        let voided = self.epochs.invalidate_all(&self.driver, &self.clock, self.rules.skew).await;
        self.insist(voided, now)?;
        // All is void by now; that its room is freed at once is not promised.
        match self.driver.clear(self.prefix.as_bytes(), now).await {
            Err(error) if error.is_unsupported() => Ok(()),
            cleared => self.settle(cleared, now, ()),
        }
    }

    pub(crate) async fn invalidate(&self, tag: &str) -> Result<()> {
        let now = self.clock.now();
        let voided = self.epochs.invalidate(&self.driver, &self.clock, crate::tags::hash(tag), self.rules.skew).await;
        self.insist(voided, now)
    }

    /// Whether something was invalidated that this record depends on, as far as the driver can tell.
    pub(crate) async fn is_void(&self, record: &Record) -> Result<bool> {
        let now = self.clock.now();
        if !self.breaker.allows(now) {
            return self.resting(false);
        }
        let void = self.epochs.is_void(&self.driver, &self.clock, record.entry(), now).await;
        self.settle(void, now, false)
    }
}

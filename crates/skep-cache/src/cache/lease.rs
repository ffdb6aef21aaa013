//! The lease of a computation.

use super::inner::Inner;
use crate::clock::Time;
use crate::driver::{Driver, Token};
use crate::error::Result;

/// A lease, released on drop.
pub(super) struct Lease<'a, D: Driver, C: Send + Sync + 'static> {
    pub(super) inner: &'a Inner<D, C>,
    pub(super) key: &'a [u8],
    pub(super) token: Option<Token>,
    pub(super) until: Time,
}

impl<D: Driver, C: Send + Sync + 'static> Lease<'_, D, C> {
    /// A write ended it: nothing to release.
    pub(super) fn ended(mut self) {
        self.token = None;
    }

    pub(super) async fn release(lease: Option<Self>) -> Result<()> {
        let Some(mut lease) = lease else { return Ok(()) };
        match lease.token {
            Some(token) => {
                lease.inner.release(lease.key, token).await?;
                lease.token = None;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl<D: Driver, C: Send + Sync + 'static> Drop for Lease<'_, D, C> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            self.inner.driver.abandon(self.key, token, self.inner.clock.now());
        }
    }
}

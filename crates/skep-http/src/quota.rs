//! Budgets that all requests of a process share: bytes of bodies in memory, bytes of uploads on the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A budget of bytes, shared by all requests of the process. Cloning it shares it.
#[derive(Clone, Debug, Default)]
pub struct Quota(Arc<AtomicU64>);

/// What one request has of a [`Quota`]: returned when dropped.
#[derive(Debug)]
pub struct Share {
    quota: Quota,
    bytes: u64,
}

impl Quota {
    /// A share of nothing yet.
    #[must_use]
    pub fn share(&self) -> Share {
        Share { quota: self.clone(), bytes: 0 }
    }

    /// The bytes of all shares.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Share {
    /// True before the first was taken.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Takes more, if all shares together stay within `limit`; otherwise takes nothing.
    #[must_use]
    pub fn take(&mut self, bytes: u64, limit: u64) -> bool {
        let before = self.quota.0.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > limit {
            self.quota.0.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }

    /// Returns some of it early.
    pub fn give_back(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.quota.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.quota.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "../tests/unit/quota.rs"]
mod tests;

//! Writes that failed while the far tier was unreachable.

use std::collections::HashSet;
use std::sync::Mutex;

use skep_units::lock;

/// Keys whose writes failed. The write may have happened or not, so the far tier's entry is removed when it is back.
#[derive(Debug, Default)]
pub(super) struct FailedWrites(Mutex<HashSet<Box<[u8]>>>);

const MAX_KEYS: usize = 10_000;

impl FailedWrites {
    pub(super) fn note(&self, key: &[u8]) {
        let mut keys = lock(&self.0);
        if keys.len() < MAX_KEYS {
            keys.insert(key.into());
        } else {
            tracing::error!(target: "skep_cache", limit = MAX_KEYS, "too many failed writes: the far tier may serve outdated entries");
        }
    }

    pub(super) fn has(&self, key: &[u8]) -> bool {
        lock(&self.0).contains(key)
    }

    pub(super) fn next(&self) -> Option<Box<[u8]>> {
        let mut keys = lock(&self.0);
        let key = keys.iter().next()?.clone();
        keys.take(&key)
    }
}

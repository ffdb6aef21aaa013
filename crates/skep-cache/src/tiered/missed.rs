//! What was to be changed while the far tier did not answer.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keys whose writes failed. A write that failed may have happened or not: what the far tier has is not to be trusted, and is
/// removed when it answers again.
#[derive(Debug, Default)]
pub(super) struct Missed(Mutex<HashSet<Box<[u8]>>>);

/// So many are made up for.
const MOST: usize = 10_000;

impl Missed {
    pub(super) fn note(&self, key: &[u8]) {
        let mut missed = self.lock();
        if missed.len() < MOST {
            missed.insert(key.into());
        } else {
            tracing::error!(target: "skep_cache", "more writes were missed by the far tier than can be made up for");
        }
    }

    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.lock().contains(key)
    }

    /// One of them, which is the caller's to make up for.
    pub(super) fn next(&self) -> Option<Box<[u8]>> {
        let mut missed = self.lock();
        let key = missed.iter().next()?.clone();
        missed.take(&key)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Box<[u8]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What is done once a transaction is committed.

use std::sync::Mutex;

use skep_units::lock;

use super::error::{Error, Result};

type Work = Box<dyn FnOnce() + Send>;

/// What is done once a transaction is committed, in the order in which it was asked for.
#[derive(Default)]
pub(crate) struct AfterCommit(Mutex<Vec<Work>>);

impl AfterCommit {
    pub(super) fn add(&self, work: Work) {
        lock(&self.0).push(work);
    }

    pub(super) fn take(&self) -> Self {
        Self(Mutex::new(std::mem::take(&mut *lock(&self.0))))
    }

    /// Does it, unless the transaction is known to be undone.
    pub(crate) fn run(self, committed: &Result<()>) {
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            for work in std::mem::take(&mut *lock(&self.0)) {
                work();
            }
        }
    }
}

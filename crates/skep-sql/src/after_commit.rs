//! What is done once a transaction is committed.

use std::sync::Mutex;

use skep_units::lock;

use super::Transaction;
use super::error::{Error, Result};

type Work = Box<dyn FnOnce() + Send>;

/// What is done once a transaction is committed, in the order in which it was asked for.
#[derive(Default)]
pub(super) struct AfterCommit(Mutex<Vec<Work>>);

impl AfterCommit {
    pub(super) fn take(&self) -> Self {
        Self(Mutex::new(std::mem::take(&mut *lock(&self.0))))
    }

    /// Does it, unless the transaction is known to be undone.
    pub(super) fn run(self, committed: &Result<()>) {
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            for work in std::mem::take(&mut *lock(&self.0)) {
                work();
            }
        }
    }
}

impl Transaction {
    /// Does `work` once the transaction is committed, and not at all if it is undone: to wake who waits for what it wrote. It runs on the
    /// thread that commits, and must not block. If nobody knows whether the commit has happened, it runs, too, and so it does if a
    /// [`savepoint`](Self::savepoint) around this call was undone.
    ///
    /// ```
    /// # use skep::sql::{self, query};
    /// # async fn example(db: &sql::Local, wake: std::sync::mpsc::Sender<()>) -> sql::Result<()> {
    /// let transaction = db.transaction().await?;
    /// transaction.execute(query("insert into task (name) values (?)", "resize")).await?;
    /// transaction.after_commit(move || _ = wake.send(()));
    /// transaction.commit().await
    /// # }
    /// ```
    pub fn after_commit(&self, work: impl FnOnce() + Send + 'static) {
        lock(&self.after.0).push(Box::new(work));
    }
}

//! Several statements that happen together or not at all, in a handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::changes::Changes;
use super::connection::{Connection, StopOnDrop, Verb};
use super::database::Shared;
use super::error::{Kind, Result};
use super::local::owned;
use super::pool::Lease;
use super::query::Query;
use super::row::Row;
use super::verbs::verbs;
use crate::offload::offload;

/// Several statements that happen together or not at all.
///
/// It holds the writer of this process and the lock of the file, so that what it has read stays true until it ends.
/// Every statement runs on the pool. Dropped before [`commit`](Self::commit), it is rolled back.
///
/// ```
/// # use skep::sql::{self, query};
/// # async fn example(db: &sql::Local, from: i64, to: i64) -> sql::Result<()> {
/// let mut transaction = db.transaction().await?;
/// transaction.execute(query("update account set coins = coins - 1 where id = ?", from)).await?;
/// transaction.execute(query("update account set coins = coins + 1 where id = ?", to)).await?;
/// transaction.commit().await
/// # }
/// ```
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    shared: Arc<Shared>,
    /// None while a statement runs, and for good if that was abandoned.
    lease: Option<Lease>,
    /// Tells the request's other handles that this one is open.
    is_open: Option<Arc<AtomicBool>>,
}

impl Transaction {
    pub(super) async fn begin(shared: Arc<Shared>, is_open: Option<Arc<AtomicBool>>) -> Result<Self> {
        let lease = shared.lease_writer().await?;
        let mut transaction = Self { shared, lease: Some(lease), is_open };
        transaction.set_open(true);
        // Immediate: a transaction that reads first and then writes would otherwise fail when it comes too late.
        transaction.run(|connection| connection.control("begin immediate")).await?;
        Ok(transaction)
    }

    verbs!([async] self: &mut Self, Connection.await);

    /// Makes all of it happen. If the future is dropped before it ends, either may be the case.
    pub async fn commit(mut self) -> Result<()> {
        self.run(|connection| connection.control("commit")).await
    }

    /// Undoes all of it and waits until it is undone. Dropping does the same without waiting.
    pub async fn rollback(mut self) -> Result<()> {
        self.run(|connection| connection.control("rollback")).await
    }

    fn set_open(&self, open: bool) {
        if let Some(is_open) = &self.is_open {
            is_open.store(open, Ordering::Relaxed);
        }
    }

    async fn ask<T, R: Send + 'static>(&mut self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        let (text, values) = owned(query)?;
        self.within(move |connection| verb(connection, &text, &values)).await
    }

    /// Runs `work`, unless the transaction is over.
    pub(super) async fn within<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        // All is undone if nobody waits any more, so there is no reason to let the statement end.
        let (_stop, stopped) = StopOnDrop::new();
        self.run(move |connection| {
            // An error may have ended the transaction (a full disk does); what follows must not run outside of it.
            if !connection.in_transaction() {
                return Err(Kind::Abandoned.into());
            }
            connection.unless(stopped, work)
        })
        .await
    }

    async fn run<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let mut lease = self.lease.take().ok_or(Kind::Abandoned)?;
        let job = move || {
            let result = lease.connection().and_then(work);
            (lease, result)
        };
        let (lease, result) = offload(&*self.shared.offload, job).await.map_err(Kind::Lost)?;
        self.lease = Some(lease);
        self.shared.note(result)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.set_open(false);
        if let Some(lease) = self.lease.take().filter(Lease::in_transaction) {
            self.shared.offload.run(Box::new(move || drop(lease)));
        }
    }
}

opaque_debug!(Transaction, path: shared.path);

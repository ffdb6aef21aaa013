//! Several statements that happen together or not at all, in a handler.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::Changes;
use super::connection::{Connection, StopOnDrop, Verb};
use super::database::Shared;
use super::dependencies::{self, ReadTables};
use super::error::{Kind, Result};
use super::local::owned;
use super::pool::Lease;
use super::query::Query;
use super::row::Row;
use super::verbs::verbs;
use crate::account::Timer;
use crate::offload::offload;

/// Several statements that happen together or not at all.
///
/// It holds the writer of this process and the lock of the file, so that what it has read stays true until it ends.
/// Every statement runs on the pool, one after the other: one that is begun while another one runs is an error. Dropped before
/// [`commit`](Self::commit), it is rolled back.
///
/// ```
/// # use skep::sql::{self, query};
/// # async fn example(db: &sql::Local, from: i64, to: i64) -> sql::Result<()> {
/// let transaction = db.transaction().await?;
/// transaction.execute(query("update account set coins = coins - 1 where id = ?", from)).await?;
/// transaction.execute(query("update account set coins = coins + 1 where id = ?", to)).await?;
/// transaction.commit().await
/// # }
/// ```
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    shared: Arc<Shared>,
    /// None while a statement runs, for good if that was abandoned, and before and after the transaction.
    lease: Mutex<Option<Lease>>,
    has_begun: AtomicBool,
    /// True while a transaction of the request is open, this one or another: the request's handles see it.
    is_open: Arc<AtomicBool>,
    written: Mutex<Vec<&'static str>>,
    /// How many savepoints are open.
    depth: AtomicU32,
    /// Of the page that it is for.
    reads: Option<ReadTables>,
}

impl Transaction {
    pub(super) async fn begin(shared: Arc<Shared>, is_open: Arc<AtomicBool>) -> Result<Self> {
        let transaction = Self::not_begun(shared, is_open);
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    /// The transaction of a request that has none yet.
    pub(super) fn not_begun(shared: Arc<Shared>, is_open: Arc<AtomicBool>) -> Self {
        let (lease, has_begun, written) = (Mutex::default(), AtomicBool::new(false), Mutex::default());
        Self { shared, lease, has_begun, is_open, written, depth: AtomicU32::new(0), reads: None }
    }

    /// Notes what its statements read.
    pub(super) fn noting(mut self, reads: Option<ReadTables>) -> Self {
        self.reads = reads;
        self
    }

    /// Begins it, unless it is open: the transaction of a request may begin again after it was undone.
    pub(crate) async fn ensure_begun(&self) -> Result<()> {
        if self.is_open() {
            return Ok(());
        }
        if self.is_open.load(Ordering::Relaxed) {
            return Err(Kind::OwnTransaction.into());
        }
        let lease = self.shared.lease_writer().await?;
        self.keep(Some(lease));
        self.has_begun.store(true, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Relaxed);
        // Immediate: a transaction that reads first and then writes would otherwise fail when it comes too late.
        let begun = self.run(|connection| connection.control("begin immediate")).await;
        begun.inspect_err(|_| self.undo())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    verbs!([async] self: &Self, Connection.await);

    /// Makes all of it happen. If the future is dropped before it ends, either may be the case.
    pub async fn commit(self) -> Result<()> {
        self.keep_changes().await
    }

    /// Undoes all of it and waits until it is undone. Dropping does the same without waiting.
    pub async fn rollback(self) -> Result<()> {
        self.run(|connection| connection.control("rollback")).await
    }

    /// Commits; the handle stays, for the request that it belongs to.
    pub(crate) async fn keep_changes(&self) -> Result<()> {
        let timer = Timer::start();
        let mut lease = self.take().ok_or(Kind::Abandoned)?;
        let commit = self.shared.commit(std::mem::take(&mut *self.written()));
        let job = move || {
            let committed = lease.connection().and_then(|connection| connection.control("commit"));
            // First of all, so that others need not wait for caches.
            drop(lease);
            if committed.is_ok() {
                commit.announce();
            }
            committed
        };
        let committed = offload(&*self.shared.offload, job).await.map_err(|lost| Kind::Lost(lost).into()).flatten();
        timer.note_statement("commit");
        self.undo();
        self.shared.note(committed)
    }

    /// Undoes what is not committed, without waiting, and gives the writer back.
    pub(crate) fn undo(&self) {
        if !self.has_begun.swap(false, Ordering::Relaxed) {
            return;
        }
        self.is_open.store(false, Ordering::Relaxed);
        self.written().clear();
        if let Some(lease) = self.take().filter(Lease::in_transaction) {
            self.shared.offload.run(Box::new(move || drop(lease)));
        }
    }

    /// Undoes all of it without waiting. Later statements of it and its commit are errors that say so.
    pub(super) fn abandon(&self) {
        if let Some(lease) = self.take() {
            self.shared.offload.run(Box::new(move || drop(lease)));
        }
    }

    /// The depth of the next savepoint.
    pub(super) fn deeper(&self) -> u32 {
        self.depth.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    // Nothing that is done under this lock can panic half-way.
    fn take(&self) -> Option<Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn written(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, lease: Option<Lease>) {
        *self.lease.lock().unwrap_or_else(PoisonError::into_inner) = lease;
    }

    async fn ask<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        if let Some(reads) = &self.reads {
            reads.note(&query);
        }
        let (timer, statement, tables) = (Timer::start(), query.text(), dependencies::written(&query));
        let (text, values) = owned(query)?;
        let verb = move |connection: &Connection| Ok(connection.noting_changes(|it| verb(it, &text, &values)));
        let result = self.within(verb).await;
        timer.note_statement(statement);
        let (result, has_changed) = result?;
        if has_changed {
            dependencies::add(&mut self.written(), tables);
        }
        self.shared.note(result)
    }

    /// Runs `work`, unless the transaction is over.
    pub(super) async fn within<R: Send + 'static>(
        &self,
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
        &self,
        work: impl FnOnce(&mut Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let mut lease = self.take().ok_or(Kind::Abandoned)?;
        let job = move || {
            let result = lease.connection().and_then(work);
            (lease, result)
        };
        let (lease, result) = offload(&*self.shared.offload, job).await.map_err(Kind::Lost)?;
        self.keep(Some(lease));
        self.shared.note(result)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.undo();
    }
}

opaque_debug!(Transaction, path: shared.path);

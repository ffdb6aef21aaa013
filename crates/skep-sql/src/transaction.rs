//! Several statements that happen together or not at all, in a handler.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use skep_units::lock;

use super::after_commit::AfterCommit;
use super::built_in::OpenTransaction;
use super::built_in::verb::{self, Verb};
use super::changes::Changes;
use super::dependencies::{self, ReadTables, Writes};
use super::engine::Transact;
use super::error::{Kind, Result};
use super::query::Query;
use super::row::Row;
use super::timing::Timer;
use super::verbs::verbs;

/// Several statements that happen together or not at all.
///
/// It holds the writer of this process and the lock of the file, so that what it has read stays true until it ends.
/// Every statement runs on the pool, one after the other: one that is begun while another one runs is an error. Dropped
/// before [`commit`](Self::commit), it is rolled back.
///
/// ```
/// # use skep_sql::{self as sql, query};
/// # async fn example(db: &sql::Local, from: i64, to: i64) -> sql::Result<()> {
/// let transaction = db.transaction().await?;
/// transaction.execute(query("update account set coins = coins - 1 where id = ?", from)).await?;
/// transaction.execute(query("update account set coins = coins + 1 where id = ?", to)).await?;
/// transaction.commit().await
/// # }
/// ```
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    pub(super) engine: OpenTransaction,
    has_begun: AtomicBool,
    /// True while a transaction of the request is open, this one or another: the request's handles see it.
    is_open: Arc<AtomicBool>,
    written: Mutex<Vec<&'static str>>,
    /// How many savepoints are open.
    depth: AtomicU32,
    /// Of the page that it is for.
    reads: Option<ReadTables>,
    pub(super) after: AfterCommit,
}

impl Transaction {
    /// One that has not begun.
    pub(super) fn new(engine: OpenTransaction) -> Self {
        let (has_begun, is_open, written, depth, after) = Default::default();
        Self { engine, has_begun, is_open, written, depth, reads: None, after }
    }

    /// It of a request, whose handles see whether it is open.
    pub(super) fn of_request(mut self, is_open: Option<&Arc<AtomicBool>>) -> Self {
        self.is_open = is_open.cloned().unwrap_or_default();
        self
    }

    /// Notes what its statements read.
    pub(super) fn noting(mut self, reads: Option<ReadTables>) -> Self {
        self.reads = reads;
        self
    }

    /// As if nobody else used the database, which it is on SQLite.
    pub(super) fn isolated(mut self) -> Self {
        self.engine.isolate();
        self
    }

    /// It, once it has begun.
    pub(super) async fn begun(self) -> Result<Self> {
        self.ensure_begun().await?;
        Ok(self)
    }

    /// A statement of it failed, because of what others did meanwhile.
    pub(super) fn is_in_conflict(&self) -> bool {
        self.engine.is_in_conflict()
    }

    fn set_begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Relaxed);
    }

    verbs!([async] self: &Self, await);

    /// Runs many statements that give no rows, in this order, until one fails: on SQLite in one trip to the writer's
    /// thread, on PostgreSQL those of one text without waiting for each other. All their values are in memory at once.
    ///
    /// ```
    /// # use skep_sql::{self as sql, query};
    /// # async fn example(transaction: sql::Transaction, names: &[String]) -> sql::Result<()> {
    /// let inserts = names.iter().map(|name| query("insert into hive (name) values (?)", name));
    /// let changes = transaction.execute_many(inserts).await?;
    /// assert_eq!(changes.rows, names.len() as u64);
    /// # Ok(()) }
    /// ```
    pub async fn execute_many<'q, Q: Into<Query<'q>>>(&self, queries: impl IntoIterator<Item = Q>) -> Result<Changes> {
        let queries: Vec<Query<'q>> = queries.into_iter().map(Into::into).collect();
        let Some(first) = queries.first() else { return Ok(Changes::default()) };
        let (timer, statement, mut changed) = (Timer::start(), first.text(), Vec::new());
        for query in &queries {
            if let Some(reads) = &self.reads {
                reads.note(self.engine.dialect(), query);
            }
            dependencies::add(&mut changed, Writes::of(query).tables());
        }
        let result = self.engine.run_many(queries).await;
        timer.note_statement(statement);
        let (result, has_changed) = result?;
        if has_changed {
            dependencies::add(&mut lock(&self.written), changed);
        }
        result
    }

    /// Makes all of it happen. If the future is dropped before it ends, either may be the case.
    pub async fn commit(self) -> Result<()> {
        self.keep_changes().await
    }

    /// Undoes all of it and waits until it is undone. Dropping does the same without waiting.
    pub async fn rollback(self) -> Result<()> {
        self.engine.rollback().await
    }

    /// Does `work` once the transaction is committed, and not at all if it is undone: to wake who waits for what it
    /// wrote. It runs on the thread that commits, and must not block. If nobody knows whether the commit has happened,
    /// it runs, too, and so it does if a [`savepoint`](Self::savepoint) around this call was undone.
    ///
    /// ```
    /// # use skep_sql::{self as sql, query};
    /// # async fn example(db: &sql::Local, wake: std::sync::mpsc::Sender<()>) -> sql::Result<()> {
    /// let transaction = db.transaction().await?;
    /// transaction.execute(query("insert into task (name) values (?)", "resize")).await?;
    /// transaction.after_commit(move || _ = wake.send(()));
    /// transaction.commit().await
    /// # }
    /// ```
    pub fn after_commit(&self, work: impl FnOnce() + Send + 'static) {
        self.after.add(Box::new(work));
    }

    /// Undoes all of it without waiting. Later statements of it and its commit are errors that say so.
    pub(super) fn abandon(&self) {
        self.engine.abandon();
    }

    /// The depth of the next savepoint.
    pub(super) fn deeper(&self) -> u32 {
        self.depth.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        if let Some(reads) = &self.reads {
            reads.note(self.engine.dialect(), &query);
        }
        let (timer, statement, changed) = (Timer::start(), query.text(), Writes::of(&query));
        let result = self.engine.run(query, verb).await;
        timer.note_statement(statement);
        let (result, has_changed) = result?;
        if has_changed {
            dependencies::add(&mut lock(&self.written), changed.tables());
        }
        result
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Transaction {
    /// Begins it, unless it is open: the transaction of a request may begin again after it was undone.
    pub async fn ensure_begun(&self) -> Result<()> {
        if self.is_open() {
            return Ok(());
        }
        if self.is_open.load(Ordering::Relaxed) {
            return Err(Kind::OwnTransaction.into());
        }
        self.engine.begin(|| self.set_begun()).await.inspect_err(|_| self.undo())
    }

    pub fn is_open(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Commits; the handle stays, for the request that it belongs to.
    pub async fn keep_changes(&self) -> Result<()> {
        let timer = Timer::start();
        let tables = std::mem::take(&mut *lock(&self.written));
        let after = self.after.take();
        let committed = self.engine.commit(tables, after).await;
        timer.note_statement("commit");
        self.undo();
        committed
    }

    /// Undoes what is not committed, without waiting, and gives the writer back.
    pub fn undo(&self) {
        if !self.has_begun.swap(false, Ordering::Relaxed) {
            return;
        }
        self.is_open.store(false, Ordering::Relaxed);
        lock(&self.written).clear();
        drop(self.after.take());
        self.abandon();
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.undo();
    }
}

skep_units::opaque_debug!(Transaction);

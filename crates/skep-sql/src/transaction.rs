//! Several statements that happen together or not at all, in a handler.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use skep_units::lock;

use super::after_commit::AfterCommit;
use super::changes::Changes;
use super::dependencies::{self, ReadTables, Writes};
use super::each::each_database;
use super::error::{Kind, Result};
use super::hosted::Packed;
#[cfg(feature = "postgres")]
use super::postgres;
use super::query::Query;
use super::row::Row;
use super::timing::Timer;
use super::verb::{Make, Verbs};
use super::verbs::verbs;
use crate::sqlite;
use crate::sqlite::shared::Shared;

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
    engine: Engine,
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

/// Which database it is of.
enum Engine {
    Sqlite(sqlite::Transaction),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Transaction),
}

impl Transaction {
    /// The transaction of a request that has none yet.
    pub(super) fn not_begun(shared: Arc<Shared>, is_open: Arc<AtomicBool>) -> Self {
        Self::of(Engine::Sqlite(sqlite::Transaction::not_begun(shared)), is_open)
    }

    #[cfg(feature = "postgres")]
    pub(super) fn postgres(transaction: postgres::Transaction, is_open: Arc<AtomicBool>) -> Self {
        Self::of(Engine::Postgres(transaction), is_open)
    }

    fn of(engine: Engine, is_open: Arc<AtomicBool>) -> Self {
        let (has_begun, written, after) = (AtomicBool::new(false), Mutex::default(), AfterCommit::default());
        Self { engine, has_begun, is_open, written, depth: AtomicU32::new(0), reads: None, after }
    }

    /// Notes what its statements read.
    pub(super) fn noting(mut self, reads: Option<ReadTables>) -> Self {
        self.reads = reads;
        self
    }

    /// As if nobody else used the database, which it is on SQLite.
    #[cfg_attr(not(feature = "postgres"), expect(unused_mut, reason = "there is nothing to change"))]
    pub(super) fn isolated(mut self) -> Self {
        #[cfg(feature = "postgres")]
        if let Engine::Postgres(transaction) = &mut self.engine {
            transaction.isolate();
        }
        self
    }

    /// A statement of it failed, because of what others did meanwhile.
    #[cfg_attr(not(feature = "postgres"), expect(clippy::unused_self, reason = "nobody else is there"))]
    pub(super) fn is_in_conflict(&self) -> bool {
        #[cfg(feature = "postgres")]
        if let Engine::Postgres(transaction) = &self.engine {
            return transaction.is_in_conflict();
        }
        false
    }

    fn set_begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Relaxed);
    }

    verbs!([async] self: &Self, Verbs.await);

    /// Makes all of it happen. If the future is dropped before it ends, either may be the case.
    pub async fn commit(self) -> Result<()> {
        self.keep_changes().await
    }

    /// Undoes all of it and waits until it is undone. Dropping does the same without waiting.
    pub async fn rollback(self) -> Result<()> {
        each_database! { &self.engine,
            Engine::Sqlite(transaction) => transaction.rollback().await,
            Engine::Postgres(transaction) => transaction.rollback().await,
        }
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
        each_database! { &self.engine,
            Engine::Sqlite(transaction) => transaction.abandon(),
            Engine::Postgres(transaction) => transaction.abandon(),
        }
    }

    /// The depth of the next savepoint.
    pub(super) fn deeper(&self) -> u32 {
        self.depth.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    async fn ask<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Make<R>) -> Result<R> {
        match (&self.reads, &self.engine) {
            (Some(reads), Engine::Sqlite(_)) => reads.note(&query),
            #[cfg(feature = "postgres")]
            (Some(reads), Engine::Postgres(_)) => reads.note_postgres(&query),
            (None, _) => {}
        }
        let (timer, statement, changed) = (Timer::start(), query.text(), Writes::of(&query));
        let result = each_database! { &self.engine,
            Engine::Sqlite(transaction) => transaction.ask(query, verb().sqlite).await,
            Engine::Postgres(transaction) => {
                let asked = transaction.ask(postgres::job(query)?.into_owned(), verb().postgres).await;
                asked.map(|outcome| (outcome.value, outcome.has_changed))
            },
        };
        timer.note_statement(statement);
        let (result, has_changed) = result?;
        if has_changed {
            dependencies::add(&mut lock(&self.written), changed.tables());
        }
        result
    }

    /// Runs a statement of a component in it.
    pub(super) async fn ask_packed(&self, packed: Arc<Packed>) -> Result<Vec<u8>> {
        each_database! { &self.engine,
            Engine::Sqlite(transaction) => transaction.within(move |connection| packed.run(connection)).await,
            Engine::Postgres(transaction) => transaction.ask(packed.job(false)?, packed.postgres_verb()).await?.value,
        }
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
        each_database! { &self.engine,
            Engine::Sqlite(transaction) => {
                transaction.lease().await?;
                self.set_begun();
                transaction.begin().await.inspect_err(|_| self.undo())
            },
            Engine::Postgres(transaction) => {
                transaction.begin().await?;
                self.set_begun();
                Ok(())
            },
        }
    }

    pub fn is_open(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Commits; the handle stays, for the request that it belongs to.
    pub async fn keep_changes(&self) -> Result<()> {
        let timer = Timer::start();
        let tables = std::mem::take(&mut *lock(&self.written));
        let after = self.after.take();
        let committed = each_database! { &self.engine,
            Engine::Sqlite(transaction) => transaction.commit(tables, after).await,
            Engine::Postgres(transaction) => {
                let committed = transaction.commit(tables).await;
                after.run(&committed);
                committed
            },
        };
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

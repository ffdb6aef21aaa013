//! What a database engine does for this crate.
//!
//! SQLite is in `sqlite/`, PostgreSQL in `postgres/`, and the database that a component has from its host in `remote/`.
//! Each implements the traits of this file. [`Database`](crate::Database), [`Local`](crate::Local),
//! [`Transaction`](crate::Transaction), [`Blocking`](crate::Blocking) and [`RowStream`](crate::RowStream) are written
//! once, with the types of the engine that is built in (`built_in.rs`).
//!
//! Start reading at [`Executor`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::after_commit::AfterCommit;
use super::changes::Changes;
use super::checked::Dialect;
use super::dependencies::OnCommit;
use super::error::{Kind, Result};
use super::query::Query;
use super::row::Row;
use super::status::Part;

/// Runs statements.
pub(crate) trait Executor {
    /// How a statement is run, and what is made of its rows. The module `verb` of the engine has one for each verb.
    type Verb<R>;
    type Batches: ReadBatches;
    type Transaction: Transact;

    fn dialect(&self) -> Dialect;

    /// Runs a statement. `own_transaction` is true while a transaction of the same request is open, for which a write
    /// must not wait.
    async fn run<T, R: Send + 'static>(
        &self,
        query: Query<'_, T>,
        verb: Self::Verb<R>,
        own_transaction: Option<&AtomicBool>,
    ) -> Result<R>;

    /// The rows of a query, to be read in batches.
    async fn stream<T>(&self, query: Query<'_, T>) -> Result<Self::Batches>;

    /// A transaction that has not begun.
    fn transaction(&self) -> Self::Transaction;

    /// Calls `then` with each notification on a channel, and with none where some may have been missed. An engine
    /// without channels ends at once.
    async fn relay(&self, _channel: &str, _then: impl Fn(Option<&str>)) -> Result<()> {
        Ok(())
    }
}

/// An opened database, which all threads of the process share. It runs statements whose futures any thread may poll.
pub(crate) trait Share: Executor + Clone {
    /// It for the handlers of one thread.
    type Handle: ForRequest;
    /// Its writer, for code that may block.
    type Writer<'c>: Block;

    /// It for the handlers of one thread.
    fn handle(&self) -> Self::Handle;

    /// Lends the writer to `work`, with what is to be done after each commit.
    fn write<R>(&self, work: impl FnOnce(Self::Writer<'_>, Option<&dyn OnCommit>) -> Result<R>) -> Result<R>;

    /// Sets what is done after each commit, unless it is set.
    fn set_on_commit(&self, then: Arc<dyn OnCommit>);

    /// Where it is, for people: without user and password.
    fn path(&self) -> &Path;

    /// Closes connections that are not in use.
    fn close_idle(&self) {}

    /// What is open and how many wait, for the status.
    fn status(&self) -> Vec<Part> {
        Vec::new()
    }

    /// An error if what is written would be lost or cannot be read.
    fn check_file(&self) -> Result<()> {
        Ok(())
    }

    /// An error if nothing can be written.
    fn check_writable(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a handle of one thread has for one request.
pub(crate) trait ForRequest: Clone {
    /// The handle for a new request.
    fn for_request(&self) -> Self {
        self.clone()
    }
}

/// Rows that are read in batches.
pub(crate) trait ReadBatches: Sized {
    /// The next rows; none at the end.
    async fn next<T: Row>(self) -> Result<(Self, Vec<T>)>;

    /// Frees what they take, without blocking this thread.
    fn discard(self) {}
}

/// A transaction, which a handler holds.
pub(crate) trait Transact {
    type Verb<R>;

    fn dialect(&self) -> Dialect;

    /// Has it see the database as if there were no other transaction.
    fn isolate(&mut self) {}

    /// A statement of it failed because of what other transactions did meanwhile.
    fn is_in_conflict(&self) -> bool {
        false
    }

    /// Begins it. `holds` is called as soon as other writes of the request would wait for it.
    async fn begin(&self, holds: impl FnOnce()) -> Result<()>;

    /// Runs a statement. Gives its result, and whether it may have changed any row.
    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Self::Verb<R>) -> Result<(Result<R>, bool)>;

    /// Runs statements that give no rows, in this order, until one fails. Gives what they changed, and whether they may
    /// have changed any row.
    async fn run_many(&self, queries: Vec<Query<'_>>) -> Result<(Result<Changes>, bool)>;

    /// Commits what was written to these tables, and announces it.
    async fn commit(&self, tables: Vec<&'static str>, after: AfterCommit) -> Result<()>;

    /// Undoes all of it, and waits until it is undone.
    async fn rollback(&self) -> Result<()>;

    /// Undoes all of it without waiting, if it is open. Later statements of it and its commit are errors.
    fn abandon(&self);
}

/// The writer, for code that may block.
pub(crate) trait Block: Copy {
    type Verb<R>;

    /// Runs a statement. Gives its result, and whether it may have changed any row.
    fn run<T, R: Send + 'static>(self, query: Query<'_, T>, verb: Self::Verb<R>) -> Result<(Result<R>, bool)>;

    fn begin(self) -> Result<()>;
    fn commit(self) -> Result<()>;
    fn rollback(self) -> Result<()>;
    fn is_in_transaction(self) -> bool;
}

/// An error while a transaction of the request is open, for what would wait for it without end, and with it all other
/// writes of the process.
pub(crate) fn check_outside(own_transaction: Option<&AtomicBool>) -> Result<()> {
    let is_open = own_transaction.is_some_and(|open| open.load(Ordering::Relaxed));
    if is_open { Err(Kind::OwnTransaction.into()) } else { Ok(()) }
}

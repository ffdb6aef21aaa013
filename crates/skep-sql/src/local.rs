//! The database, as one thread's handlers see it.
//!
//! Start reading at [`Local::run`]. Where a statement of SQLite runs is decided in `sqlite/thread.rs`, one of
//! PostgreSQL in `postgres/pool.rs`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::built_in::Handle;
use super::built_in::verb::{self, Verb};
use super::changes::Changes;
use super::dependencies::ReadTables;
use super::engine::{self, Executor, ForRequest};
use super::error::Result;
use super::query::Query;
use super::row::Row;
use super::stream::RowStream;
use super::timing::Timer;
use super::transaction::Transaction;
use super::verbs::row_verbs;

/// The database, as one thread's handlers see it: cheap to clone, and tied to its thread.
///
/// Short reads run at once on the thread itself, on a connection of its own. Reads that turn out slow, and all writes,
/// run on the server's pool, and only their handler waits for them. A read sees every write that had ended before it
/// began. Where a statement runs next, its own past decides; the budget is
/// [`Options::inline_budget`](super::Options::inline_budget).
///
/// A future of these that is dropped gives its connection back; a read is stopped, a write that has begun is ended. A
/// write whose rows (`returning`) cannot be read has happened all the same, unless a transaction around it is undone.
///
/// ```compile_fail
/// fn to_another_thread(db: skep_sql::Local) {
///     std::thread::spawn(move || drop(db));
/// }
/// ```
#[derive(Clone)]
pub struct Local {
    pub(super) engine: Handle,
    /// True while a transaction of the request is open that this handle belongs to.
    in_transaction: Option<Arc<AtomicBool>>,
    /// Of the page that this handle is for.
    reads: Option<ReadTables>,
}

impl Local {
    pub(super) fn new(engine: Handle) -> Self {
        Self { engine, in_transaction: None, reads: None }
    }

    row_verbs!([async] self: &Self, await);

    /// Runs a statement that gives no rows, always on the writer.
    ///
    /// # Errors
    /// While a transaction of the same request is open: the statement would wait for it, and it for the statement.
    pub async fn execute<'q>(&self, query: impl Into<Query<'q>>) -> Result<Changes> {
        self.run(query.into(), verb::execute()).await
    }

    /// Runs many statements that give no rows, in a transaction of their own: [`Transaction::execute_many`].
    pub async fn execute_many<'q, Q: Into<Query<'q>>>(&self, queries: impl IntoIterator<Item = Q>) -> Result<Changes> {
        let transaction = self.transaction().await?;
        let changes = transaction.execute_many(queries).await?;
        transaction.commit().await?;
        Ok(changes)
    }

    /// The rows of a query, read as they are sent, in constant memory: for exports, where [`all`](Self::all) would hold
    /// every row. An example is at [`RowStream`].
    ///
    /// The query runs to its end first, on the pool, into a temporary file
    /// ([`Options::stream_bytes`](super::Options::stream_bytes)): what is wrong with it is an error page, all rows are
    /// of one moment, and a client that reads slowly holds no thread and no snapshot.
    pub async fn stream<'q, T: Row>(&self, query: impl Into<Query<'q, T>>) -> Result<RowStream<T>> {
        let query = query.into();
        self.note_reads(&query);
        self.engine.stream(query).await.map(RowStream::of)
    }

    /// Begins a transaction: waits for the writer, and for the lock if another process has it.
    ///
    /// Until the transaction ends, every other write of this process waits. A handler that holds one should wait for
    /// nothing else.
    ///
    /// # Errors
    /// While another transaction of the same request is open.
    pub async fn transaction(&self) -> Result<Transaction> {
        engine::check_outside(self.in_transaction.as_deref())?;
        self.own_transaction().noting(self.reads.clone()).begun().await
    }

    /// The same, as if nobody else used the database.
    pub(super) async fn isolated(&self) -> Result<Transaction> {
        engine::check_outside(self.in_transaction.as_deref())?;
        self.own_transaction().isolated().noting(self.reads.clone()).begun().await
    }

    fn note_reads<T>(&self, query: &Query<'_, T>) {
        if let Some(reads) = &self.reads {
            reads.note(self.engine.dialect(), query);
        }
    }

    /// Runs a statement, and notes how long that took.
    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        self.note_reads(&query);
        let (timer, text) = (Timer::start(), query.text());
        let result = self.engine.run(query, verb, self.in_transaction.as_deref()).await;
        timer.note_statement(text);
        result
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Local {
    /// A handle for one request, which notices a write that would wait for the request's own transaction.
    #[must_use]
    pub fn for_request(&self) -> Self {
        Self { engine: self.engine.for_request(), in_transaction: Some(Arc::default()), reads: None }
    }

    /// Calls `then` with each notification on a channel of PostgreSQL, and with none where some may have been missed,
    /// such as before this listens. Ends with an error, and on SQLite at once.
    pub async fn relay(&self, channel: &str, then: impl Fn(Option<&str>)) -> Result<()> {
        self.engine.relay(channel, then).await
    }

    /// The same handle, which notes the tables that its statements read.
    #[must_use]
    pub fn noting(&self, reads: ReadTables) -> Self {
        Self { reads: Some(reads), ..self.clone() }
    }

    /// The transaction of the request that this handle is for, which has not begun.
    pub fn own_transaction(&self) -> Transaction {
        Transaction::new(self.engine.transaction()).of_request(self.in_transaction.as_ref())
    }
}

skep_units::opaque_debug!(Local);

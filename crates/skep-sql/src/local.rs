//! The database, as one thread's handlers see it.
//!
//! Start reading at [`Local::ask`], which decides where a statement runs.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::ffi;

use super::changes::Changes;
use super::checked::{Checked, Dialect};
use super::database::Shared;
use super::dependencies::{ReadTables, Writes};
use super::error::{Error, Kind, Result};
#[cfg(feature = "postgres")]
use super::postgres;
use super::query::Query;
use super::row::Row;
use super::stream::RowStream;
use super::timing::Timer;
use super::transaction::Transaction;
use super::value::Value;
use super::verb::{Make, Verb, Verbs};
use super::verbs::row_verbs;
use crate::sqlite::connection::{Connection, LONGEST_KEPT, Role, Verb as SqliteVerb};
use crate::sqlite::history::{Executor, History};

/// How many statements a thread remembers. A program that puts its texts together at run time may have more; when
/// they do not fit, all are forgotten and learned again.
const REMEMBERED: usize = 1024;

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
/// fn to_another_thread(db: skep::sql::Local) {
///     std::thread::spawn(move || drop(db));
/// }
/// ```
#[derive(Clone)]
pub struct Local {
    engine: Engine,
    /// True while a transaction of the request is open that this handle belongs to.
    in_transaction: Option<Arc<AtomicBool>>,
    /// Of the page that this handle is for.
    reads: Option<ReadTables>,
    /// What the request has written, where there is a replica that must have it.
    #[cfg(feature = "postgres")]
    written: Option<postgres::Written>,
    /// Reads may go to the replica, if that has the log of writes up to this place.
    #[cfg(feature = "postgres")]
    replica: Option<u64>,
}

/// Which database it is.
#[derive(Clone)]
enum Engine {
    Sqlite(Rc<Inner>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<postgres::Pool>),
}

/// SQLite, as one thread sees it.
struct Inner {
    shared: Arc<Shared>,
    connection: OnceCell<Connection>,
    statements: RefCell<HashMap<Box<str>, Rc<Statement>>>,
}

/// What this thread knows of a statement.
pub(super) struct Statement {
    pub(super) reads_only: bool,
    history: Cell<History>,
}

impl Local {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let inner = Inner { shared, connection: OnceCell::new(), statements: RefCell::default() };
        Self::of(Engine::Sqlite(Rc::new(inner)))
    }

    #[cfg(feature = "postgres")]
    pub(super) fn postgres(pool: Arc<postgres::Pool>) -> Self {
        Self::of(Engine::Postgres(pool))
    }

    fn of(engine: Engine) -> Self {
        Self {
            engine,
            in_transaction: None,
            reads: None,
            #[cfg(feature = "postgres")]
            written: None,
            #[cfg(feature = "postgres")]
            replica: None,
        }
    }

    /// The connections to PostgreSQL, if that is the database.
    #[cfg(feature = "postgres")]
    pub(super) fn pool(&self) -> Option<&Arc<postgres::Pool>> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(pool) => Some(pool),
        }
    }

    /// SQLite, as all threads share it.
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.inner().shared
    }

    /// For what is done with SQLite only.
    fn inner(&self) -> &Inner {
        match &self.engine {
            Engine::Sqlite(inner) => inner,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => unreachable!("each method asks first which database it is"),
        }
    }

    fn note_reads<T>(&self, query: &Query<'_, T>) {
        let Some(reads) = &self.reads else { return };
        match &self.engine {
            Engine::Sqlite(_) => reads.note(query),
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => reads.note_postgres(query),
        }
    }

    row_verbs!([async] self: &Self, Verbs.await);

    /// Runs a statement that gives no rows, always on the writer.
    ///
    /// # Errors
    /// While a transaction of the same request is open: the statement would wait for it, and it for the statement.
    pub async fn execute<'q>(&self, query: impl Into<Query<'q>>) -> Result<Changes> {
        let query = query.into();
        self.note_reads(&query);
        let (timer, statement, writes) = (Timer::start(), query.text(), Writes::of(&query));
        let result = match &self.engine {
            Engine::Sqlite(inner) => {
                let (text, values) = owned(query)?;
                self.check_outside_transaction().map_err(|error| error.of(&text))?;
                inner.shared.write(writes, move |connection| connection.execute(&text, &values)).await
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(pool) => {
                pool.ask(postgres::job(query)?, postgres::execute(), writes, self.written.clone()).await
            }
        };
        timer.note_statement(statement);
        result
    }

    /// The rows of a query, read as they are sent, in constant memory: for exports, where [`all`](Self::all) would hold every row. An example
    /// is at `skep::Body::from_rows`.
    ///
    /// The query runs to its end first, on the pool, into a temporary file ([`Options::stream_bytes`](super::Options::stream_bytes)): what is
    /// wrong with it is an error page, all rows are of one moment, and a client that reads slowly holds no thread and no snapshot.
    pub async fn stream<'q, T: Row>(&self, query: impl Into<Query<'q, T>>) -> Result<RowStream<T>> {
        let query = query.into();
        self.note_reads(&query);
        match &self.engine {
            Engine::Sqlite(inner) => RowStream::open(&inner.shared, query).await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(pool) => RowStream::open_postgres(pool, query).await,
        }
    }

    /// Listens on a channel of PostgreSQL: what anybody says there from now on, by `notify` or `pg_notify`, in whatever process, machine or
    /// program. With the feature `postgres`.
    ///
    /// A handler that listens first and then reads the database misses no change. All who listen on a thread share one connection,
    /// which is opened again when it is lost. Then, and when more than
    /// [`notifications`](super::Options::notifications) wait to be taken, the next one is [`Missed`](super::Notification::Missed).
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use futures_util::StreamExt;
    /// use skep::prelude::*;
    /// use skep::sql::Notification;
    /// use skep::sse::Event;
    ///
    /// async fn news(cx: &mut Cx<'_>) -> Result {
    ///     let said = cx.db().listen("news").await?;
    ///     let events = said.map(|said| {
    ///         Ok::<_, Infallible>(match said {
    ///             Notification::Said(news) => Event::text(news),
    ///             Notification::Missed => Event::text("").name("reload"),
    ///         })
    ///     });
    ///     Ok(cx.events(events).into())
    /// }
    /// ```
    ///
    /// # Errors
    /// If PostgreSQL cannot be reached, the name is longer than 63 bytes, or the database is SQLite.
    #[cfg(feature = "postgres")]
    pub async fn listen(&self, channel: &str) -> Result<super::Notifications> {
        match &self.engine {
            Engine::Sqlite(_) => Err(Error::other("`listen` is for PostgreSQL, and the database is SQLite")),
            Engine::Postgres(pool) => pool.listen(channel).await,
        }
    }

    /// Begins a transaction: waits for the writer, and for the lock if another process has it.
    ///
    /// Until the transaction ends, every other write of this process waits. A handler that holds one should wait for
    /// nothing else.
    ///
    /// # Errors
    /// While another transaction of the same request is open.
    pub async fn transaction(&self) -> Result<Transaction> {
        self.begun(self.own_transaction()).await
    }

    /// The same, as if nobody else used the database.
    pub(super) async fn isolated(&self) -> Result<Transaction> {
        self.begun(self.own_transaction().isolated()).await
    }

    async fn begun(&self, transaction: Transaction) -> Result<Transaction> {
        self.check_outside_transaction()?;
        let transaction = transaction.noting(self.reads.clone());
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    /// There is one writer: what is written beside the request's own transaction would wait for it without end, and with it
    /// all other writes of the process.
    fn check_outside_transaction(&self) -> Result<()> {
        let is_open = self.in_transaction.as_ref().is_some_and(|open| open.load(Ordering::Relaxed));
        if is_open { Err(Kind::OwnTransaction.into()) } else { Ok(()) }
    }

    /// Runs a statement that gives rows, and notes how long that took.
    async fn ask<R: Send + 'static, T>(&self, query: Query<'_, T>, verb: Make<R>) -> Result<R> {
        self.note_reads(&query);
        let (timer, text, verb): (_, _, Verb<R>) = (Timer::start(), query.text(), verb());
        let result = match &self.engine {
            Engine::Sqlite(_) => self.ask_sqlite(query, verb.sqlite).await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(pool) => {
                let writes = Writes::of(&query);
                let (job, verb, written) = (postgres::job(query)?, verb.postgres, self.written.clone());
                match self.replica {
                    Some(place) => {
                        let place = place.max(self.written().unwrap_or(0));
                        pool.ask_replica(place, job, verb, writes, written).await
                    }
                    None => pool.ask(job, verb, writes, written).await,
                }
            }
        };
        timer.note_statement(text);
        result
    }

    /// Runs a statement that gives rows wherever it belongs.
    async fn ask_sqlite<R: Send + 'static, T>(&self, query: Query<'_, T>, verb: SqliteVerb<R>) -> Result<R> {
        let (text, checked) = (query.text(), query.checked());
        let writes = Writes::of(&query);
        let values = query.into_values(Dialect::Sqlite)?;
        let known = match self.known(text, checked) {
            Ok(known) => known,
            // The connection of this thread cannot tell now: one on the pool may wait until it can.
            Err(error) if may_pass(&error) => None,
            Err(error) => return Err(error),
        };
        match known {
            Some(statement) if statement.reads_only => {
                if let Some(result) = self.inline(&statement, text, &values, verb) {
                    return result;
                }
                self.on_reader(Some(&statement), text, values, verb).await
            }
            Some(_) => self.on_writer(text, values, writes, verb).await,
            None => {
                let asked = text.to_owned();
                let ask: SqliteVerb<bool> = |connection, text, _| connection.reads_only(text);
                if self.on_reader(None, &asked, Vec::new(), ask).await? {
                    self.on_reader(None, text, values, verb).await
                } else {
                    self.on_writer(text, values, writes, verb).await
                }
            }
        }
    }

    /// What is known of the statement; a new one is prepared.
    pub(super) fn known(&self, text: &str, checked: Option<&Checked>) -> Result<Option<Rc<Statement>>> {
        if let Some(statement) = self.inner().statements.borrow().get(text) {
            return Ok(Some(Rc::clone(statement)));
        }
        let reads_only = match checked {
            Some(checked) => checked.reads_only(),
            None => self.connection()?.reads_only(text)?,
        };
        let statement = Rc::new(Statement { reads_only, history: Cell::new(History::new()) });
        if text.len() > LONGEST_KEPT {
            return Ok(Some(statement));
        }
        let mut statements = self.inner().statements.borrow_mut();
        if statements.len() >= REMEMBERED {
            statements.clear();
        }
        statements.insert(text.into(), Rc::clone(&statement));
        Ok(Some(statement))
    }

    /// Runs a read here and now. `None` if it belongs on the pool, is stopped, or would have to wait.
    pub(super) fn inline<R>(
        &self,
        statement: &Statement,
        text: &str,
        values: &[Value<'_>],
        verb: SqliteVerb<R>,
    ) -> Option<Result<R>> {
        let budget = self.inner().shared.options.inline_budget;
        let mut history = statement.history.get();
        if history.place() == Executor::Pool || budget.is_zero() {
            return None;
        }
        let connection = self.connection().ok()?;
        let started = Instant::now();
        let result = connection.within(budget, started, |connection| verb(connection, text, values));
        let result = self.inner().shared.note(result);
        match &result {
            Err(error) if error.is_interrupted() => history.was_stopped(),
            Err(error) if may_pass(error) => return None,
            _ => history.ran_inline(started.elapsed(), budget),
        }
        statement.history.set(history);
        let stopped = result.as_ref().is_err_and(Error::is_interrupted);
        (!stopped).then_some(result)
    }

    /// Runs a read on the pool, until it ends or nobody waits for it any more.
    async fn on_reader<R: Send + 'static>(
        &self,
        statement: Option<&Statement>,
        text: &str,
        values: Vec<Value<'_>>,
        verb: SqliteVerb<R>,
    ) -> Result<R> {
        let (text, values) = (text.to_owned(), into_owned(values));
        let (result, took) = self.inner().shared.read(move |connection| verb(connection, &text, &values)).await?;
        if let Some(statement) = statement {
            self.ran_on_pool(statement, took);
        }
        Ok(result)
    }

    pub(super) fn ran_on_pool(&self, statement: &Statement, took: Duration) {
        let mut history = statement.history.get();
        history.ran_on_pool(took, self.inner().shared.options.inline_budget);
        statement.history.set(history);
    }

    async fn on_writer<R: Send + 'static>(
        &self,
        text: &str,
        values: Vec<Value<'_>>,
        writes: Writes,
        verb: SqliteVerb<R>,
    ) -> Result<R> {
        self.check_outside_transaction().map_err(|error| error.of(text))?;
        let (text, values) = (text.to_owned(), into_owned(values));
        self.inner().shared.write(writes, move |connection| verb(connection, &text, &values)).await
    }

    /// The connection of this thread, opened by the first read.
    fn connection(&self) -> Result<&Connection> {
        if let Some(connection) = self.inner().connection.get() {
            return Ok(connection);
        }
        let connection = self.inner().shared.connect(Role::Inline)?;
        Ok(self.inner().connection.get_or_init(|| connection))
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Local {
    /// A handle for one request, which notices a write that would wait for the request's own transaction.
    #[must_use]
    pub fn for_request(&self) -> Self {
        Self {
            in_transaction: Some(Arc::default()),
            #[cfg(feature = "postgres")]
            written: self.has_replica().then(postgres::Written::default),
            ..Self::of(self.engine.clone())
        }
    }

    /// Calls `then` for each notification on a channel of PostgreSQL, and where some may have been missed. Ends with an error, and on
    /// SQLite at once.
    pub async fn relay(&self, channel: &str, then: impl Fn()) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Engine::Postgres(pool) = &self.engine {
            let mut said = pool.listen(channel).await?;
            loop {
                said.next().await;
                then();
            }
        }
        _ = (channel, then);
        Ok(())
    }

    /// The same handle, whose reads may go to the replica if that has the log of writes up to this place.
    #[cfg(feature = "postgres")]
    #[must_use]
    pub fn replica(&self, place: u64) -> Self {
        Self { replica: Some(place), ..self.clone() }
    }

    #[cfg(feature = "postgres")]
    pub fn has_replica(&self) -> bool {
        matches!(&self.engine, Engine::Postgres(pool) if pool.replica.is_some())
    }

    /// A place in the log of writes behind all that the request has written, if it has and there is a replica.
    #[cfg(feature = "postgres")]
    pub fn written(&self) -> Option<u64> {
        self.written.as_ref().map(postgres::Written::place).filter(|place| *place > 0)
    }

    /// The same handle, which notes the tables that its statements read.
    #[must_use]
    pub fn noting(&self, reads: ReadTables) -> Self {
        Self { reads: Some(reads), ..self.clone() }
    }

    /// The transaction of the request that this handle is for, which has not begun.
    pub fn own_transaction(&self) -> Transaction {
        let is_open = self.in_transaction.clone().unwrap_or_default();
        match &self.engine {
            Engine::Sqlite(inner) => Transaction::not_begun(Arc::clone(&inner.shared), is_open),
            #[cfg(feature = "postgres")]
            Engine::Postgres(pool) => {
                let transaction = postgres::Transaction::not_begun(Arc::clone(pool), self.written.clone());
                Transaction::postgres(transaction, is_open)
            }
        }
    }
}

skep_units::opaque_debug!(Local);

/// True for errors of a connection that must not wait, which one that may wait does not have.
fn may_pass(error: &Error) -> bool {
    let codes =
        [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL, ffi::SQLITE_CANTOPEN, ffi::SQLITE_INTERRUPT];
    codes.contains(&error.primary())
}

pub(super) fn into_owned(values: Vec<Value<'_>>) -> Vec<Value<'static>> {
    values.into_iter().map(Value::into_owned).collect()
}

/// What must go to another thread.
pub(super) fn owned<T>(query: Query<'_, T>) -> Result<(String, Vec<Value<'static>>)> {
    let text = query.text().to_owned();
    Ok((text, into_owned(query.into_values(Dialect::Sqlite)?)))
}

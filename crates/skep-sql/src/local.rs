//! The database, as one thread's handlers see it.
//!
//! Start reading at [`Local::ask`]. Where a statement of SQLite runs is decided in `sqlite/thread.rs`, one of
//! PostgreSQL in `postgres/pool.rs`.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::changes::Changes;
use super::dependencies::ReadTables;
#[cfg(feature = "postgres")]
use super::dependencies::Writes;
use super::each::each_database;
#[cfg(feature = "postgres")]
use super::error::Error;
use super::error::Result;
#[cfg(feature = "postgres")]
use super::postgres;
use super::query::Query;
use super::row::Row;
use super::stream::{RowStream, Source};
use super::timing::Timer;
use super::transaction::Transaction;
use super::verb::{Make, Verb, Verbs};
use super::verbs::row_verbs;
use crate::sqlite;
use crate::sqlite::shared::Shared;
use crate::sqlite::thread::{self, Thread};

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
pub(super) enum Engine {
    Sqlite(Rc<Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<postgres::Pool>),
}

/// SQLite, as one thread sees it.
pub(super) struct Sqlite {
    pub(super) shared: Arc<Shared>,
    pub(super) thread: Thread,
}

impl Local {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self::of(Engine::Sqlite(Rc::new(Sqlite { shared, thread: Thread::default() })))
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

    /// Which database it is.
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    fn note_reads<T>(&self, query: &Query<'_, T>) {
        let Some(reads) = &self.reads else { return };
        each_database! { &self.engine,
            Engine::Sqlite(_) => reads.note(query),
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
        let (timer, statement) = (Timer::start(), query.text());
        let result = each_database! { &self.engine,
            Engine::Sqlite(sqlite) => sqlite.shared.execute(query, self.in_transaction.as_deref()).await,
            Engine::Postgres(pool) => {
                let writes = Writes::of(&query);
                pool.ask(postgres::job(query)?, postgres::execute(), writes, self.written.clone()).await
            },
        };
        timer.note_statement(statement);
        result
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
        Ok(RowStream::of(each_database! { &self.engine,
            Engine::Sqlite(sqlite) => Source::Sqlite(sqlite::Table::open(&sqlite.shared, query).await?),
            Engine::Postgres(pool) => Source::Postgres(postgres::Cursor::of_query(pool, query).await?),
        }))
    }

    /// Listens on a channel of PostgreSQL: what anybody says there from now on, by `notify` or `pg_notify`, in whatever
    /// process, machine or program. With the feature `postgres`.
    ///
    /// A handler that listens first and then reads the database misses no change. All who listen on a thread share one
    /// connection, which is opened again when it is lost. Then, and when more than
    /// [`notifications`](super::Options::notifications) wait to be taken, the next one is
    /// [`Missed`](super::Notification::Missed).
    ///
    /// ```
    /// use skep_sql::{Local, Notification};
    ///
    /// async fn news(db: &Local) -> skep_sql::Result<()> {
    ///     let mut notifications = db.listen("news").await?;
    ///     loop {
    ///         match notifications.next().await {
    ///             Notification::Said(news) => println!("{news}"),
    ///             Notification::Missed => println!("read all of it again"),
    ///         }
    ///     }
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
        thread::check_outside(self.in_transaction.as_deref())?;
        let transaction = transaction.noting(self.reads.clone());
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    /// Runs a statement that gives rows, and notes how long that took.
    async fn ask<R: Send + 'static, T>(&self, query: Query<'_, T>, verb: Make<R>) -> Result<R> {
        self.note_reads(&query);
        let (timer, text, verb): (_, _, Verb<R>) = (Timer::start(), query.text(), verb());
        let result = each_database! { &self.engine,
            Engine::Sqlite(sqlite) => {
                thread::ask(&sqlite.thread, &sqlite.shared, query, verb.sqlite, self.in_transaction.as_deref()).await
            },
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
            },
        };
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
        Self {
            in_transaction: Some(Arc::default()),
            #[cfg(feature = "postgres")]
            written: self.has_replica().then(postgres::Written::default),
            ..Self::of(self.engine.clone())
        }
    }

    /// Calls `then` with each notification on a channel of PostgreSQL, and with none where some may have been missed,
    /// such as before this listens. Ends with an error, and on SQLite at once.
    pub async fn relay(&self, channel: &str, then: impl Fn(Option<&str>)) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Engine::Postgres(pool) = &self.engine {
            let mut said = pool.listen(channel).await?;
            then(None);
            loop {
                match said.next().await {
                    super::Notification::Said(said) => then(Some(&said)),
                    super::Notification::Missed => then(None),
                }
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
        each_database! { &self.engine,
            Engine::Sqlite(sqlite) => Transaction::not_begun(Arc::clone(&sqlite.shared), is_open),
            Engine::Postgres(pool) => {
                let transaction = postgres::Transaction::not_begun(Arc::clone(pool), self.written.clone());
                Transaction::postgres(transaction, is_open)
            },
        }
    }
}

skep_units::opaque_debug!(Local);

//! The database of an application.
//!
//! Its verbs have futures that any thread may poll: for runtimes that move tasks from thread to thread, as that of axum
//! does. A short read of SQLite runs on whichever thread polls it; the rest on the pool. PostgreSQL has one set of
//! connections for all threads.

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
mod postgres;
#[cfg(target_family = "wasm")]
mod remote;
#[cfg(not(target_family = "wasm"))]
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use super::blocking::Blocking;
use super::built_in::Backend;
use super::built_in::verb::{self, Verb};
use super::changes::Changes;
use super::checked::Dialect;
use super::dependencies::OnCommit;
use super::engine::{Executor, Share};
use super::error::Result;
use super::local::Local;
use super::query::Query;
use super::row::Row;
use super::status::Part;
use super::stream::RowStream;
use super::timing::Timer;
use super::transaction::Transaction;
use super::verbs::row_verbs;

/// The database of an application: one for the process, cheap to clone, shared by its threads.
///
/// ```
/// use std::sync::Arc;
/// use skep_sql::offload::Inline;
/// use skep_sql::{Database, Migration, Migrations};
///
/// const MIGRATIONS: Migrations =
///     Migrations::new(&[Migration::new(1, "0001_posts.sql", "create table post (title text not null)")]);
///
/// let database = Database::temporary(&MIGRATIONS, Arc::new(Inline))?;
/// database.write(|writer| writer.execute("insert into post values ('Hello')"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Database {
    pub(super) backend: Backend,
}

/// The verbs, for handlers whose futures must be `Send`: [`Local`] has the same for one thread.
impl Database {
    row_verbs!([async] self: &Self, await);

    /// Runs a statement that gives no rows, always on the writer.
    ///
    /// On SQLite it waits for the writer: [`transaction`](Self::transaction) says for how long.
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

    /// The rows of a query, read as they are sent, in constant memory: [`Local::stream`]. [`RowStream`] has an example.
    pub async fn stream<'q, T: Row>(&self, query: impl Into<Query<'q, T>>) -> Result<RowStream<T>> {
        self.backend.stream(query.into()).await.map(RowStream::of)
    }

    /// Begins a transaction: waits for the writer, and for the lock if another process has it.
    ///
    /// On SQLite, every other write of this process waits until it ends. Write by the transaction's own verbs until
    /// then. A write by the database's verbs in the same task would wait for itself: it is an error after
    /// [`Options::busy_timeout`](crate::Options::busy_timeout), also if the transaction would have ended later. On
    /// PostgreSQL it waits only for rows that the transaction has written, as long as a statement may take.
    pub async fn transaction(&self) -> Result<Transaction> {
        Transaction::new(self.backend.transaction()).begun().await
    }

    /// The same, as if nobody else used the database.
    pub(super) async fn isolated(&self) -> Result<Transaction> {
        Transaction::new(self.backend.transaction()).isolated().begun().await
    }

    /// Runs a statement, and notes how long that took.
    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        let (timer, text) = (Timer::start(), query.text());
        let result = self.backend.run(query, verb, None).await;
        timer.note_statement(text);
        result
    }
}

impl Database {
    pub(super) fn of(backend: impl Into<Backend>) -> Self {
        Self { backend: backend.into() }
    }

    /// The database for one thread's handlers. Made once for each thread: what it learns and prepares stays with it.
    #[must_use]
    pub fn local(&self) -> Local {
        Local::new(self.backend.handle())
    }

    /// Lends the writer to `work`, which may read too. For code that may block (start-up, imports, tools): it waits for
    /// the writer and for the disk. On a reactor thread it would stall every request, or wait forever for a transaction
    /// that a handler of the same thread holds.
    ///
    /// In a component, others may write between two statements of it, unless it begins a
    /// [transaction](Blocking::transaction).
    pub fn write<R>(&self, work: impl FnOnce(&mut Blocking<'_>) -> Result<R>) -> Result<R> {
        self.backend.write(|writer, on_commit| work(&mut Blocking::new(writer, on_commit)))
    }

    /// Has each commit of this process call `then` with the tables that were written: to invalidate what is made of
    /// them, such as pages in a cache. The first call counts; [`OnCommit`] has an example.
    pub fn on_commit(&self, then: Arc<dyn OnCommit>) {
        self.backend.set_on_commit(then);
    }

    /// Which database it is, for a library with statements for both: `database.dialect() == Dialect::Sqlite`.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.backend.dialect()
    }

    pub(super) fn is_sqlite(&self) -> bool {
        self.dialect() == Dialect::Sqlite
    }

    /// Where the file is; of PostgreSQL the address, without user and password. A component is not told: its path is
    /// empty.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.backend.path()
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// Whether all writes of the process wait for each other, as those of SQLite do.
    #[must_use]
    pub fn has_one_writer(&self) -> bool {
        self.is_sqlite()
    }

    /// The names of all tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        let statement = match self.dialect() {
            Dialect::Sqlite => "select name from sqlite_schema where type = 'table'",
            Dialect::Postgres => "select tablename from pg_tables where schemaname = any (current_schemas(false))",
        };
        self.write(|db| db.all(statement))
    }

    /// Makes tables of the framework's own, if they are not there.
    pub fn make_tables(&self, sqlite: &[&str], postgres: &[&str]) -> Result<()> {
        let statements = if self.is_sqlite() { sqlite } else { postgres };
        self.write(|db| {
            db.transaction(|db| statements.iter().try_for_each(|statement| db.execute(*statement).map(drop)))
        })
    }

    /// Closes connections that nobody uses; they are opened again when they are needed. Those to PostgreSQL belong to
    /// threads.
    pub fn close_idle(&self) {
        self.backend.close_idle();
    }

    /// What is open and who waits, for the status.
    #[must_use]
    pub fn status(&self) -> Vec<Part> {
        self.backend.status()
    }

    /// Why what is written would be lost or cannot be read: the file is gone, or damaged.
    pub fn check_file(&self) -> Result<()> {
        Share::check_file(&self.backend)
    }

    /// Why nothing can be written: another user owns a file of the database, or the file system is read-only.
    pub fn check_writable(&self) -> std::io::Result<()> {
        self.backend.check_writable()
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.path()).finish_non_exhaustive()
    }
}

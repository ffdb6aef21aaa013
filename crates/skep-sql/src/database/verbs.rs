//! The verbs of a database whose futures any thread may poll: for runtimes that move tasks from thread to thread, as
//! that of axum does.
//!
//! A short read of SQLite runs on whichever thread polls it; the rest on the pool. PostgreSQL has one set of
//! connections for all threads.

use std::sync::Arc;

use super::{Database, Engine};
use crate::changes::Changes;
#[cfg(feature = "postgres")]
use crate::dependencies::Writes;
use crate::each::each_database;
#[cfg(feature = "postgres")]
use crate::error::Error;
use crate::error::Result;
#[cfg(feature = "postgres")]
use crate::postgres;
use crate::query::Query;
use crate::row::Row;
use crate::sqlite;
use crate::sqlite::thread::{self, AnyThread};
use crate::stream::{RowStream, Source};
use crate::timing::Timer;
use crate::transaction::Transaction;
use crate::verb::{Make, Verb, Verbs};
use crate::verbs::row_verbs;

/// The verbs, for handlers whose futures must be `Send`: [`Local`](super::Local) has the same for one thread.
impl Database {
    row_verbs!([async] self: &Self, Verbs.await);

    /// Runs a statement that gives no rows, always on the writer.
    ///
    /// On SQLite it waits for the writer: also for a transaction that the same task holds, and then for ever.
    pub async fn execute<'q>(&self, query: impl Into<Query<'q>>) -> Result<Changes> {
        let query = query.into();
        let (timer, statement) = (Timer::start(), query.text());
        let result = each_database! { &self.engine,
            Engine::Sqlite(shared) => shared.execute(query, None).await,
            Engine::Postgres(server) => {
                let writes = Writes::of(&query);
                server.pool().ask(postgres::job(query)?, postgres::execute(), writes, None).await
            },
        };
        timer.note_statement(statement);
        result
    }

    /// The rows of a query, read as they are sent, in constant memory: [`Local::stream`](super::Local::stream).
    /// [`RowStream`] has an example.
    pub async fn stream<'q, T: Row>(&self, query: impl Into<Query<'q, T>>) -> Result<RowStream<T>> {
        let query = query.into();
        Ok(RowStream::of(each_database! { &self.engine,
            Engine::Sqlite(shared) => Source::Sqlite(sqlite::Table::open(shared, query).await?),
            Engine::Postgres(server) => Source::Postgres(postgres::Cursor::of_query(server.pool(), query).await?),
        }))
    }

    /// Listens on a channel of PostgreSQL: `Local::listen`.
    ///
    /// # Errors
    /// If PostgreSQL cannot be reached, the name is longer than 63 bytes, or the database is SQLite.
    #[cfg(feature = "postgres")]
    pub async fn listen(&self, channel: &str) -> Result<crate::Notifications> {
        match &self.engine {
            Engine::Sqlite(_) => Err(Error::other("`listen` is for PostgreSQL, and the database is SQLite")),
            Engine::Postgres(server) => server.pool().listen(channel).await,
        }
    }

    /// Begins a transaction: waits for the writer, and for the lock if another process has it.
    ///
    /// On SQLite, every other write of this process waits until it ends. Write by the transaction's own verbs until
    /// then: a write by the database's, in the same task, would wait for itself.
    pub async fn transaction(&self) -> Result<Transaction> {
        self.begun(self.own_transaction()).await
    }

    /// The same, as if nobody else used the database.
    pub(crate) async fn isolated(&self) -> Result<Transaction> {
        self.begun(self.own_transaction().isolated()).await
    }

    async fn begun(&self, transaction: Transaction) -> Result<Transaction> {
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    fn own_transaction(&self) -> Transaction {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => Transaction::not_begun(Arc::clone(shared), Arc::default()),
            Engine::Postgres(server) => {
                let transaction = postgres::Transaction::not_begun(Arc::clone(server.pool()), None);
                Transaction::postgres(transaction, Arc::default())
            },
        }
    }

    /// Runs a statement that gives rows, and notes how long that took.
    async fn ask<R: Send + 'static, T>(&self, query: Query<'_, T>, verb: Make<R>) -> Result<R> {
        let (timer, text, verb): (_, _, Verb<R>) = (Timer::start(), query.text(), verb());
        let result = each_database! { &self.engine,
            Engine::Sqlite(shared) => thread::ask(&AnyThread, shared, query, verb.sqlite, None).await,
            Engine::Postgres(server) => {
                let writes = Writes::of(&query);
                server.pool().ask(postgres::job(query)?, verb.postgres, writes, None).await
            },
        };
        timer.note_statement(text);
        result
    }
}

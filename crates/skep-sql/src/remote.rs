//! The database of a component, which its host has opened: `wit/skep.wit`, interface `sql`.
//!
//! A call of the host runs one statement and brings all of its rows. To the component it is an ordinary call; the host
//! meanwhile answers other requests. Start reading at [`Link::ask`].

mod bindings;
mod blocking;
mod link;
mod transaction;

use std::rc::Rc;
use std::sync::Arc;

pub use self::blocking::Blocking;
use self::link::{Asked, Committed, Link, Place, written};
pub use self::transaction::Transaction;
use super::changes::Changes;
use super::checked::Dialect;
use super::dependencies::{OnCommit, ReadTables};
use super::error::Result;
use super::migrations::Migrations;
use super::query::Query;
use super::row::Row;
use super::stream::RowStream;
use super::verbs::verbs;

/// The database of an application. Its host has opened it.
#[derive(Clone)]
pub struct Database {
    link: Link,
    on_commit: Committed,
}

impl Database {
    /// The database for one thread's handlers.
    #[must_use]
    pub fn local(&self) -> Local {
        Local { link: Rc::new(self.link), on_commit: self.on_commit.clone(), reads: None }
    }

    /// Which database it is, for a library that has statements for both.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.link.dialect()
    }

    /// Lends the writer to `work`, which may read too. For code that may block (start-up, imports, tools).
    ///
    /// Between two statements of it others may write, unless it [begins a transaction](Blocking::transaction).
    pub fn write<R>(&self, work: impl FnOnce(&mut Blocking<'_>) -> Result<R>) -> Result<R> {
        work(&mut Blocking::new(&self.link, &self.on_commit))
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// Has it opened, and what it lacks of the migrations run.
    pub fn open(dialect: Dialect, migrations: &Migrations, own: &[&str]) -> Result<Self, String> {
        let list = migrations.list(dialect)?;
        if let Some(function) = migrations.first_function().filter(|_| dialect == Dialect::Sqlite) {
            return Err(format!(
                "Migrations::with_functions gives `{function}`, and the host of a component calls nothing of it: compute the value in the \
                 handler that writes it, and store it in a column"
            ));
        }
        let own: Vec<String> = own.iter().map(|statement| (*statement).to_owned()).collect();
        Ok(Self { link: Link::open(dialect, &list, &own)?, on_commit: Committed::default() })
    }

    /// Has each commit of this instance call `then`.
    pub fn on_commit(&self, then: Arc<dyn OnCommit>) {
        self.on_commit.set(then);
    }

    /// The names of all tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        let statement = match self.link.dialect() {
            Dialect::Sqlite => "select name from sqlite_schema where type = 'table'",
            Dialect::Postgres => "select tablename from pg_tables where schemaname = any (current_schemas(false))",
        };
        self.write(|db| db.all(statement))
    }

    /// Sixteen bytes that nobody can foretell.
    pub fn random(&self) -> Result<Vec<u8>> {
        let statement = match self.link.dialect() {
            Dialect::Sqlite => "select randomblob(16)",
            // Six of its bits are always the same.
            Dialect::Postgres => "select uuid_send(gen_random_uuid())",
        };
        Ok(self.write(|db| db.one(statement))?.unwrap_or_default())
    }
}

/// The database, as handlers see it: cheap to clone, and tied to its thread.
///
/// A future of these that is dropped before it was asked for does nothing; once asked for, it is done at once.
#[derive(Clone)]
pub struct Local {
    /// Native, this type is tied to its thread as well.
    link: Rc<Link>,
    on_commit: Committed,
    /// Of the page that this handle is for.
    reads: Option<ReadTables>,
}

impl Local {
    verbs!([async] self: &Self, Link.await);

    async fn ask<T, R>(&self, query: Query<'_, T>, verb: Asked<T, R>) -> Result<R> {
        if let Some(reads) = &self.reads {
            self.link.note(reads, &query);
        }
        let tables = written(&query);
        let result = verb(*self.link, Place::Best, query);
        self.on_commit.announce(&tables);
        result
    }

    /// The rows of a query, for exports. A component has them all at once from its host, 32 MiB at most.
    pub async fn stream<'q, T: Row>(&self, query: impl Into<Query<'q, T>>) -> Result<RowStream<T>> {
        self.all(query).await.map(RowStream::new)
    }

    /// Begins a transaction: waits for the writer, and for the lock if another process has it.
    ///
    /// Until the transaction ends, every other write of this application waits. An instance has one at a time: to begin
    /// another one inside it is an error.
    pub async fn transaction(&self) -> Result<Transaction> {
        let transaction = self.own_transaction();
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    /// A transaction as if nobody else used the database.
    pub(super) async fn isolated(&self) -> Result<Transaction> {
        let transaction = self.own_transaction().isolated();
        transaction.ensure_begun().await?;
        Ok(transaction)
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Local {
    /// A handle for one request. The host notices a write that would wait for the request's own transaction.
    #[must_use]
    pub fn for_request(&self) -> Self {
        self.clone()
    }

    /// The same handle, which notes the tables that its statements read.
    #[must_use]
    pub fn noting(&self, reads: ReadTables) -> Self {
        Self { reads: Some(reads), ..self.clone() }
    }

    pub fn own_transaction(&self) -> Transaction {
        Transaction::not_begun(*self.link, self.on_commit.clone(), self.reads.clone())
    }
}

skep_units::opaque_debug!(Database);
skep_units::opaque_debug!(Local);

//! The same verbs for code that may block: start-up hooks, imports, tools.

use super::changes::Changes;
use super::checked::Dialect;
use super::dependencies::{self, OnCommit, Writes};
use super::each::each_database;
use super::error::{Error, Result};
#[cfg(feature = "postgres")]
use super::postgres;
use super::query::Query;
use super::row::Row;
use super::verb::{Make, Verbs};
use super::verbs::verbs;
use crate::sqlite::connection::Connection;

/// The writer, for code that may block. See [`Database::write`](super::Database::write).
pub struct Blocking<'c> {
    engine: Engine<'c>,
    on_commit: Option<&'c dyn OnCommit>,
    /// In the open transaction.
    written: Vec<&'static str>,
    /// How many savepoints are open.
    pub(super) depth: u32,
}

/// Which database it is, and the one connection to it.
#[derive(Clone, Copy)]
enum Engine<'c> {
    Sqlite(&'c Connection),
    #[cfg(feature = "postgres")]
    Postgres(&'c postgres::Remote),
}

impl Engine<'_> {
    fn begin(self) -> Result<()> {
        each_database! { self,
            Self::Sqlite(connection) => connection.control("begin immediate"),
            Self::Postgres(remote) => remote.control("begin"),
        }
    }

    /// Commits or rolls back.
    fn end(self, text: &'static str) -> Result<()> {
        each_database! { self,
            Self::Sqlite(connection) => connection.control(text),
            Self::Postgres(remote) => remote.control(text),
        }
    }

    fn in_transaction(self) -> bool {
        each_database! { self,
            Self::Sqlite(connection) => connection.in_transaction(),
            Self::Postgres(remote) => remote.in_transaction(),
        }
    }
}

impl<'c> Blocking<'c> {
    pub(super) fn new(connection: &'c Connection, on_commit: Option<&'c dyn OnCommit>) -> Self {
        Self { engine: Engine::Sqlite(connection), on_commit, written: Vec::new(), depth: 0 }
    }

    #[cfg(feature = "postgres")]
    pub(super) fn postgres(remote: &'c postgres::Remote, on_commit: Option<&'c dyn OnCommit>) -> Self {
        Self { engine: Engine::Postgres(remote), on_commit, written: Vec::new(), depth: 0 }
    }

    verbs!([] self: &mut Self, Verbs);

    fn ask<T, R: Send + 'static>(&mut self, query: Query<'_, T>, verb: Make<R>) -> Result<R> {
        let (text, writes) = (query.text(), Writes::of(&query));
        let (result, has_changed) = each_database! { self.engine,
            Engine::Sqlite(connection) => {
                let (values, verb) = (query.into_values(Dialect::Sqlite)?, verb().sqlite);
                connection.noting_changes(|connection| verb(connection, text, &values))
            },
            Engine::Postgres(remote) => {
                let outcome = remote.ask(postgres::job(query)?.into_owned(), verb().postgres)?;
                (outcome.value, outcome.has_changed)
            },
        };
        if has_changed {
            dependencies::add(&mut self.written, writes.tables());
        }
        if !self.engine.in_transaction() {
            self.announce();
        }
        result
    }

    /// What was written is committed.
    fn announce(&mut self) {
        let tables = std::mem::take(&mut self.written);
        if let Some(then) = self.on_commit.filter(|_| !tables.is_empty()) {
            then.tables_changed(&tables);
        }
    }

    /// Runs `work` in a transaction: kept if it gives `Ok`, undone if it gives an error or panics. One in another is an
    /// error.
    pub fn transaction<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.engine.begin()?;
        self.written.clear();
        let undo = Undo(self.engine);
        let value = work(self)?;
        let committed = undo.0.end("commit");
        // What is perhaps committed is announced as what is.
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            self.announce();
        }
        committed.map(|()| value)
    }
}

skep_units::opaque_debug!(Blocking<'_>);

struct Undo<'c>(Engine<'c>);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if self.0.in_transaction() {
            // Should even this fail, the lease that lent the connection closes it.
            let _ = self.0.end("rollback");
        }
    }
}

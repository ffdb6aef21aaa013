//! The same verbs for code that may block: start-up hooks, imports, tools.

use super::changes::Changes;
use super::connection::{Connection, Verb};
use super::dependencies::{self, OnCommit};
use super::error::Result;
use super::query::Query;
use super::row::Row;
use super::verbs::verbs;

/// The writer, for code that may block. See [`Database::write`](super::Database::write).
pub struct Blocking<'c> {
    connection: &'c Connection,
    on_commit: Option<&'c OnCommit>,
    /// In the open transaction.
    written: Vec<&'static str>,
    /// How many savepoints are open.
    pub(super) depth: u32,
}

impl<'c> Blocking<'c> {
    pub(super) fn new(connection: &'c Connection, on_commit: Option<&'c OnCommit>) -> Self {
        Self { connection, on_commit, written: Vec::new(), depth: 0 }
    }

    verbs!([] self: &mut Self, Connection);

    fn ask<T, R>(&mut self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        let (text, tables) = (query.text(), dependencies::written(&query));
        let values = query.into_values()?;
        let (result, has_changed) = self.connection.noting_changes(|connection| verb(connection, text, &values));
        if has_changed {
            dependencies::add(&mut self.written, tables);
        }
        if !self.connection.in_transaction() {
            self.announce();
        }
        result
    }

    /// What was written is committed.
    fn announce(&mut self) {
        let tables = std::mem::take(&mut self.written);
        if let Some(then) = self.on_commit.filter(|_| !tables.is_empty()) {
            then(&tables);
        }
    }

    /// Runs `work` in a transaction: kept if it gives `Ok`, undone if it gives an error or panics. One in another is an
    /// error.
    pub fn transaction<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.connection.control("begin immediate")?;
        self.written.clear();
        let undo = Undo(self.connection);
        let value = work(self)?;
        undo.0.control("commit")?;
        self.announce();
        Ok(value)
    }
}

opaque_debug!(Blocking<'_>);

struct Undo<'c>(&'c Connection);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if self.0.in_transaction() {
            // Should even this fail, the lease that lent the connection closes it.
            let _ = self.0.control("rollback");
        }
    }
}

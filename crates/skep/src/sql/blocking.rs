//! The same verbs for code that may block: start-up hooks, imports, tools.

use std::fmt;

use super::changes::Changes;
use super::connection::Connection;
use super::error::Result;
use super::query::Query;
use super::row::Row;

/// The writer, for code that may block. See [`Database::write`](super::Database::write).
pub struct Blocking<'c> {
    connection: &'c Connection,
}

impl<'c> Blocking<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    /// Every row of the answer.
    pub fn all<'q, T: Row>(&mut self, query: impl Into<Query<'q, T>>) -> Result<Vec<T>> {
        let query = query.into();
        self.connection.all(query.text(), &query.into_values()?)
    }

    /// The first row of the answer, if there is one.
    pub fn first<'q, T: Row>(&mut self, query: impl Into<Query<'q, T>>) -> Result<Option<T>> {
        let query = query.into();
        self.connection.first(query.text(), &query.into_values()?)
    }

    /// The row of an answer that has one at most; more are an error.
    pub fn one<'q, T: Row>(&mut self, query: impl Into<Query<'q, T>>) -> Result<Option<T>> {
        let query = query.into();
        self.connection.one(query.text(), &query.into_values()?)
    }

    /// Runs a statement that gives no rows.
    pub fn execute<'q>(&mut self, query: impl Into<Query<'q>>) -> Result<Changes> {
        let query: Query<'q> = query.into();
        self.connection.execute(query.text(), &query.into_values()?)
    }

    /// Runs `work` in a transaction: kept if it gives `Ok`, undone if it gives an error or panics. One in another is an
    /// error.
    pub fn transaction<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.connection.control("begin immediate")?;
        let undo = Undo(self.connection);
        let value = work(self)?;
        undo.0.control("commit")?;
        Ok(value)
    }
}

impl fmt::Debug for Blocking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking").finish_non_exhaustive()
    }
}

struct Undo<'c>(&'c Connection);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if self.0.in_transaction() {
            // Should even this fail, the lease that lent the connection closes it.
            let _ = self.0.control("rollback");
        }
    }
}

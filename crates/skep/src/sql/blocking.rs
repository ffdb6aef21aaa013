//! The same verbs for code that may block: start-up hooks, imports, tools.

use super::changes::Changes;
use super::connection::{Connection, Verb};
use super::error::Result;
use super::query::Query;
use super::row::Row;
use super::verbs::verbs;

/// The writer, for code that may block. See [`Database::write`](super::Database::write).
pub struct Blocking<'c> {
    connection: &'c Connection,
}

impl<'c> Blocking<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    verbs!([] self: &mut Self, Connection);

    fn ask<T, R>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        verb(self.connection, query.text(), &query.into_values()?)
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

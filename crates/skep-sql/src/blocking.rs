//! The same verbs for code that may block: start-up hooks, imports, tools.

use super::built_in::Writer;
use super::built_in::verb::{self, Verb};
use super::changes::Changes;
use super::dependencies::{self, OnCommit, Writes};
use super::engine::Block;
use super::error::{Error, Result};
use super::query::Query;
use super::row::Row;
use super::verbs::verbs;

/// The writer, for code that may block. See [`Database::write`](super::Database::write).
pub struct Blocking<'c> {
    engine: Writer<'c>,
    on_commit: Option<&'c dyn OnCommit>,
    /// In the open transaction.
    written: Vec<&'static str>,
    /// How many savepoints are open.
    pub(super) depth: u32,
}

impl<'c> Blocking<'c> {
    pub(super) fn new(engine: Writer<'c>, on_commit: Option<&'c dyn OnCommit>) -> Self {
        Self { engine, on_commit, written: Vec::new(), depth: 0 }
    }

    verbs!([] self: &mut Self);

    fn run<T, R: Send + 'static>(&mut self, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        let writes = Writes::of(&query);
        let (result, has_changed) = self.engine.run(query, verb)?;
        if has_changed {
            dependencies::add(&mut self.written, writes.tables());
        }
        if !self.engine.is_in_transaction() {
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
        let committed = undo.0.commit();
        // What is perhaps committed is announced as what is.
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            self.announce();
        }
        committed.map(|()| value)
    }
}

skep_units::opaque_debug!(Blocking<'_>);

struct Undo<'c>(Writer<'c>);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if self.0.is_in_transaction() {
            // Should even this fail, the lease that lent the connection closes it.
            let _ = self.0.rollback();
        }
    }
}

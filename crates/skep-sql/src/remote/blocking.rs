//! The writer, for code that may block.

use super::link::{Asked, Committed, Link, Place, written};
use super::transaction::Transaction;
use crate::changes::Changes;
use crate::dependencies;
use crate::error::Result;
use crate::query::Query;
use crate::row::Row;
use crate::verbs::verbs;

/// The writer, for code that may block. See [`Database::write`](super::Database::write).
pub struct Blocking<'c> {
    link: &'c Link,
    place: Place,
    on_commit: &'c Committed,
    /// In the open transaction.
    written: Vec<&'static str>,
    /// How many savepoints are open.
    pub(crate) depth: u32,
}

impl<'c> Blocking<'c> {
    pub(super) fn new(link: &'c Link, on_commit: &'c Committed) -> Self {
        Self { link, place: Place::Writer, on_commit, written: Vec::new(), depth: 0 }
    }

    verbs!([] self: &mut Self, Link);

    fn ask<T, R>(&mut self, query: Query<'_, T>, verb: Asked<T, R>) -> Result<R> {
        let tables = written(&query);
        let result = verb(*self.link, self.place, query);
        match self.place {
            Place::Transaction => dependencies::add(&mut self.written, tables),
            Place::Best | Place::Writer => self.on_commit.announce(&tables),
        }
        result
    }

    /// Runs `work` in a transaction: kept if it gives `Ok`, undone if it gives an error or panics. One in another is an
    /// error.
    pub fn transaction<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let whole = Transaction::not_begun(*self.link, self.on_commit.clone(), None);
        whole.begin()?;
        let (link, on_commit) = (self.link, self.on_commit);
        let mut inside = Blocking { link, place: Place::Transaction, on_commit, written: Vec::new(), depth: 0 };
        let value = work(&mut inside)?;
        whole.set_ended();
        self.link.commit(on_commit, &inside.written)?;
        Ok(value)
    }
}

skep_units::opaque_debug!(Blocking<'_>);

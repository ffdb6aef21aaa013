//! The writer of the host, for code that may block.

use std::cell::Cell;

use super::link::{Link, Step, Target, may_write};
use super::verb::Verb;
use crate::engine::Block;
use crate::error::Result;
use crate::query::Query;

/// The writer of the host, as [`Block`] takes it.
pub(crate) type HostWriter<'c> = &'c OnWriter;

/// Between two statements others may write, unless a transaction is open.
pub(crate) struct OnWriter {
    link: Link,
    in_transaction: Cell<bool>,
}

impl OnWriter {
    pub(super) fn new(link: Link) -> Self {
        Self { link, in_transaction: Cell::new(false) }
    }

    fn end(&self, step: Step) -> Result<()> {
        self.in_transaction.set(false);
        self.link.step(step)
    }
}

impl Block for HostWriter<'_> {
    type Verb<R> = Verb<R>;

    fn run<T, R: Send + 'static>(self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        let place = if self.in_transaction.get() { Target::Transaction } else { Target::Writer };
        let may_write = may_write(&query);
        Ok((self.link.run(place, query, verb), may_write))
    }

    fn begin(self) -> Result<()> {
        self.link.step(Step::Begin)?;
        self.in_transaction.set(true);
        Ok(())
    }

    fn commit(self) -> Result<()> {
        self.end(Step::Commit)
    }

    fn rollback(self) -> Result<()> {
        self.end(Step::Rollback)
    }

    fn is_in_transaction(self) -> bool {
        self.in_transaction.get()
    }
}

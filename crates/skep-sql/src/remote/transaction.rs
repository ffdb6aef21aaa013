//! A transaction, which the host holds for its instance. It rolls it back if the instance ends, in whatever way.

use std::cell::Cell;

use super::link::{Committed, Link, Step, Target, may_write};
use super::verb::{self, Verb};
use crate::after_commit::AfterCommit;
use crate::changes::Changes;
use crate::checked::Dialect;
use crate::engine::Transact;
use crate::error::{Error, Kind, Result};
use crate::query::Query;

pub(crate) struct HostTransaction {
    link: Link,
    on_commit: Committed,
    begin: Step,
    is_open: Cell<bool>,
    /// A statement failed because of what others did.
    is_in_conflict: Cell<bool>,
}

impl HostTransaction {
    pub(super) fn not_begun(link: Link, on_commit: Committed) -> Self {
        Self { link, on_commit, begin: Step::Begin, is_open: Cell::new(false), is_in_conflict: Cell::new(false) }
    }
}

impl Transact for HostTransaction {
    type Verb<R> = Verb<R>;

    fn dialect(&self) -> Dialect {
        self.link.dialect()
    }

    fn isolate(&mut self) {
        self.begin = Step::BeginAlone;
    }

    fn is_in_conflict(&self) -> bool {
        self.is_in_conflict.get()
    }

    async fn begin(&self, holds: impl FnOnce()) -> Result<()> {
        self.link.step(self.begin)?;
        self.is_open.set(true);
        holds();
        Ok(())
    }

    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        if !self.is_open.get() {
            return Err(Kind::Abandoned.into());
        }
        let may_write = may_write(&query);
        let result = self.link.run(Target::Transaction, query, verb);
        let is_conflict = result.as_ref().is_err_and(Error::is_conflict);
        self.is_in_conflict.set(self.is_in_conflict.get() || is_conflict);
        Ok((result, may_write))
    }

    async fn run_many(&self, queries: Vec<Query<'_>>) -> Result<(Result<Changes>, bool)> {
        let (mut total, mut may_have) = (Changes::default(), false);
        for query in queries {
            let (result, may_write) = self.run(query, verb::execute()).await?;
            may_have |= may_write;
            match result {
                Ok(changes) => total = total.and(changes),
                Err(error) => return Ok((Err(error), may_have)),
            }
        }
        Ok((Ok(total), may_have))
    }

    async fn commit(&self, tables: Vec<&'static str>, after: AfterCommit) -> Result<()> {
        if !self.is_open.replace(false) {
            return Err(Kind::Abandoned.into());
        }
        let committed = self.link.step(Step::Commit);
        // Also if the host does not know whether it is.
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            self.on_commit.announce(&tables);
        }
        after.run(&committed);
        committed
    }

    async fn rollback(&self) -> Result<()> {
        self.is_open.set(false);
        self.link.step(Step::Rollback)
    }

    fn abandon(&self) {
        if self.is_open.replace(false) {
            // Should even this fail, it is over with the instance.
            let _ = self.link.step(Step::Rollback);
        }
    }
}

//! A transaction, which the host holds for its instance.

use std::cell::{Cell, RefCell};

use super::link::{Asked, Committed, Link, Place, Step, written};
use crate::after_commit::AfterCommit;
use crate::changes::Changes;
use crate::dependencies::{self, ReadTables};
use crate::error::{Error, Kind, Result};
use crate::query::Query;
use crate::row::Row;
use crate::verbs::verbs;

/// Several statements that happen together or not at all.
///
/// It holds the writer of this application and the lock of the file, so that what it has read stays true until it ends.
/// Dropped before [`commit`](Self::commit), it is rolled back, and so it is if its instance ends in whatever way.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    link: Link,
    begin: Step,
    is_open: Cell<bool>,
    /// A statement failed because of what others did.
    is_in_conflict: Cell<bool>,
    on_commit: Committed,
    reads: Option<ReadTables>,
    written: RefCell<Vec<&'static str>>,
    /// How many savepoints are open.
    depth: Cell<u32>,
    after: AfterCommit,
}

impl Transaction {
    pub(super) fn not_begun(link: Link, on_commit: Committed, reads: Option<ReadTables>) -> Self {
        Self {
            link,
            begin: Step::Begin,
            is_open: Cell::new(false),
            is_in_conflict: Cell::new(false),
            on_commit,
            reads,
            written: RefCell::default(),
            depth: Cell::new(0),
            after: AfterCommit::default(),
        }
    }

    /// As if nobody else used the database.
    pub(super) fn isolated(self) -> Self {
        let mut transaction = self;
        transaction.begin = Step::BeginAlone;
        transaction
    }

    verbs!([async] self: &Self, Link.await);

    async fn ask<T, R>(&self, query: Query<'_, T>, verb: Asked<T, R>) -> Result<R> {
        if !self.is_open() {
            return Err(Kind::Abandoned.into());
        }
        if let Some(reads) = &self.reads {
            self.link.note(reads, &query);
        }
        dependencies::add(&mut self.written.borrow_mut(), written(&query));
        let result = verb(self.link, Place::Transaction, query);
        let is_conflict = result.as_ref().is_err_and(Error::is_conflict);
        self.is_in_conflict.set(self.is_in_conflict.get() || is_conflict);
        result
    }

    pub(super) fn begin(&self) -> Result<()> {
        if !self.is_open() {
            self.link.step(self.begin)?;
            self.written.take();
            self.is_open.set(true);
        }
        Ok(())
    }

    /// It has ended otherwise: nothing is to be undone.
    pub(super) fn set_ended(&self) {
        self.is_open.set(false);
    }

    /// A statement of it failed, because of what others did meanwhile.
    pub(crate) fn is_in_conflict(&self) -> bool {
        self.is_in_conflict.get()
    }

    /// Makes all of it happen.
    pub async fn commit(self) -> Result<()> {
        self.keep_changes().await
    }

    /// Undoes all of it.
    pub async fn rollback(self) -> Result<()> {
        self.is_open.set(false);
        self.link.step(Step::Rollback)
    }

    /// Does `work` once the transaction is committed, and not at all if it is undone. If nobody knows whether the
    /// commit has happened, it runs, too.
    pub fn after_commit(&self, work: impl FnOnce() + Send + 'static) {
        self.after.add(Box::new(work));
    }

    /// Undoes all of it. The host refuses what comes after, and the commit.
    pub(crate) fn abandon(&self) {
        let _ = self.link.step(Step::Rollback);
    }

    /// The depth of the next savepoint.
    pub(crate) fn deeper(&self) -> u32 {
        self.depth.set(self.depth.get() + 1);
        self.depth.get()
    }

    pub(crate) fn set_depth(&self, depth: u32) {
        self.depth.set(depth);
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Transaction {
    /// Begins it, unless it is open.
    pub async fn ensure_begun(&self) -> Result<()> {
        self.begin()
    }

    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Commits; the handle stays, for the request that it belongs to.
    pub async fn keep_changes(&self) -> Result<()> {
        self.is_open.set(false);
        let after = self.after.take();
        let committed = self.link.commit(&self.on_commit, &self.written.take());
        after.run(&committed);
        committed
    }

    /// Undoes what is not committed.
    pub fn undo(&self) {
        if self.is_open.replace(false) {
            drop(self.after.take());
            // Should even this fail, it is over with the instance.
            let _ = self.link.step(Step::Rollback);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.undo();
    }
}

skep_units::opaque_debug!(Transaction);

//! A transaction, which holds the writer of this process.

use std::sync::{Arc, Mutex};

use skep_units::lock;

use super::connection::{Connection, StopOnDrop};
use super::own_task::Held;
use super::pool::Lease;
use super::shared::PerProcess;
use super::thread::owned;
use super::verb::Verb;
use crate::after_commit::AfterCommit;
use crate::changes::Changes;
use crate::checked::Dialect;
use crate::engine::Transact;
use crate::error::{Kind, Result};
use crate::offload::offload;
use crate::query::Query;

/// The writer, and that a task holds it.
struct HeldWriter {
    /// First: it is gone before the next task has the writer.
    held: Held,
    lease: Lease,
}

pub(crate) struct FileTransaction {
    shared: Arc<PerProcess>,
    /// None while a statement runs, for good if that was abandoned, and before and after the transaction.
    writer: Mutex<Option<HeldWriter>>,
}

impl FileTransaction {
    pub(crate) fn not_begun(shared: Arc<PerProcess>) -> Self {
        Self { shared, writer: Mutex::default() }
    }

    // Nothing that is done under this lock can panic half-way.
    fn take(&self) -> Option<HeldWriter> {
        lock(&self.writer).take()
    }

    fn keep(&self, writer: HeldWriter) {
        *lock(&self.writer) = Some(writer);
    }

    /// Runs `work`, unless the transaction is over.
    pub(crate) async fn within<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        // All is undone if the transaction is dropped, so there is no reason to let the statement end.
        let (_stop, stopped) = StopOnDrop::new();
        self.on_writer(move |connection| {
            // An error may have ended the transaction (a full disk does); what follows must not run outside of it.
            if !connection.in_transaction() {
                return Err(Kind::Abandoned.into());
            }
            connection.unless(stopped, work)
        })
        .await
    }

    async fn on_writer<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let mut writer = self.take().ok_or(Kind::Abandoned)?;
        writer.held.renew().await;
        let job = move || {
            let result = writer.lease.open().and_then(work);
            (writer, result)
        };
        let (writer, result) = offload(&*self.shared.offload, job).await.map_err(Kind::Lost)?;
        self.keep(writer);
        self.shared.note(result)
    }
}

impl Transact for FileTransaction {
    type Verb<R> = Verb<R>;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    /// Immediate: a transaction that reads first and then writes would otherwise fail when it comes too late.
    async fn begin(&self, holds: impl FnOnce()) -> Result<()> {
        let lease = self.shared.lease_writer().await?;
        self.keep(HeldWriter { held: self.shared.holder.hold().await, lease });
        holds();
        self.on_writer(|connection| connection.control("begin immediate")).await
    }

    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        let (text, values) = owned(query)?;
        let work = move |connection: &Connection| Ok(connection.noting_changes(|it| (verb.call)(it, &text, &values)));
        let (result, has_changed) = self.within(work).await?;
        Ok((self.shared.note(result), has_changed))
    }

    async fn run_many(&self, queries: Vec<Query<'_>>) -> Result<(Result<Changes>, bool)> {
        let statements = queries.into_iter().map(owned).collect::<Result<Vec<_>>>()?;
        let run = move |connection: &Connection| {
            let mut total = Changes::default();
            for (text, values) in &statements {
                total = total.and(connection.execute(text, values)?);
            }
            Ok(total)
        };
        let work = move |connection: &Connection| Ok(connection.noting_changes(run));
        let (result, has_changed) = self.within(work).await?;
        Ok((self.shared.note(result), has_changed))
    }

    async fn rollback(&self) -> Result<()> {
        self.on_writer(|connection| connection.control("rollback")).await
    }

    async fn commit(&self, tables: Vec<&'static str>, after: AfterCommit) -> Result<()> {
        let mut writer = self.take().ok_or(Kind::Abandoned)?;
        let commit = self.shared.commit(tables);
        let job = move || {
            let committed = writer.lease.open().and_then(|connection| connection.control("commit"));
            // First of all, so that others need not wait for caches.
            drop(writer);
            if committed.is_ok() {
                commit.announce();
            }
            after.run(&committed);
            committed
        };
        let committed = offload(&*self.shared.offload, job).await.map_err(|lost| Kind::Lost(lost).into()).flatten();
        self.shared.note(committed)
    }

    fn abandon(&self) {
        let has_work = |writer: &HeldWriter| writer.lease.get().is_some_and(Connection::in_transaction);
        if let Some(writer) = self.take().filter(has_work) {
            self.shared.offload.run(Box::new(move || drop(writer)));
        }
    }
}

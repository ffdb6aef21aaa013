//! A transaction, which has a connection for itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use skep_units::lock;

use super::super::after_commit::AfterCommit;
use super::super::changes::Changes;
use super::super::checked::Dialect;
use super::super::engine::Transact;
use super::super::error::{Error, Kind, Result};
use super::super::query::Query;
use super::connection::{BoundStatement, Connection, Outcome};
use super::in_flight::OnDrop;
use super::pool::{Lease, Pool};
use super::replica::Written;
use super::verb::Verb;

pub(crate) struct PoolTransaction {
    pool: Arc<Pool>,
    /// None while a statement runs, for good if that was abandoned, and before and after the transaction.
    lease: Mutex<Option<Lease>>,
    /// A statement failed: PostgreSQL refuses all others until a savepoint is gone back to.
    has_failed: Arc<AtomicBool>,
    /// One failed because of what others did.
    is_in_conflict: Arc<AtomicBool>,
    begin: &'static str,
    /// What the request has written, where a replica must have it.
    written: Option<Written>,
}

impl PoolTransaction {
    pub(crate) fn not_begun(pool: Arc<Pool>, written: Option<Written>) -> Self {
        let (has_failed, is_in_conflict) = Default::default();
        Self { pool, lease: Mutex::default(), has_failed, is_in_conflict, begin: "begin", written }
    }

    /// Runs a statement, and says whether it may have changed something.
    pub(super) async fn run_bound<R: Send + 'static>(
        &self,
        bound: BoundStatement<'static>,
        verb: Verb<R>,
    ) -> Result<Outcome<R>> {
        let goes_back = bound.is_own && bound.text.starts_with("rollback to");
        self.run_held(goes_back, |connection| async move { connection.run(&bound, verb).await }).await
    }

    /// Runs what `run` does to its end. With `goes_back` that is to a savepoint.
    async fn run_held<R: Send + 'static, F>(
        &self,
        goes_back: bool,
        run: impl FnOnce(Arc<Connection>) -> F,
    ) -> Result<Outcome<R>>
    where
        F: Future<Output = Outcome<R>> + Send + 'static,
    {
        let lease = self.take().ok_or(Kind::Abandoned)?;
        let connection = Arc::clone(lease.connection()?);
        let (run, pool) = (run(Arc::clone(&connection)), Arc::clone(&self.pool));
        let (has_failed, is_in_conflict) = (Arc::clone(&self.has_failed), Arc::clone(&self.is_in_conflict));
        let work = |sent| async move {
            let outcome = run.await;
            drop(sent);
            match &outcome.value {
                Err(error) if error.is_of_postgres() => {
                    has_failed.store(true, Ordering::Relaxed);
                    is_in_conflict.fetch_or(error.is_conflict(), Ordering::Relaxed);
                    if error.is_stale() {
                        pool.forget_prepared();
                    }
                }
                Ok(_) if goes_back => has_failed.store(false, Ordering::Relaxed),
                _ => {}
            }
            (lease, outcome)
        };
        let (lease, outcome) = connection.run_to_end(OnDrop::Cancel, work).await;
        self.keep(lease);
        Ok(outcome)
    }

    // Nothing that is done under this lock can panic half-way.
    fn take(&self) -> Option<Lease> {
        lock(&self.lease).take()
    }

    fn keep(&self, lease: Lease) {
        *lock(&self.lease) = Some(lease);
    }
}

impl Transact for PoolTransaction {
    type Verb<R> = Verb<R>;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    /// Of the highest level.
    fn isolate(&mut self) {
        self.begin = "begin isolation level serializable";
    }

    fn is_in_conflict(&self) -> bool {
        self.is_in_conflict.load(Ordering::Relaxed)
    }

    async fn begin(&self, holds: impl FnOnce()) -> Result<()> {
        let lease = self.pool.lease_for_transaction().await?;
        self.has_failed.store(false, Ordering::Relaxed);
        let connection = lease.connection()?;
        connection.begin_transaction();
        connection.batch(self.begin).await?;
        self.keep(lease);
        holds();
        Ok(())
    }

    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        let outcome = self.run_bound(super::bound(query)?.into_owned(), verb).await?;
        Ok((outcome.value, outcome.has_changed))
    }

    async fn run_many(&self, queries: Vec<Query<'_>>) -> Result<(Result<Changes>, bool)> {
        let bound = queries.into_iter().map(|query| Ok(super::bound(query)?.into_owned()));
        let all = bound.collect::<Result<Vec<_>>>()?;
        let outcome = self.run_held(false, |connection| async move { connection.run_many(&all).await }).await?;
        Ok((outcome.value, outcome.has_changed))
    }

    /// PostgreSQL answers the commit of what failed with a rollback and no error.
    async fn commit(&self, tables: Vec<&'static str>, after: AfterCommit) -> Result<()> {
        let lease = self.take().ok_or(Kind::Abandoned)?;
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(Kind::Abandoned.into());
        }
        let connection = Arc::clone(lease.connection()?);
        let (used, shared) = (Arc::clone(&connection), Arc::clone(&self.pool.shared));
        // One that only read has none.
        let written = self.written.clone().filter(|_| !tables.is_empty());
        let work = |sent| async move {
            let committed = used.batch("commit").await.map_err(Error::in_doubt);
            if committed.is_ok() {
                used.end_transaction();
            }
            let in_doubt = committed.as_ref().is_err_and(Error::is_in_doubt);
            if let Some(written) = written.filter(|_| committed.is_ok() || in_doubt) {
                written.note(&used, in_doubt).await;
            }
            drop(sent);
            // First of all, so that others need not wait for caches.
            drop(lease);
            if committed.is_ok() || in_doubt {
                shared.announce_written(used, tables, in_doubt).await;
            }
            after.run(&committed);
            committed
        };
        connection.run_to_end(OnDrop::Finish, work).await
    }

    async fn rollback(&self) -> Result<()> {
        let lease = self.take().ok_or(Kind::Abandoned)?;
        let connection = lease.connection()?;
        connection.batch("rollback").await?;
        connection.end_transaction();
        Ok(())
    }

    fn abandon(&self) {
        drop(self.take());
    }
}

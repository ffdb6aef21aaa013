//! PostgreSQL as the interface sees it: [`engine`](crate::engine).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::blocking::BlockingConnection;
use super::pool::Pool;
use super::replica::Written;
use super::stream::Cursor;
use super::transaction::PoolTransaction;
use super::verb::Verb;
use super::{Notification, bound};
use crate::checked::Dialect;
use crate::dependencies::{OnCommit, Writes};
use crate::engine::{Block, Executor, ForRequest, Share};
use crate::error::Result;
use crate::query::Query;
use crate::status::Part;

/// A pool of connections: one for each thread, and one for statements whose futures go from thread to thread.
#[derive(Clone)]
pub(crate) struct PoolHandle {
    pool: Arc<Pool>,
    /// What the request has written, where there is a replica that must have it.
    written: Option<Written>,
    /// Reads may go to the replica, if that has the log of writes up to this position.
    replica: Option<u64>,
}

/// A connection of its own, for code that may block.
pub(crate) type PoolWriter<'c> = &'c BlockingConnection;

impl PoolHandle {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, written: None, replica: None }
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The same handle, whose reads may go to the replica if that has the log of writes up to this position.
    pub(crate) fn replica(&self, position: u64) -> Self {
        Self { replica: Some(position), ..self.clone() }
    }

    pub(crate) fn has_replica(&self) -> bool {
        self.pool.replica.is_some()
    }

    /// A position in the log of writes behind all that the request has written, if it has and there is a replica.
    pub(crate) fn written(&self) -> Option<u64> {
        self.written.as_ref().map(Written::position).filter(|position| *position > 0)
    }
}

impl Executor for PoolHandle {
    type Verb<R> = Verb<R>;
    type Batches = Cursor;
    type Transaction = PoolTransaction;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn run<T, R: Send + 'static>(
        &self,
        query: Query<'_, T>,
        verb: Verb<R>,
        _own_transaction: Option<&AtomicBool>,
    ) -> Result<R> {
        let writes = Writes::of(&query);
        let (bound, written) = (bound(query)?, self.written.clone());
        match self.replica.filter(|_| verb.rows > 0) {
            Some(position) => {
                let position = position.max(self.written().unwrap_or(0));
                self.pool.run_on_replica(position, bound, verb, writes, written).await
            }
            None => self.pool.run(bound, verb, writes, written).await,
        }
    }

    async fn stream<T>(&self, query: Query<'_, T>) -> Result<Cursor> {
        Cursor::open(&self.pool, query).await
    }

    fn transaction(&self) -> PoolTransaction {
        PoolTransaction::not_begun(Arc::clone(&self.pool), self.written.clone())
    }

    async fn relay(&self, channel: &str, then: impl Fn(Option<&str>)) -> Result<()> {
        let mut notifications = self.pool.listen(channel).await?;
        then(None);
        loop {
            match notifications.next().await {
                Notification::Said(said) => then(Some(&said)),
                Notification::Missed => then(None),
            }
        }
    }
}

impl ForRequest for PoolHandle {
    fn for_request(&self) -> Self {
        let written = self.has_replica().then(Written::default);
        Self { pool: Arc::clone(&self.pool), written, replica: None }
    }
}

impl Share for PoolHandle {
    type Handle = PoolHandle;
    type Writer<'c> = PoolWriter<'c>;

    fn handle(&self) -> PoolHandle {
        Self::new(self.pool.shared.pool())
    }

    fn write<R>(&self, work: impl FnOnce(PoolWriter<'_>, Option<&dyn OnCommit>) -> Result<R>) -> Result<R> {
        let remote = BlockingConnection::open(&self.pool.shared)?;
        work(&remote, self.pool.shared.on_commit.get().map(Arc::as_ref))
    }

    fn set_on_commit(&self, then: Arc<dyn OnCommit>) {
        _ = self.pool.shared.on_commit.set(then);
    }

    fn path(&self) -> &Path {
        &self.pool.shared.shown_address
    }

    fn status(&self) -> Vec<Part> {
        self.pool.shared.status()
    }
}

impl Block for PoolWriter<'_> {
    type Verb<R> = Verb<R>;

    fn run<T, R: Send + 'static>(self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        let outcome = self.run_bound(bound(query)?.into_owned(), verb)?;
        Ok((outcome.value, outcome.has_changed))
    }

    fn begin(self) -> Result<()> {
        self.control("begin")
    }

    fn commit(self) -> Result<()> {
        self.control("commit")
    }

    fn rollback(self) -> Result<()> {
        self.control("rollback")
    }

    fn is_in_transaction(self) -> bool {
        self.in_transaction()
    }
}

//! PostgreSQL for code that may block: start-up work, jobs, tools.
//!
//! It has a thread with a runtime and a connection for as long as it takes: its caller may be on a thread that has a
//! runtime itself, which must not be waited for there. Nothing of it is left for a fork.

use std::cell::Cell;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use futures_channel::{mpsc, oneshot};
use futures_core::Stream;
use skep_cache::driver::block_on;

use super::super::error::{Error, Kind, Result};
use super::PerProcess;
use super::connection::{BoundStatement, Connection, Outcome};
use super::verb::Verb;

type Work = Box<dyn FnOnce(Arc<Connection>) -> std::pin::Pin<Box<dyn Future<Output = ()>>> + Send>;

/// A connection, and the thread that it is on.
pub(crate) struct BlockingConnection {
    work: Option<mpsc::UnboundedSender<Work>>,
    thread: Option<JoinHandle<()>>,
    in_transaction: Cell<bool>,
    /// A statement of the transaction failed.
    has_failed: Cell<bool>,
}

impl BlockingConnection {
    /// Connects. Statements may take as long as they need: there is nobody to be answered in time.
    pub(crate) fn open(shared: &Arc<PerProcess>) -> Result<Self> {
        let (work, queue) = mpsc::unbounded();
        let (sender, opened) = oneshot::channel();
        let shared = Arc::clone(shared);
        let thread = thread::Builder::new().name("skep postgres".into()).spawn(move || run(&shared, sender, queue));
        let thread = thread.map_err(Error::other)?;
        let (in_transaction, has_failed) = (Cell::new(false), Cell::new(false));
        let remote = Self { work: Some(work), thread: Some(thread), in_transaction, has_failed };
        block_on(opened).map_err(|oneshot::Canceled| Kind::Abandoned)??;
        Ok(remote)
    }

    /// Begins, commits or rolls back. PostgreSQL answers the commit of what failed with a rollback and no error.
    pub(crate) fn control(&self, text: &'static str) -> Result<()> {
        let undoes = text == "commit" && self.has_failed.get();
        let text = if undoes { "rollback" } else { text };
        let outcome = self.run(move |connection| async move { connection.batch(text).await })?;
        outcome.map_err(|error| if text == "commit" { error.in_doubt() } else { error })?;
        self.in_transaction.set(text == "begin");
        self.has_failed.set(false);
        if undoes { Err(Kind::Abandoned.into()) } else { Ok(()) }
    }

    pub(crate) fn in_transaction(&self) -> bool {
        self.in_transaction.get()
    }

    /// Runs a statement, and says whether it may have changed something.
    pub(crate) fn run_bound<R: Send + 'static>(
        &self,
        bound: BoundStatement<'static>,
        verb: Verb<R>,
    ) -> Result<Outcome<R>> {
        let goes_back = bound.is_own && bound.text.starts_with("rollback to");
        let mut outcome = self.run(move |connection| async move { connection.run(&bound, verb).await })?;
        if outcome.has_changed && !self.in_transaction.get() {
            outcome.value = outcome.value.map_err(Error::in_doubt);
        }
        match &outcome.value {
            // An error of ours leaves PostgreSQL's transaction what it is.
            Err(error) if error.is_of_postgres() => self.has_failed.set(self.in_transaction.get()),
            Ok(_) if goes_back => self.has_failed.set(false),
            _ => {}
        }
        Ok(outcome)
    }

    /// Runs `work` on the thread, and waits for its value.
    pub(super) fn run<T: Send + 'static, F: Future<Output = T> + 'static>(
        &self,
        work: impl FnOnce(Arc<Connection>) -> F + Send + 'static,
    ) -> Result<T> {
        let (sender, value) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            Box::pin(async move {
                _ = sender.send(work(connection).await);
            })
        });
        let queue = self.work.as_ref().ok_or(Kind::Abandoned)?;
        queue.unbounded_send(work).map_err(|_| Kind::Abandoned)?;
        block_on(value).map_err(|oneshot::Canceled| Kind::Abandoned.into())
    }
}

fn run(shared: &Arc<PerProcess>, opened: oneshot::Sender<Result<()>>, queue: mpsc::UnboundedReceiver<Work>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            _ = opened.send(Err(Error::other(error)));
            return;
        }
    };
    runtime.block_on(async {
        let connection = match Connection::open(shared, Duration::ZERO).await {
            Ok(connection) => connection,
            Err(error) => {
                _ = opened.send(Err(error));
                return;
            }
        };
        _ = opened.send(Ok(()));
        let mut queue = std::pin::pin!(queue);
        while let Some(work) = std::future::poll_fn(|cx| queue.as_mut().poll_next(cx)).await {
            work(Arc::clone(&connection)).await;
        }
    });
}

impl Drop for BlockingConnection {
    fn drop(&mut self) {
        self.work = None;
        // It has nothing to do any more.
        _ = self.thread.take().map(JoinHandle::join);
    }
}

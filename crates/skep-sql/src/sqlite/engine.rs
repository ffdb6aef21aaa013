//! SQLite as the interface sees it: [`engine`](crate::engine).

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use skep_cache::driver::block_on;

use super::connection::Connection;
use super::open;
use super::pool;
use super::shared::PerProcess;
use super::stream::Table;
use super::thread::{self, AnyThread, Here, Thread};
use super::transaction::FileTransaction;
use super::verb::Verb;
use crate::checked::Dialect;
use crate::dependencies::OnCommit;
use crate::engine::{Block, Executor, ForRequest, Share};
use crate::error::Result;
use crate::query::Query;
use crate::status::Part;

/// A file, and what its statements find on the thread that polls them.
#[derive(Clone)]
pub(crate) struct On<H> {
    pub(super) shared: Arc<PerProcess>,
    pub(super) here: H,
}

/// A file, for all threads.
pub(crate) type File = On<AnyThread>;

/// A file, for the handlers of one thread.
pub(crate) type FileHandle = Rc<On<Thread>>;

/// The connection that writes.
pub(crate) type FileWriter<'c> = &'c Connection;

impl From<Arc<PerProcess>> for File {
    fn from(shared: Arc<PerProcess>) -> Self {
        Self { shared, here: AnyThread }
    }
}

impl<H: Here> Executor for On<H> {
    type Verb<R> = Verb<R>;
    type Batches = Table;
    type Transaction = FileTransaction;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn run<T, R: Send + 'static>(
        &self,
        query: Query<'_, T>,
        verb: Verb<R>,
        own_transaction: Option<&AtomicBool>,
    ) -> Result<R> {
        thread::run(&self.here, &self.shared, query, verb, own_transaction).await
    }

    async fn stream<T>(&self, query: Query<'_, T>) -> Result<Table> {
        Table::open(&self.shared, query).await
    }

    fn transaction(&self) -> FileTransaction {
        FileTransaction::not_begun(Arc::clone(&self.shared))
    }
}

impl ForRequest for FileHandle {}

impl Share for File {
    type Handle = FileHandle;
    type Writer<'c> = FileWriter<'c>;

    fn handle(&self) -> FileHandle {
        Rc::new(On { shared: Arc::clone(&self.shared), here: Thread::default() })
    }

    fn write<R>(&self, work: impl FnOnce(FileWriter<'_>, Option<&dyn OnCommit>) -> Result<R>) -> Result<R> {
        let mut lease = block_on(self.shared.lease_writer())?;
        work(lease.open()?, self.shared.on_commit.get().map(Arc::as_ref))
    }

    fn set_on_commit(&self, then: Arc<dyn OnCommit>) {
        _ = self.shared.on_commit.set(then);
    }

    fn path(&self) -> &Path {
        &self.shared.path
    }

    fn close_idle(&self) {
        self.shared.writer.close_idle();
        self.shared.readers.close_idle();
    }

    fn status(&self) -> Vec<Part> {
        vec![pool::status(&self.shared.writer, "pool writer"), pool::status(&self.shared.readers, "pool readers")]
    }

    fn check_file(&self) -> Result<()> {
        self.shared.check_file().and_then(|()| self.shared.check_damage())
    }

    fn check_writable(&self) -> std::io::Result<()> {
        open::check_writable(&self.shared.path)
    }
}

impl Block for FileWriter<'_> {
    type Verb<R> = Verb<R>;

    fn run<T, R: Send + 'static>(self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        let (text, values) = (query.text(), query.into_values(Dialect::Sqlite)?);
        Ok(self.noting_changes(|connection| (verb.call)(connection, text, &values)))
    }

    fn begin(self) -> Result<()> {
        self.control("begin immediate")
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

//! The database of a host as the interface sees it: [`engine`](crate::engine).

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::link::{Committed, Link, Target, may_write};
use super::transaction::HostTransaction;
use super::verb::{self, Verb};
use super::writer::{HostWriter, OnWriter};
use crate::checked::Dialect;
use crate::dependencies::{OnCommit, Writes};
use crate::engine::{Executor, ForRequest, ReadBatches, Share};
use crate::error::Result;
use crate::query::Query;
use crate::row::Row;

/// The database that the host has opened.
#[derive(Clone)]
pub(crate) struct Host {
    link: Link,
    on_commit: Committed,
}

impl Host {
    /// Has it opened, and what it lacks of the migrations run.
    pub(crate) fn open(dialect: Dialect, migrations: &[(u32, String, String)], own: &[String]) -> Result<Self, String> {
        Ok(Self { link: Link::open(dialect, migrations, own)?, on_commit: Committed::default() })
    }
}

/// The same for the handlers of one thread, to which it is tied as it is without a host.
pub(crate) type HostHandle = Rc<Host>;

/// A future of these that is dropped before it is polled does nothing; once polled, it is done at once.
impl Executor for Host {
    type Verb<R> = Verb<R>;
    type Batches = Received;
    type Transaction = HostTransaction;

    fn dialect(&self) -> Dialect {
        self.link.dialect()
    }

    async fn run<T, R: Send + 'static>(
        &self,
        query: Query<'_, T>,
        verb: Verb<R>,
        _own_transaction: Option<&AtomicBool>,
    ) -> Result<R> {
        let tables = if may_write(&query) { Writes::of(&query).tables() } else { Vec::new() };
        let result = self.link.run(Target::Best, query, verb);
        self.on_commit.announce(&tables);
        result
    }

    /// The host sends all of them at once, 32 MiB at most.
    async fn stream<T>(&self, query: Query<'_, T>) -> Result<Received> {
        self.run(query, verb::unread(), None).await.map(Received)
    }

    fn transaction(&self) -> HostTransaction {
        HostTransaction::not_begun(self.link, self.on_commit.clone())
    }
}

impl ForRequest for HostHandle {}

impl Share for Host {
    type Handle = HostHandle;
    type Writer<'c> = HostWriter<'c>;

    fn handle(&self) -> HostHandle {
        Rc::new(self.clone())
    }

    fn write<R>(&self, work: impl FnOnce(HostWriter<'_>, Option<&dyn OnCommit>) -> Result<R>) -> Result<R> {
        work(&OnWriter::new(self.link), self.on_commit.get())
    }

    fn set_on_commit(&self, then: Arc<dyn OnCommit>) {
        self.on_commit.set(then);
    }

    /// Only the host knows where it is.
    fn path(&self) -> &Path {
        Path::new("")
    }
}

/// All rows of a query, which are not read yet.
pub(crate) struct Received(Vec<u8>);

impl ReadBatches for Received {
    async fn next<T: Row>(self) -> Result<(Self, Vec<T>)> {
        Ok((Self(Vec::new()), verb::rows(&self.0)?))
    }
}

//! SQLite or PostgreSQL, which a program decides when it opens its database: [`engine`](crate::engine).
//!
//! Each method calls the same of the one that it is.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::after_commit::AfterCommit;
use super::changes::Changes;
use super::checked::Dialect;
use super::dependencies::OnCommit;
use super::each::{each, either};
use super::engine::{Block, Executor, ForRequest, ReadBatches, Share, Transact};
use super::error::Result;
use super::packed::{Packed, RunElsewhere, RunPacked, TransactPacked};
use super::query::Query;
use super::row::Row;
use super::status::Part;
use super::{postgres, sqlite};

either! {
    #[derive(Clone)]
    Backend: sqlite::File, postgres::PoolHandle;
    #[derive(Clone)]
    Handle: sqlite::FileHandle, postgres::PoolHandle;
    OpenTransaction: sqlite::FileTransaction, postgres::PoolTransaction;
    #[derive(Clone, Copy)]
    Writer<'c>: sqlite::FileWriter<'c>, postgres::PoolWriter<'c>;
    Batches: sqlite::Table, postgres::Cursor;
    Elsewhere: <sqlite::FileHandle as RunPacked>::Elsewhere, <postgres::PoolHandle as RunPacked>::Elsewhere;
}

/// The verbs, for both.
pub(crate) mod verb {
    use super::{Changes, Row, postgres, sqlite};

    /// A verb with its row type.
    pub(crate) struct Verb<R> {
        pub(super) sqlite: sqlite::verb::Verb<R>,
        pub(super) postgres: postgres::verb::Verb<R>,
    }

    pub(crate) fn all<T: Row>() -> Verb<Vec<T>> {
        Verb { sqlite: sqlite::verb::all(), postgres: postgres::verb::all() }
    }

    pub(crate) fn first<T: Row>() -> Verb<Option<T>> {
        Verb { sqlite: sqlite::verb::first(), postgres: postgres::verb::first() }
    }

    pub(crate) fn one<T: Row>() -> Verb<Option<T>> {
        Verb { sqlite: sqlite::verb::one(), postgres: postgres::verb::one() }
    }

    pub(crate) fn execute() -> Verb<Changes> {
        Verb { sqlite: sqlite::verb::execute(), postgres: postgres::verb::execute() }
    }
}

use verb::Verb;

/// Runs statements on the one that it is.
macro_rules! executor {
    ($either:ty) => {
        impl Executor for $either {
            type Verb<R> = Verb<R>;
            type Batches = Batches;
            type Transaction = OpenTransaction;

            fn dialect(&self) -> Dialect {
                each!(self, it => it.dialect())
            }

            async fn run<T, R: Send + 'static>(
                &self,
                query: Query<'_, T>,
                verb: Verb<R>,
                own_transaction: Option<&AtomicBool>,
            ) -> Result<R> {
                match self {
                    Self::Sqlite(it) => it.run(query, verb.sqlite, own_transaction).await,
                    Self::Postgres(it) => it.run(query, verb.postgres, own_transaction).await,
                }
            }

            async fn stream<T>(&self, query: Query<'_, T>) -> Result<Batches> {
                each!(self, it => it.stream(query).await.map(Into::into))
            }

            fn transaction(&self) -> OpenTransaction {
                each!(self, it => it.transaction().into())
            }

            async fn relay(&self, channel: &str, then: impl Fn(Option<&str>)) -> Result<()> {
                each!(self, it => it.relay(channel, then).await)
            }
        }
    };
}

/// The connections of PostgreSQL, if it is that.
macro_rules! postgres {
    ($either:ty) => {
        impl $either {
            pub(crate) fn postgres(&self) -> Option<&postgres::PoolHandle> {
                if let Self::Postgres(handle) = self { Some(handle) } else { None }
            }
        }
    };
}

executor!(Backend);
executor!(Handle);
postgres!(Backend);
postgres!(Handle);

impl Share for Backend {
    type Handle = Handle;
    type Writer<'c> = Writer<'c>;

    fn handle(&self) -> Handle {
        each!(self, it => it.handle().into())
    }

    fn write<R>(&self, work: impl FnOnce(Writer<'_>, Option<&dyn OnCommit>) -> Result<R>) -> Result<R> {
        each!(self, it => it.write(|writer, on_commit| work(writer.into(), on_commit)))
    }

    fn set_on_commit(&self, then: Arc<dyn OnCommit>) {
        each!(self, it => it.set_on_commit(then));
    }

    fn path(&self) -> &Path {
        each!(self, it => it.path())
    }

    fn close_idle(&self) {
        each!(self, it => Share::close_idle(it));
    }

    fn status(&self) -> Vec<Part> {
        each!(self, it => Share::status(it))
    }

    fn check_file(&self) -> Result<()> {
        each!(self, it => Share::check_file(it))
    }

    fn check_writable(&self) -> std::io::Result<()> {
        each!(self, it => Share::check_writable(it))
    }
}

impl ForRequest for Handle {
    fn for_request(&self) -> Self {
        each!(self, it => it.for_request().into())
    }
}

impl ReadBatches for Batches {
    async fn next<T: Row>(self) -> Result<(Self, Vec<T>)> {
        each!(self, it => it.next().await.map(|(rest, rows)| (rest.into(), rows)))
    }

    fn discard(self) {
        each!(self, it => it.discard());
    }
}

impl Transact for OpenTransaction {
    type Verb<R> = Verb<R>;

    fn dialect(&self) -> Dialect {
        each!(self, it => it.dialect())
    }

    fn isolate(&mut self) {
        each!(self, it => it.isolate());
    }

    fn is_in_conflict(&self) -> bool {
        each!(self, it => it.is_in_conflict())
    }

    async fn begin(&self, holds: impl FnOnce()) -> Result<()> {
        each!(self, it => it.begin(holds).await)
    }

    async fn run<T, R: Send + 'static>(&self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        match self {
            Self::Sqlite(it) => it.run(query, verb.sqlite).await,
            Self::Postgres(it) => it.run(query, verb.postgres).await,
        }
    }

    async fn run_many(&self, queries: Vec<Query<'_>>) -> Result<(Result<Changes>, bool)> {
        each!(self, it => it.run_many(queries).await)
    }

    async fn commit(&self, tables: Vec<&'static str>, after: AfterCommit) -> Result<()> {
        each!(self, it => it.commit(tables, after).await)
    }

    async fn rollback(&self) -> Result<()> {
        each!(self, it => it.rollback().await)
    }

    fn abandon(&self) {
        each!(self, it => it.abandon());
    }
}

impl Block for Writer<'_> {
    type Verb<R> = Verb<R>;

    fn run<T, R: Send + 'static>(self, query: Query<'_, T>, verb: Verb<R>) -> Result<(Result<R>, bool)> {
        match self {
            Self::Sqlite(it) => it.run(query, verb.sqlite),
            Self::Postgres(it) => it.run(query, verb.postgres),
        }
    }

    fn begin(self) -> Result<()> {
        each!(self, it => it.begin())
    }

    fn commit(self) -> Result<()> {
        each!(self, it => it.commit())
    }

    fn rollback(self) -> Result<()> {
        each!(self, it => it.rollback())
    }

    fn is_in_transaction(self) -> bool {
        each!(self, it => it.is_in_transaction())
    }
}

impl RunPacked for Handle {
    type Elsewhere = Elsewhere;

    fn run_now(&self, packed: &Packed, is_writer: bool) -> Result<Vec<u8>, Elsewhere> {
        each!(self, it => it.run_now(packed, is_writer).map_err(Into::into))
    }

    fn took(&self, packed: &Packed, time: Duration) {
        each!(self, it => it.took(packed, time));
    }
}

impl RunElsewhere for Elsewhere {
    async fn run(&self, packed: &Arc<Packed>) -> Result<(Vec<u8>, Option<Duration>)> {
        each!(self, it => it.run(packed).await)
    }
}

impl TransactPacked for OpenTransaction {
    async fn run_packed(&self, packed: &Arc<Packed>) -> Result<Vec<u8>> {
        each!(self, it => it.run_packed(packed).await)
    }
}

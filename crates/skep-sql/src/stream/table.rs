//! The result of a query in a temporary table, and batches of it; or those of PostgreSQL's cursor.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use super::super::database::Shared;
use super::super::error::{Kind, Result};
use super::super::local::owned;
#[cfg(feature = "postgres")]
use super::super::postgres;
use super::super::query::Query;
use super::super::row::Row;
use super::super::value::Value;
use crate::offload::offload;
use crate::sqlite::connection::{Connection, Role, StopOnDrop};

/// The most bytes of a batch, but for its last row.
const BATCH_BYTES: usize = 64 << 10;

/// The most rows of a batch: those with few bytes take memory all the same.
const BATCH_ROWS: usize = 1024;

/// What is not read yet.
pub(super) struct Rest<T> {
    next: Next<T>,
}

type Batch<T> = Pin<Box<dyn Future<Output = Result<(Source, Vec<T>)>> + Send>>;

enum Next<T> {
    Source(Source),
    Batch(Batch<T>),
    End,
}

/// Where the rows are.
enum Source {
    Sqlite(Arc<Shared>, Table),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Cursor),
}

impl Source {
    /// The next rows; none at the end.
    async fn batch<T: Row>(self) -> Result<(Self, Vec<T>)> {
        match self {
            Self::Sqlite(shared, table) => {
                let (table, rows) = batch(&shared, table).await?;
                Ok((Self::Sqlite(shared, table), rows))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(cursor) => {
                let (cursor, rows) = cursor.next().await?;
                Ok((Self::Postgres(cursor), rows))
            }
        }
    }
}

/// The result of the query, on a connection of its own.
struct Table {
    connection: Connection,
    select: String,
    /// The number of the last row that was read.
    last: i64,
    /// After the connection: before it is closed, its place is taken.
    _place: Place,
}

/// One of the streams that may be open at once.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Result<Self> {
        let limit = shared.options.streams;
        let more = |open| (open < limit).then(|| open + 1);
        match shared.streams.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Self(Arc::clone(shared))),
            Err(_) => Err(Kind::TooManyStreams { limit }.into()),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T: Row> Rest<T> {
    /// Runs the query.
    pub(super) async fn open(shared: &Arc<Shared>, query: Query<'_, T>) -> Result<Self> {
        let (text, values) = owned(query)?;
        let place = Place::take(shared)?;
        let (_stop, stopped) = StopOnDrop::new();
        let opener = Arc::clone(shared);
        let work = move || {
            let mut connection = opener.connect(Role::Stream)?;
            let select = connection.unless(stopped, |connection| connection.keep_rows(&text, &values))?;
            Ok(Table { connection, select, last: 0, _place: place })
        };
        let table = shared.note(offload(&*shared.offload, work).await.map_err(Kind::Lost)?)?;
        Ok(Self { next: Next::Source(Source::Sqlite(Arc::clone(shared), table)) })
    }

    #[cfg(feature = "postgres")]
    pub(super) fn of_cursor(cursor: postgres::Cursor) -> Self {
        Self { next: Next::Source(Source::Postgres(cursor)) }
    }

    /// The next rows; none at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let mut batch = match std::mem::replace(&mut self.next, Next::End) {
            Next::Source(source) => Box::pin(source.batch()) as Batch<T>,
            Next::Batch(batch) => batch,
            Next::End => return Poll::Ready(Ok(Vec::new())),
        };
        let Poll::Ready(result) = batch.as_mut().poll(cx) else {
            self.next = Next::Batch(batch);
            return Poll::Pending;
        };
        let (source, rows) = result?;
        if !rows.is_empty() {
            self.next = Next::Source(source);
        }
        Poll::Ready(Ok(rows))
    }
}

async fn batch<T: Row>(shared: &Shared, mut table: Table) -> Result<(Table, Vec<T>)> {
    let work = move || {
        let last = Value::Integer(table.last);
        let rows: Vec<T> = table.connection.batch(&table.select, &[last], BATCH_ROWS, BATCH_BYTES)?;
        table.last += i64::try_from(rows.len()).expect("a batch is small");
        Ok((table, rows))
    };
    shared.note(offload(&*shared.offload, work).await.map_err(Kind::Lost)?)
}

impl<T> Drop for Rest<T> {
    fn drop(&mut self) {
        // Its file is removed where that may take time.
        if let Next::Source(Source::Sqlite(shared, table)) = std::mem::replace(&mut self.next, Next::End) {
            shared.offload.run(Box::new(move || drop(table)));
        }
    }
}

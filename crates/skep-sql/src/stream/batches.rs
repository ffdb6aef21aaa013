//! What a database has ready of a result, in batches.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::super::each::each_database;
use super::super::error::Result;
#[cfg(feature = "postgres")]
use super::super::postgres;
use super::super::row::Row;
use crate::sqlite;

type Batch<T> = Pin<Box<dyn Future<Output = Result<(Source, Vec<T>)>> + Send>>;

/// What is not read yet.
pub(super) struct Rest<T> {
    next: Next<T>,
}

enum Next<T> {
    Source(Source),
    Batch(Batch<T>),
    End,
}

/// Where the rows are.
pub(crate) enum Source {
    Sqlite(sqlite::Table),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Cursor),
}

impl Source {
    /// The next rows; none at the end.
    async fn next<T: Row>(self) -> Result<(Self, Vec<T>)> {
        each_database! { self,
            Self::Sqlite(table) => table.next().await.map(|(table, rows)| (Self::Sqlite(table), rows)),
            Self::Postgres(cursor) => cursor.next().await.map(|(cursor, rows)| (Self::Postgres(cursor), rows)),
        }
    }
}

impl<T> Rest<T> {
    pub(super) fn of(source: Source) -> Self {
        Self { next: Next::Source(source) }
    }
}

impl<T: Row> Rest<T> {
    /// The next rows; none at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let mut batch = match std::mem::replace(&mut self.next, Next::End) {
            Next::Source(source) => Box::pin(source.next()) as Batch<T>,
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

impl<T> Drop for Rest<T> {
    fn drop(&mut self) {
        if let Next::Source(Source::Sqlite(table)) = std::mem::replace(&mut self.next, Next::End) {
            table.discard();
        }
    }
}

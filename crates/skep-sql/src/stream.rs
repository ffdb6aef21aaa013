//! Rows of a query that are read as they are sent: exports of any size in constant memory.
//!
//! The query runs once, into a temporary table in a file of its own, and batches are read from there. So an error of
//! the query is known before the response begins, all rows are of one moment, and a client that is slow holds neither a
//! thread nor a snapshot of the database, whose log could not be shortened meanwhile.
//!
//! Start reading at [`Local::stream`](super::Local::stream).

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::built_in::Batches;
use super::engine::ReadBatches;
use super::error::Result;
use super::row::Row;

/// The rows of a query, read as they are needed: [`Local::stream`](super::Local::stream). It is a [`Stream`] of rows,
/// which other threads may read.
///
/// ```
/// # use skep_sql::{Database, Result};
/// async fn export(db: &Database) -> Result<()> {
///     let mut rows = db.stream::<(i64, String)>("select id, title from post order by id").await?;
///     while let Some((id, title)) = rows.next_row().await? {
///         println!("{id};{title}");
///     }
///     Ok(())
/// }
/// ```
#[must_use = "rows are read as they are asked for"]
pub struct RowStream<T> {
    /// Read and not yet taken.
    rows: VecDeque<T>,
    rest: Rest<T>,
}

impl<T: Row> RowStream<T> {
    pub(super) fn of(batches: Batches) -> Self {
        Self { rows: VecDeque::new(), rest: Rest::Idle(batches) }
    }

    /// The next row; `None` at the end.
    pub async fn next_row(&mut self) -> Result<Option<T>> {
        poll_fn(|cx| self.poll_row(cx)).await
    }

    fn poll_row(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<T>>> {
        if self.rows.is_empty() {
            self.rows = ready!(self.rest.poll(cx))?.into();
        }
        Poll::Ready(Ok(self.rows.pop_front()))
    }
}

/// What is not read yet.
enum Rest<T> {
    Idle(Batches),
    Reading(Reading<T>),
    End,
}

/// A batch on its way, and what is behind it.
type Reading<T> = Pin<Box<dyn Future<Output = Result<(Batches, Vec<T>)>> + Send>>;

impl<T: Row> Rest<T> {
    /// The next rows; none at the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let mut reading = match std::mem::replace(self, Self::End) {
            Self::Idle(batches) => Box::pin(batches.next()) as Reading<T>,
            Self::Reading(reading) => reading,
            Self::End => return Poll::Ready(Ok(Vec::new())),
        };
        let Poll::Ready(result) = reading.as_mut().poll(cx) else {
            *self = Self::Reading(reading);
            return Poll::Pending;
        };
        let (batches, rows) = result?;
        if !rows.is_empty() {
            *self = Self::Idle(batches);
        }
        Poll::Ready(Ok(rows))
    }
}

impl<T> Drop for RowStream<T> {
    fn drop(&mut self) {
        if let Rest::Idle(batches) = std::mem::replace(&mut self.rest, Rest::End) {
            batches.discard();
        }
    }
}

impl<T: Row> Stream for RowStream<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.poll_row(cx).map(Result::transpose)
    }
}

/// Nothing in it is pinned.
impl<T> Unpin for RowStream<T> {}

impl<T> std::fmt::Debug for RowStream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowStream").field("ready", &self.rows.len()).finish_non_exhaustive()
    }
}

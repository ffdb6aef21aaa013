//! Rows of a query that are read as they are sent: exports of any size in constant memory.
//!
//! The query runs once, into a temporary table in a file of its own, and batches are read from there. So an error of
//! the query is known before the response begins, all rows are of one moment, and a client that is slow holds neither a
//! thread nor a snapshot of the database, whose log could not be shortened meanwhile.
//!
//! Start reading at [`Local::stream`](super::Local::stream).

#[cfg(not(target_family = "wasm"))]
mod batches;
#[cfg(target_family = "wasm")]
mod sent;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::error::Result;
use super::row::Row;
#[cfg(not(target_family = "wasm"))]
use batches::Rest;
#[cfg(not(target_family = "wasm"))]
pub(super) use batches::Source;
#[cfg(target_family = "wasm")]
use sent::Rest;

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
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn of(source: Source) -> Self {
        Self { rows: VecDeque::new(), rest: Rest::of(source) }
    }

    #[cfg(target_family = "wasm")]
    pub(super) fn new(rows: Vec<T>) -> Self {
        Self { rows: VecDeque::new(), rest: Rest::new(rows) }
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

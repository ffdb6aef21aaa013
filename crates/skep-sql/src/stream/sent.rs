//! In a component, the host sends all rows at once, 32 MiB at most.

use std::task::{Context, Poll};

use super::super::error::Result;
use super::super::row::Row;

/// What is not read yet.
pub(super) struct Rest<T>(Vec<T>);

impl<T: Row> Rest<T> {
    pub(super) fn new(rows: Vec<T>) -> Self {
        Self(rows)
    }

    /// The next rows; none at the end.
    pub(super) fn poll(&mut self, _: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        Poll::Ready(Ok(std::mem::take(&mut self.0)))
    }
}

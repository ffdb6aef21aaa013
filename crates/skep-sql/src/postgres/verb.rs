//! What a verb keeps of an answer, and what it makes of it.

use tokio_postgres::Row as Raw;

use super::super::changes::Changes;
use super::super::error::{Kind, Result};
use super::super::row::postgres::{RawHead, RawLine};
use super::super::row::{Cells, Columns, Row};

/// The answer to a statement.
pub(super) struct Fetched {
    /// Those that the verb wants.
    pub(super) rows: Vec<Raw>,
    /// How many rows were changed or given.
    pub(super) affected: u64,
}

/// A verb with its row type.
pub(crate) struct Verb<R> {
    /// How many rows it wants.
    pub(super) rows: usize,
    /// How many bytes they may have.
    pub(super) bytes: usize,
    pub(super) finish: fn(Fetched) -> Result<R>,
}

impl<R> Clone for Verb<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Verb<R> {}

pub(crate) fn all<T: Row>() -> Verb<Vec<T>> {
    Verb { rows: usize::MAX, bytes: usize::MAX, finish: |answer| read(&answer.rows) }
}

pub(crate) fn first<T: Row>() -> Verb<Option<T>> {
    Verb { rows: 1, bytes: usize::MAX, finish: |answer| read_first(&answer.rows) }
}

pub(crate) fn one<T: Row>() -> Verb<Option<T>> {
    let finish = |answer: Fetched| match answer.rows.len() {
        0 | 1 => read_first(&answer.rows),
        _ => Err(Kind::ManyRows.into()),
    };
    Verb { rows: 2, bytes: usize::MAX, finish }
}

pub(crate) fn execute() -> Verb<Changes> {
    Verb { rows: 0, bytes: usize::MAX, finish: |answer| Ok(Changes { rows: answer.affected, last_insert_id: 0 }) }
}

fn read_first<T: Row>(rows: &[Raw]) -> Result<Option<T>> {
    let Some(row) = rows.first() else { return Ok(None) };
    let plan = T::plan(&Columns::new(RawHead(row.columns())))?;
    T::read(&Cells::new(RawLine(row)), &plan).map(Some)
}

fn read<T: Row>(rows: &[Raw]) -> Result<Vec<T>> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let plan = T::plan(&Columns::new(RawHead(first.columns())))?;
    rows.iter().map(|row| T::read(&Cells::new(RawLine(row)), &plan)).collect()
}

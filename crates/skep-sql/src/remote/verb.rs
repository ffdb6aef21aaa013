//! The verbs, for a host: the number that it knows one by, and how what it gives is read.

use crate::changes::Changes;
use crate::error::{Error, Result};
use crate::row::{Cells, Columns, Row, SentRows};
use crate::wire::{Reader, Short};

/// A verb with its row type.
pub(crate) struct Verb<R> {
    pub(super) number: u8,
    pub(super) read: fn(Vec<u8>) -> Result<R>,
}

pub(crate) fn all<T: Row>() -> Verb<Vec<T>> {
    Verb { number: 0, read: |bytes| rows(&bytes) }
}

pub(crate) fn first<T: Row>() -> Verb<Option<T>> {
    Verb { number: 1, read: |bytes| single(&bytes) }
}

pub(crate) fn one<T: Row>() -> Verb<Option<T>> {
    Verb { number: 2, read: |bytes| single(&bytes) }
}

pub(crate) fn execute() -> Verb<Changes> {
    Verb { number: 3, read: |bytes| changes(Reader::new(&bytes)).map_err(Error::other) }
}

/// The rows as the host sent them.
pub(super) fn unread() -> Verb<Vec<u8>> {
    Verb { number: 0, read: Ok }
}

pub(super) fn rows<T: Row>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut answer = SentRows::of(bytes)?;
    if answer.rows() == 0 {
        return Ok(Vec::new());
    }
    let plan = T::plan(&Columns::new(answer.head()))?;
    let mut rows = Vec::with_capacity(answer.rows() as usize);
    while let Some(line) = answer.next()? {
        rows.push(T::read(&Cells::new(line), &plan)?);
    }
    Ok(rows)
}

fn single<T: Row>(bytes: &[u8]) -> Result<Option<T>> {
    rows(bytes).map(|rows| rows.into_iter().next())
}

fn changes(mut bytes: Reader<'_>) -> Result<Changes, Short> {
    Ok(Changes { rows: bytes.u64()?, last_insert_id: bytes.u64()?.cast_signed() })
}

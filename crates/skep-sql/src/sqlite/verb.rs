//! The verbs, for SQLite.

use super::connection::Connection;
use crate::changes::Changes;
use crate::error::Result;
use crate::row::Row;
use crate::value::Value;

/// What a verb calls of a connection: `Connection::all::<Post>`.
pub(crate) type Call<R> = fn(&Connection, &str, &[Value<'_>]) -> Result<R>;

/// A verb with its row type.
pub(crate) struct Verb<R> {
    pub(super) call: Call<R>,
    /// One that gives none runs on the writer, whatever its statement does.
    pub(super) gives_rows: bool,
}

pub(crate) fn all<T: Row>() -> Verb<Vec<T>> {
    Verb { call: Connection::all::<T>, gives_rows: true }
}

pub(crate) fn first<T: Row>() -> Verb<Option<T>> {
    Verb { call: Connection::first::<T>, gives_rows: true }
}

pub(crate) fn one<T: Row>() -> Verb<Option<T>> {
    Verb { call: Connection::one::<T>, gives_rows: true }
}

pub(crate) fn execute() -> Verb<Changes> {
    Verb { call: Connection::execute, gives_rows: false }
}

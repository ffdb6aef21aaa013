//! A row of SQLite's.

use rusqlite::types::ValueRef;

use super::{Named, Valued, no_column, text};
use crate::value::{Unfit, Value};

/// The names of the columns.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a>(pub(crate) &'a rusqlite::Statement<'a>);

impl<'a> Named<'a> for Head<'a> {
    fn count(self) -> usize {
        self.0.column_count()
    }

    fn name(self, nth: usize) -> Option<&'a str> {
        self.0.column_name(nth).ok()
    }
}

/// The values of one row.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a>(pub(crate) &'a rusqlite::Row<'a>);

impl<'a> Valued<'a> for Line<'a> {
    #[inline]
    fn value(self, position: usize) -> Result<Value<'a>, Unfit> {
        Ok(match self.0.get_ref(position).map_err(|_| no_column())? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(bytes) => Value::Text(text(bytes)?.into()),
            ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
        })
    }

    fn name(self, position: usize) -> Option<&'a str> {
        self.0.as_ref().column_name(position).ok()
    }
}

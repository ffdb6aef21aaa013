//! A row that SQLite holds in this process.

use rusqlite::types::ValueRef;

use super::text;
use crate::sql::value::{Unfit, Value};

/// The names of the columns.
#[derive(Clone, Copy)]
pub(in crate::sql) struct Head<'a>(pub(in crate::sql) &'a rusqlite::Statement<'a>);

impl<'a> Head<'a> {
    pub(super) fn count(self) -> usize {
        self.0.column_count()
    }

    pub(super) fn name(self, nth: usize) -> Option<&'a str> {
        self.0.column_name(nth).ok()
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        self.0.column_names()
    }
}

/// The values of one row.
#[derive(Clone, Copy)]
pub(in crate::sql) struct Line<'a>(pub(in crate::sql) &'a rusqlite::Row<'a>);

impl<'a> Line<'a> {
    #[inline]
    pub(in crate::sql) fn value(self, position: usize) -> Result<Value<'a>, Unfit> {
        let cell = self.0.get_ref(position).map_err(|_| Unfit::because("there is no such column"))?;
        Ok(match cell {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(bytes) => text(bytes)?,
            ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
        })
    }

    pub(super) fn name(self, position: usize) -> Option<&'a str> {
        self.0.as_ref().column_name(position).ok()
    }
}

//! A row that a database has given this process.

use rusqlite::types::ValueRef;

use super::text;
use crate::each::each_database;
#[cfg(feature = "postgres")]
use crate::postgres::Cell;
use crate::value::{Unfit, Value};

/// The names of the columns.
#[derive(Clone, Copy)]
pub(crate) enum Head<'a> {
    Sqlite(&'a rusqlite::Statement<'a>),
    #[cfg(feature = "postgres")]
    Postgres(&'a [tokio_postgres::Column]),
}

impl<'a> Head<'a> {
    pub(super) fn count(self) -> usize {
        each_database! { self,
            Self::Sqlite(statement) => statement.column_count(),
            Self::Postgres(columns) => columns.len(),
        }
    }

    pub(super) fn name(self, nth: usize) -> Option<&'a str> {
        each_database! { self,
            Self::Sqlite(statement) => statement.column_name(nth).ok(),
            Self::Postgres(columns) => columns.get(nth).map(tokio_postgres::Column::name),
        }
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        (0..self.count()).filter_map(move |nth| self.name(nth))
    }
}

/// The values of one row.
#[derive(Clone, Copy)]
pub(crate) enum Line<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    #[cfg(feature = "postgres")]
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Line<'a> {
    #[inline]
    pub(crate) fn value(self, position: usize) -> Result<Value<'a>, Unfit> {
        let no_column = || Unfit::because("there is no such column");
        let row = each_database! { self,
            Self::Sqlite(row) => row,
            Self::Postgres(row) => return row.try_get::<_, Cell<'a>>(position).map_err(|_| no_column())?.0,
        };
        let cell = row.get_ref(position).map_err(|_| no_column())?;
        Ok(match cell {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(bytes) => Value::Text(text(bytes)?.into()),
            ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
        })
    }

    pub(super) fn name(self, position: usize) -> Option<&'a str> {
        each_database! { self,
            Self::Sqlite(row) => row.as_ref().column_name(position).ok(),
            Self::Postgres(row) => row.columns().get(position).map(tokio_postgres::Column::name),
        }
    }
}

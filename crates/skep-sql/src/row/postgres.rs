//! A row of PostgreSQL's, and one of either engine's.

use super::{Named, Valued, sqlite};
use crate::each::{each, either};
use crate::value::{Unfit, Value};

/// The names of the columns.
#[derive(Clone, Copy)]
pub(crate) struct RawHead<'a>(pub(crate) &'a [tokio_postgres::Column]);

impl<'a> Named<'a> for RawHead<'a> {
    fn count(self) -> usize {
        self.0.len()
    }

    fn name(self, nth: usize) -> Option<&'a str> {
        self.0.get(nth).map(tokio_postgres::Column::name)
    }
}

/// The values of one row. `postgres/value.rs` reads them.
#[derive(Clone, Copy)]
pub(crate) struct RawLine<'a>(pub(crate) &'a tokio_postgres::Row);

either! {
    #[derive(Clone, Copy)]
    Head<'a>: sqlite::Head<'a>, RawHead<'a>;
    #[derive(Clone, Copy)]
    Line<'a>: sqlite::Line<'a>, RawLine<'a>;
}

impl<'a> Named<'a> for Head<'a> {
    fn count(self) -> usize {
        each!(self, it => it.count())
    }

    fn name(self, nth: usize) -> Option<&'a str> {
        each!(self, it => it.name(nth))
    }
}

impl<'a> Valued<'a> for Line<'a> {
    #[inline]
    fn value(self, position: usize) -> Result<Value<'a>, Unfit> {
        each!(self, it => it.value(position))
    }

    fn name(self, position: usize) -> Option<&'a str> {
        each!(self, it => it.name(position))
    }
}

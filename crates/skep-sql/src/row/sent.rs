//! A row of an answer that the host of a component has sent: `wit/skep.wit`, interface `sql`.

use super::{Named, Valued, no_column, text};
use crate::error::{Error, Result};
use crate::value::{Unfit, Value};
use crate::wire::{Reader, Short};

/// An answer, of which the rows are read one by one.
pub(crate) struct SentRows<'a> {
    names: Vec<&'a str>,
    rows: u32,
    rest: Reader<'a>,
    /// The values of the row that was read last.
    line: Vec<Cell<'a>>,
}

/// A value. A text that is not UTF-8 is an error for its reader.
#[derive(Clone, Copy)]
enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Decimal(&'a [u8]),
    Blob(&'a [u8]),
    /// Its elements, one behind the other.
    Array(&'a [u8]),
}

impl<'a> SentRows<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self> {
        Self::read(Reader::new(bytes)).map_err(Error::other)
    }

    fn read(mut rest: Reader<'a>) -> Result<Self, Short> {
        if rest.is_empty() {
            return Ok(Self { names: Vec::new(), rows: 0, rest, line: Vec::new() });
        }
        let columns = rest.u32()?;
        let names = (0..columns).map(|_| rest.text()).collect::<Result<Vec<_>, _>>()?;
        let line = Vec::with_capacity(names.len());
        Ok(Self { rows: rest.u32()?, names, rest, line })
    }

    /// How many rows are still to be read.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    pub(crate) fn head(&self) -> Head<'_> {
        Head(&self.names)
    }

    /// Reads the next row.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        if self.rows == 0 {
            return Ok(None);
        }
        self.rows -= 1;
        self.line.clear();
        for _ in 0..self.names.len() {
            self.line.push(cell(&mut self.rest).map_err(Error::other)?);
        }
        Ok(Some(Line { names: &self.names, cells: &self.line }))
    }
}

fn cell<'a>(rest: &mut Reader<'a>) -> Result<Cell<'a>, Short> {
    Ok(match rest.u8()? {
        0 => Cell::Null,
        1 => Cell::Integer(rest.u64()?.cast_signed()),
        2 => Cell::Real(f64::from_bits(rest.u64()?)),
        3 => Cell::Text(rest.bytes()?),
        4 => Cell::Blob(rest.bytes()?),
        5 => Cell::Decimal(rest.bytes()?),
        6 => Cell::Array(rest.bytes()?),
        _ => return Err(Short),
    })
}

impl<'a> Cell<'a> {
    #[inline]
    fn value(self) -> Result<Value<'a>, Unfit> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(number),
            Self::Real(number) => Value::Real(number),
            Self::Text(bytes) => Value::Text(text(bytes)?.into()),
            Self::Decimal(bytes) => Value::Decimal(text(bytes)?.into()),
            Self::Blob(bytes) => Value::Blob(bytes.into()),
            Self::Array(packed) => {
                let (mut packed, mut elements) = (Reader::new(packed), Vec::new());
                while !packed.is_empty() {
                    let element = cell(&mut packed).map_err(|short| Unfit::because(short.to_string()))?;
                    elements.push(element.value()?);
                }
                Value::Array(elements)
            }
        })
    }
}

/// The names of the columns.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a>(&'a [&'a str]);

impl<'a> Named<'a> for Head<'a> {
    fn count(self) -> usize {
        self.0.len()
    }

    fn name(self, nth: usize) -> Option<&'a str> {
        self.0.get(nth).copied()
    }
}

/// The values of one row.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    names: &'a [&'a str],
    cells: &'a [Cell<'a>],
}

impl<'a> Valued<'a> for Line<'a> {
    #[inline]
    fn value(self, position: usize) -> Result<Value<'a>, Unfit> {
        self.cells.get(position).ok_or_else(no_column)?.value()
    }

    fn name(self, position: usize) -> Option<&'a str> {
        self.names.get(position).copied()
    }
}

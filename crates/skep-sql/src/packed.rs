//! A statement of a component, as it crosses to its host: `wit/skep.wit`, interface `sql`.

use std::sync::Arc;
use std::time::Duration;

use super::error::{Error, Result};
use super::guests::{LONGEST_STATEMENT, MOST_BYTES, VerbNumber};
use super::value::Value;
use crate::wire::{Reader, Short};

/// A statement as a component sends it.
#[derive(Debug)]
pub struct Packed {
    pub(super) verb: VerbNumber,
    pub(super) text: String,
    values: Vec<u8>,
}

impl Packed {
    /// `verb` is a number of the interface.
    ///
    /// # Errors
    /// If it is malformed, or if the statement or its values are longer than a guest's may be.
    pub fn new(verb: u8, text: String, values: Vec<u8>) -> Result<Self> {
        if text.len() > LONGEST_STATEMENT {
            let length = text.len();
            let problem = format!("the statement has {length} bytes, and may have {LONGEST_STATEMENT} (1 MiB)");
            return Err(Error::other(problem));
        }
        if values.len() > MOST_BYTES {
            return Err(Error::other("the values of the statement have more than 32 MiB together"));
        }
        let verb = match verb {
            0 => VerbNumber::All,
            1 => VerbNumber::First,
            2 => VerbNumber::One,
            3 => VerbNumber::Execute,
            _ => return Err(Error::other(Short)),
        };
        Ok(Self { verb, text, values })
    }

    /// True if it gives no rows.
    #[must_use]
    pub fn executes(&self) -> bool {
        self.verb == VerbNumber::Execute
    }
}

impl Packed {
    /// Its values.
    pub(super) fn unpack(&self) -> Result<Vec<Value<'_>>> {
        let mut reader = Reader::new(&self.values);
        if reader.is_empty() {
            return Ok(Vec::new());
        }
        unpack(&mut reader).map_err(Error::other)
    }
}

/// The most parameters that SQLite knows (`SQLITE_MAX_VARIABLE_NUMBER`). A value needs up to 32 times its packed size.
const MOST_VALUES: u32 = 32_766;

/// The most elements of all arrays of a statement.
const MOST_ELEMENTS: usize = 1 << 20;

fn unpack<'a>(reader: &mut Reader<'a>) -> Result<Vec<Value<'a>>, Short> {
    let count = reader.u32()?;
    if count > MOST_VALUES {
        return Err(Short);
    }
    let mut room = MOST_ELEMENTS;
    (0..count).map(|_| value(reader, &mut room)).collect()
}

/// `room` is how many elements its arrays may have.
fn value<'a>(reader: &mut Reader<'a>, room: &mut usize) -> Result<Value<'a>, Short> {
    Ok(match reader.u8()? {
        0 => Value::Null,
        1 => Value::Integer(reader.u64()?.cast_signed()),
        2 => Value::Real(f64::from_bits(reader.u64()?)),
        3 => Value::Text(reader.text()?.into()),
        4 => Value::Blob(reader.bytes()?.into()),
        5 => Value::Decimal(reader.text()?.into()),
        6 => {
            let (mut packed, mut elements) = (Reader::new(reader.bytes()?), Vec::new());
            while !packed.is_empty() {
                *room = room.checked_sub(1).ok_or(Short)?;
                elements.push(value(&mut packed, &mut 0)?);
            }
            Value::Array(elements)
        }
        _ => return Err(Short),
    })
}

/// Runs statements of components: a handle of one thread.
pub(crate) trait RunPacked {
    type Elsewhere: RunElsewhere;

    /// Runs a statement here and now, or says where it belongs. `is_writer`: on the connection that writes.
    fn run_now(&self, packed: &Packed, is_writer: bool) -> Result<Vec<u8>, Self::Elsewhere>;

    /// Notes how long a read took elsewhere: the next one may run here.
    fn took(&self, _packed: &Packed, _time: Duration) {}
}

/// Where a statement runs that does not run here and now.
pub(crate) trait RunElsewhere {
    /// Runs it, and says how long a read took on the pool.
    async fn run(&self, packed: &Arc<Packed>) -> Result<(Vec<u8>, Option<Duration>)>;
}

/// A transaction that a component has begun.
pub(crate) trait TransactPacked {
    /// Runs a statement in it.
    async fn run_packed(&self, packed: &Arc<Packed>) -> Result<Vec<u8>>;
}

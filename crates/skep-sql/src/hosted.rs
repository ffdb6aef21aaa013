//! The database of a component, on its host's side: statements come packed, and their rows go packed (`wit/skep.wit`,
//! interface `sql`).
//!
//! Where a statement runs is decided as for a native handler. What may wait is a future that any thread may hold, as
//! hosts of components demand. Start reading at [`Local::packed_now`].

use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::ValueRef;

#[cfg(feature = "postgres")]
use super::dependencies::Writes;
use super::each::each_database;
use super::error::{Error, Kind, Result, sqlite};
use super::guests::{LONGEST_STATEMENT, MOST_BYTES, TOO_LARGE, VerbNumber};
use super::local::{Engine, Local, Sqlite};
#[cfg(feature = "postgres")]
use super::postgres;
use super::transaction::Transaction;
use super::value::Value;
use crate::offload::offload;
use crate::sqlite::connection::{Connection, StopOnDrop, Verb};
use crate::sqlite::shared::Shared;
use crate::sqlite::thread::Pooled;
use crate::wire::{Reader, Short, Writer};

/// A statement as a component sends it.
#[derive(Debug)]
pub struct Packed {
    verb: VerbNumber,
    text: String,
    values: Vec<u8>,
}

/// Where a statement runs that does not run here and now.
pub struct Elsewhere(At);

enum At {
    /// On the pool, where it may wait.
    Sqlite(Arc<Shared>, Pooled),
    /// Beside others. True if it may write, whatever its text says.
    #[cfg(feature = "postgres")]
    Postgres(Arc<postgres::Pool>, bool),
}

impl Packed {
    /// `verb` is a number of the interface.
    ///
    /// # Errors
    /// If it is none, or if the statement or its values are longer than a guest's may be.
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

    fn sqlite_verb(&self) -> Verb<Vec<u8>> {
        match self.verb {
            VerbNumber::All => {
                |connection, text, values| rows(connection, text, values, usize::MAX, Beyond::Impossible)
            }
            VerbNumber::First => |connection, text, values| rows(connection, text, values, 1, Beyond::Unread),
            VerbNumber::One => |connection, text, values| rows(connection, text, values, 1, Beyond::Refused),
            VerbNumber::Execute => |connection, text, values| {
                let done = connection.execute(text, values)?;
                let mut out = Writer::with_capacity(16);
                out.u64(done.rows);
                out.u64(done.last_insert_id.cast_unsigned());
                Ok(out.finish())
            },
        }
    }

    pub(super) fn run(&self, connection: &Connection) -> Result<Vec<u8>> {
        self.sqlite_verb()(connection, &self.text, &unpacked(&self.values)?)
    }

    #[cfg(feature = "postgres")]
    pub(super) fn postgres_verb(&self) -> postgres::Verb<Vec<u8>> {
        postgres::packed(self.verb)
    }

    /// It for PostgreSQL, if a component may run it.
    #[cfg(feature = "postgres")]
    pub(super) fn job(&self, may_write_any: bool) -> Result<postgres::Job<'static>> {
        let values = unpacked(&self.values)?.into_iter().map(Value::into_owned).collect();
        postgres::of_guest(&self.text, values, may_write_any)
    }
}

impl Error {
    /// A code of the interface, and what went wrong without the statement, for a component.
    #[must_use]
    pub fn packed(&self) -> (i32, String) {
        let code = match (self.code(), self.packed_state()) {
            (0, 0) if self.is_busy() => rusqlite::ffi::SQLITE_BUSY,
            (0, state) => state,
            (code, _) => code,
        };
        (code, self.reason())
    }
}

impl Local {
    /// Runs it here and now, if it is a short read of SQLite. Otherwise it says where it belongs. `is_writer`: its
    /// place is the connection that writes.
    pub fn packed_now(&self, packed: &Packed, is_writer: bool) -> Result<Vec<u8>, Elsewhere> {
        let elsewhere = each_database! { self.engine(),
            Engine::Sqlite(sqlite) => {
                let here = if is_writer || packed.executes() { Err(Pooled::Writer) } else { sqlite.now(packed) };
                here.map_err(|pooled| At::Sqlite(Arc::clone(&sqlite.shared), pooled))
            },
            Engine::Postgres(pool) => Err(At::Postgres(Arc::clone(pool), is_writer)),
        };
        elsewhere.map_err(Elsewhere)
    }

    /// A read took so long elsewhere: the next one may run here.
    pub fn packed_took(&self, packed: &Packed, took: Duration) {
        #[cfg_attr(not(feature = "postgres"), expect(irrefutable_let_patterns, reason = "there is no other database"))]
        if let Engine::Sqlite(sqlite) = self.engine() {
            sqlite.thread.ran_on_pool(&sqlite.shared, &packed.text, took);
        }
    }

    /// Begins a transaction, as [`Local::transaction`] does; if it is to be `alone`, as [`Local::serializable`] does.
    pub fn packed_transaction(&self, alone: bool) -> impl Future<Output = Result<Transaction>> + Send + use<> {
        let transaction = self.own_transaction();
        let transaction = if alone { transaction.isolated() } else { transaction };
        async move {
            transaction.ensure_begun().await?;
            Ok(transaction)
        }
    }
}

impl Sqlite {
    fn now(&self, packed: &Packed) -> Result<Vec<u8>, Pooled> {
        let Ok(values) = unpacked(&packed.values) else { return Err(Pooled::Unknown) };
        let ran = self.thread.now(&self.shared, (&packed.text, None), &values, packed.sqlite_verb())?;
        // One on the pool runs a statement that failed here again, and reports its error.
        ran.map_err(|_| Pooled::Unknown)
    }
}

impl Elsewhere {
    /// Runs it, and says how long a read took on the pool.
    pub async fn run(&self, packed: &Arc<Packed>) -> (Result<Vec<u8>>, Option<Duration>) {
        each_database! { &self.0,
            At::Sqlite(shared, pooled) => match on_pool(shared, *pooled, packed).await {
                Ok((bytes, took)) => (Ok(bytes), took),
                Err(error) => (Err(error), None),
            },
            At::Postgres(pool, may_write_any) => (on_postgres(pool, *may_write_any, packed).await, None),
        }
    }
}

#[cfg(feature = "postgres")]
async fn on_postgres(pool: &Arc<postgres::Pool>, may_write_any: bool, packed: &Packed) -> Result<Vec<u8>> {
    // What was written, the component announces itself.
    pool.ask(packed.job(may_write_any)?, packed.postgres_verb(), Writes::Nothing, None).await
}

async fn on_pool(
    shared: &Arc<Shared>,
    mut pooled: Pooled,
    packed: &Arc<Packed>,
) -> Result<(Vec<u8>, Option<Duration>)> {
    if pooled == Pooled::Unknown {
        pooled = shared.place(packed.text.clone()).await?;
    }
    let packed = Arc::clone(packed);
    if pooled == Pooled::Reader {
        let (bytes, took) = shared.read(move |connection| packed.run(connection)).await?;
        return Ok((bytes, Some(took)));
    }
    // A native handler's write is ended by its own code; a guest's that nobody waits for any more would hold the writer
    // for ever.
    let mut lease = shared.lease_writer().await?;
    let (_stop, stopped) = StopOnDrop::new();
    let work = move || lease.connection()?.unless(stopped, |connection| packed.run(connection));
    Ok((shared.note(offload(&*shared.offload, work).await.map_err(Kind::Lost)?)?, None))
}

impl Transaction {
    /// Runs a statement in it.
    pub async fn packed(&self, packed: &Arc<Packed>) -> Result<Vec<u8>> {
        self.ask_packed(Arc::clone(packed)).await
    }
}

skep_units::opaque_debug!(Elsewhere);

/// What is done about rows that nobody wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    Impossible,
    Unread,
    Refused,
}

fn rows(connection: &Connection, text: &str, values: &[Value<'_>], most: usize, beyond: Beyond) -> Result<Vec<u8>> {
    connection.answer::<i64, _>(text, values, |mut rows| {
        let mut out = Writer::with_capacity(256);
        let mut count = 0;
        let mut place = 0;
        while count < most {
            let Some(row) = rows.raw.next().map_err(sqlite)? else { break };
            if count == 0 {
                head(row, &mut out);
                place = out.position();
                out.u32(0);
            }
            line(row, &mut out)?;
            count += 1;
        }
        if count == most && beyond == Beyond::Refused && rows.step()? {
            return Err(Kind::ManyRows.into());
        }
        // A write is complete only after its last row.
        if rows.writes {
            rows.drain()?;
        }
        if count > 0 {
            out.u32_at(place, u32::try_from(count).expect("more rows than bytes are impossible"));
        }
        Ok(out.finish())
    })
}

fn head(row: &rusqlite::Row<'_>, out: &mut Writer) {
    let names = row.as_ref().column_names();
    out.u32(u32::try_from(names.len()).expect("SQLite has 32767 columns at most"));
    names.into_iter().for_each(|name| out.bytes(name.as_bytes()));
}

fn line(row: &rusqlite::Row<'_>, out: &mut Writer) -> Result<()> {
    for position in 0..row.as_ref().column_count() {
        if out.position() > MOST_BYTES {
            return Err(Error::other(TOO_LARGE));
        }
        match row.get_ref(position).map_err(sqlite)? {
            ValueRef::Null => out.u8(0),
            ValueRef::Integer(number) => {
                out.u8(1);
                out.u64(number.cast_unsigned());
            }
            ValueRef::Real(number) => {
                out.u8(2);
                out.u64(number.to_bits());
            }
            ValueRef::Text(bytes) => {
                out.u8(3);
                out.bytes(bytes);
            }
            ValueRef::Blob(bytes) => {
                out.u8(4);
                out.bytes(bytes);
            }
        }
    }
    Ok(())
}

fn unpacked(values: &[u8]) -> Result<Vec<Value<'_>>> {
    let mut reader = Reader::new(values);
    if reader.is_empty() {
        return Ok(Vec::new());
    }
    unpack(&mut reader).map_err(Error::other)
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

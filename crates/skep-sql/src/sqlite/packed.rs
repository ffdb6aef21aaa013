//! Statements of a component, on SQLite.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::ValueRef;

use super::connection::{Connection, StopOnDrop};
use super::engine::FileHandle;
use super::failure::failed;
use super::shared::PerProcess;
use super::thread::Pooled;
use super::transaction::FileTransaction;
use super::verb::Call;
use crate::error::{Error, Kind, Result};
use crate::guests::{MOST_BYTES, TOO_LARGE, VerbNumber};
use crate::offload::offload;
use crate::packed::{Packed, RunElsewhere, RunPacked, TransactPacked};
use crate::value::Value;
use crate::wire::Writer;

/// The pool, where a statement may wait.
pub(crate) struct OnPool(Arc<PerProcess>, Pooled);

impl RunPacked for FileHandle {
    type Elsewhere = OnPool;

    fn run_now(&self, packed: &Packed, is_writer: bool) -> Result<Vec<u8>, OnPool> {
        let here = if is_writer || packed.executes() { Err(Pooled::Writer) } else { now(self, packed) };
        here.map_err(|pooled| OnPool(Arc::clone(&self.shared), pooled))
    }

    fn took(&self, packed: &Packed, time: Duration) {
        self.here.ran_on_pool(&self.shared, &packed.text, time);
    }
}

fn now(file: &FileHandle, packed: &Packed) -> Result<Vec<u8>, Pooled> {
    let Ok(values) = packed.unpack() else { return Err(Pooled::Unknown) };
    let ran = file.here.now(&file.shared, (&packed.text, None), &values, call(packed.verb))?;
    // One on the pool runs a statement that failed here again, and reports its error.
    ran.map_err(|_| Pooled::Unknown)
}

impl RunElsewhere for OnPool {
    async fn run(&self, packed: &Arc<Packed>) -> Result<(Vec<u8>, Option<Duration>)> {
        let (shared, mut pooled) = (&self.0, self.1);
        if pooled == Pooled::Unknown {
            pooled = shared.place(packed.text.clone()).await?;
        }
        let packed = Arc::clone(packed);
        if pooled == Pooled::Reader {
            let (bytes, took) = shared.read(move |connection| run(&packed, connection)).await?;
            return Ok((bytes, Some(took)));
        }
        // A native handler's write is ended by its own code; an abandoned one of a guest would hold the
        // writer for ever.
        let mut lease = shared.lease_writer().await?;
        let (_stop, stopped) = StopOnDrop::new();
        let work = move || lease.open()?.unless(stopped, |connection| run(&packed, connection));
        Ok((shared.note(offload(&*shared.offload, work).await.map_err(Kind::Lost)?)?, None))
    }
}

impl TransactPacked for FileTransaction {
    async fn run_packed(&self, packed: &Arc<Packed>) -> Result<Vec<u8>> {
        let packed = Arc::clone(packed);
        self.within(move |connection| run(&packed, connection)).await
    }
}

fn run(packed: &Packed, connection: &Connection) -> Result<Vec<u8>> {
    call(packed.verb)(connection, &packed.text, &packed.unpack()?)
}

fn call(verb: VerbNumber) -> Call<Vec<u8>> {
    match verb {
        VerbNumber::All => |connection, text, values| rows(connection, text, values, usize::MAX, Beyond::Impossible),
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
            let Some(row) = rows.raw.next().map_err(failed)? else { break };
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
        match row.get_ref(position).map_err(failed)? {
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

//! Statements of a component, on PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Row as Raw;

use super::connection::BoundStatement;
use super::engine::PoolHandle;
use super::guests::of_guest;
use super::pool::Pool;
use super::transaction::PoolTransaction;
use super::verb::{Fetched, Verb};
use crate::dependencies::Writes;
use crate::error::{Kind, Result};
use crate::guests::{MOST_BYTES, VerbNumber};
use crate::packed::{Packed, RunElsewhere, RunPacked, TransactPacked};
use crate::row::Valued as _;
use crate::row::postgres::RawLine;
use crate::value::{Unfit, Value};
use crate::wire::Writer;

/// Beside others. True if it may write, whatever its text says.
pub(crate) struct OnPostgres(Arc<Pool>, bool);

impl RunPacked for PoolHandle {
    type Elsewhere = OnPostgres;

    fn run_now(&self, _packed: &Packed, is_writer: bool) -> Result<Vec<u8>, OnPostgres> {
        Err(OnPostgres(Arc::clone(self.pool()), is_writer))
    }
}

impl RunElsewhere for OnPostgres {
    async fn run(&self, packed: &Arc<Packed>) -> Result<(Vec<u8>, Option<Duration>)> {
        let Self(pool, may_write_any) = self;
        // What was written, the component announces itself.
        let ran = pool.run(bound(packed, *may_write_any)?, verb(packed.verb), Writes::Nothing, None);
        Ok((ran.await?, None))
    }
}

impl TransactPacked for PoolTransaction {
    async fn run_packed(&self, packed: &Arc<Packed>) -> Result<Vec<u8>> {
        self.run_bound(bound(packed, false)?, verb(packed.verb)).await?.value
    }
}

/// A statement of a component, if it may run it.
fn bound(packed: &Packed, may_write_any: bool) -> Result<BoundStatement<'static>> {
    let values = packed.unpack()?.into_iter().map(Value::into_owned).collect();
    of_guest(&packed.text, values, may_write_any)
}

/// A verb of a component.
fn verb(number: VerbNumber) -> Verb<Vec<u8>> {
    let bytes = MOST_BYTES;
    match number {
        VerbNumber::All => Verb { rows: usize::MAX, bytes, finish: |answer| rows(&answer.rows) },
        VerbNumber::First => Verb { rows: 1, bytes, finish: |answer| rows(&answer.rows) },
        VerbNumber::One => Verb { rows: 2, bytes, finish: one },
        VerbNumber::Execute => Verb { rows: 0, bytes, finish: |answer| Ok(changes(answer.affected)) },
    }
}

fn one(answer: Fetched) -> Result<Vec<u8>> {
    if answer.rows.len() > 1 {
        return Err(Kind::ManyRows.into());
    }
    rows(&answer.rows)
}

fn changes(rows: u64) -> Vec<u8> {
    let mut out = Writer::with_capacity(16);
    out.u64(rows);
    // There are no rowids.
    out.u64(0);
    out.finish()
}

fn rows(rows: &[Raw]) -> Result<Vec<u8>> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let mut out = Writer::with_capacity(256);
    let count = |count: usize| u32::try_from(count).expect("more than there is memory for is impossible");
    out.u32(count(first.len()));
    first.columns().iter().for_each(|column| out.bytes(column.name().as_bytes()));
    out.u32(count(rows.len()));
    for row in rows {
        for (position, column) in row.columns().iter().enumerate() {
            let unfit = |reason: Unfit| Kind::Column { name: column.name().to_owned(), reason };
            RawLine(row).value(position).map_err(unfit)?.pack(&mut out);
        }
    }
    Ok(out.finish())
}

//! The result of a query in a temporary table of a connection of its own, and batches of it.

use std::sync::Arc;

use super::connection::{Connection, Role, StopOnDrop};
use super::shared::PerProcess;
use super::thread::owned;
use crate::engine::ReadBatches;
use crate::error::{Kind, Result};
use crate::offload::offload;
use crate::pool::Permit;
use crate::query::Query;
use crate::row::Row;
use crate::value::Value;

/// The most bytes of a batch, but for its last row.
const BATCH_BYTES: usize = 64 << 10;

/// The most rows of a batch: those with few bytes take memory all the same.
const BATCH_ROWS: usize = 1024;

/// The rows that are not read yet.
pub(crate) struct Table {
    connection: Connection,
    select: String,
    /// The number of the last row that was read.
    last: i64,
    shared: Arc<PerProcess>,
    /// After the connection: before it is closed, no other stream begins in its stead.
    _permit: Permit,
}

impl Table {
    /// Runs the query.
    pub(crate) async fn open<T>(shared: &Arc<PerProcess>, query: Query<'_, T>) -> Result<Self> {
        let (text, values) = owned(query)?;
        let permit = shared.streams.acquire()?;
        let (_stop, stopped) = StopOnDrop::new();
        let opener = Arc::clone(shared);
        let work = move || {
            let mut connection = opener.connect(Role::Stream)?;
            let select = connection.unless(stopped, |connection| connection.keep_rows(&text, &values))?;
            Ok(Self { connection, select, last: 0, shared: opener, _permit: permit })
        };
        shared.note(offload(&*shared.offload, work).await.map_err(Kind::Lost)?)
    }
}

impl ReadBatches for Table {
    async fn next<T: Row>(mut self) -> Result<(Self, Vec<T>)> {
        let shared = Arc::clone(&self.shared);
        let work = move || {
            let last = Value::Integer(self.last);
            let rows: Vec<T> = self.connection.batch(&self.select, &[last], BATCH_ROWS, BATCH_BYTES)?;
            self.last += i64::try_from(rows.len()).expect("a batch is small");
            Ok((self, rows))
        };
        shared.note(offload(&*shared.offload, work).await.map_err(Kind::Lost)?)
    }

    /// Removes its file, where that may take time.
    fn discard(self) {
        let offload = Arc::clone(&self.shared.offload);
        offload.run(Box::new(move || drop(self)));
    }
}

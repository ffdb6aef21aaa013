//! The rows of a query in batches, from a cursor of PostgreSQL's. Its transaction has a connection for itself, and sees
//! one moment.

use std::sync::Arc;

use super::super::engine::ReadBatches;
use super::super::error::Result;
use super::super::query::Query;
use super::super::row::Row;
use super::connection::{BoundStatement, FETCH};
use super::in_flight::OnDrop;
use super::pool::{Lease, Pool};
use super::verb;

/// The most rows of a batch.
const BATCH_ROWS: usize = 256;

/// The rest of the rows.
pub(crate) struct Cursor(Lease);

impl Cursor {
    /// Runs the query.
    pub(super) async fn open<T>(pool: &Arc<Pool>, query: Query<'_, T>) -> Result<Self> {
        let bound = super::bound(query)?.into_owned();
        let lease = pool.lease_for_stream().await?;
        let connection = Arc::clone(lease.connection()?);
        connection.begin_transaction();
        connection.batch("begin read only").await?;
        let text = format!("declare skep_rows no scroll cursor for {}", bound.text).into();
        let declare = BoundStatement { text, is_own: true, ..bound };
        let used = Arc::clone(&connection);
        let work = |sent| async move {
            let declared = used.run(&declare, verb::execute()).await;
            drop(sent);
            (declared, lease)
        };
        let (declared, lease) = connection.run_to_end(OnDrop::Cancel, work).await;
        declared.value?;
        Ok(Self(lease))
    }
}

impl ReadBatches for Cursor {
    async fn next<T: Row>(self) -> Result<(Self, Vec<T>)> {
        let Self(lease) = self;
        let connection = Arc::clone(lease.connection()?);
        let bound = BoundStatement::own(format!("{FETCH}{BATCH_ROWS} from skep_rows"), Vec::new());
        let used = Arc::clone(&connection);
        let work = |sent| async move {
            let rows = used.run(&bound, verb::all::<T>()).await;
            if rows.value.as_ref().is_ok_and(Vec::is_empty) && used.batch("commit").await.is_ok() {
                used.end_transaction();
            }
            drop(sent);
            (rows, lease)
        };
        let (rows, lease) = connection.run_to_end(OnDrop::Cancel, work).await;
        Ok((Self(lease), rows.value?))
    }
}

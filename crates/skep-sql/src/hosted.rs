//! The database of a component, on its host's side: statements come packed, and their rows go packed (`wit/skep.wit`,
//! interface `sql`).
//!
//! Where a statement runs is decided as for a native handler. What may wait is a future that any thread may hold, as
//! hosts of components demand. Start reading at [`Local::packed_now`].

use std::sync::Arc;
use std::time::Duration;

use super::built_in::Handle;
use super::error::{Error, Kind, Result, codes, states};
use super::local::Local;
use super::packed::{Packed, RunElsewhere, RunPacked, TransactPacked};
use super::transaction::Transaction;
use super::wire::state;

/// Where a statement runs that does not run here and now.
pub struct Elsewhere(<Handle as RunPacked>::Elsewhere);

skep_units::opaque_debug!(Elsewhere);

impl Elsewhere {
    /// Runs it, and says how long a read took on the pool.
    pub async fn run(&self, packed: &Arc<Packed>) -> (Result<Vec<u8>>, Option<Duration>) {
        match self.0.run(packed).await {
            Ok((bytes, took)) => (Ok(bytes), took),
            Err(error) => (Err(error), None),
        }
    }
}

impl Local {
    /// Runs it here and now, if it is a short read of SQLite. Otherwise it says where it belongs. `is_writer`: its
    /// place is the connection that writes.
    pub fn packed_now(&self, packed: &Packed, is_writer: bool) -> Result<Vec<u8>, Elsewhere> {
        self.engine.run_now(packed, is_writer).map_err(Elsewhere)
    }

    /// A read took so long elsewhere: the next one may run here.
    pub fn packed_took(&self, packed: &Packed, took: Duration) {
        self.engine.took(packed, took);
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

impl Transaction {
    /// Runs a statement of a component in it.
    pub async fn packed(&self, packed: &Arc<Packed>) -> Result<Vec<u8>> {
        self.engine.run_packed(packed).await
    }
}

impl Error {
    /// A code of the interface, and what went wrong without the statement, for a component.
    #[must_use]
    pub fn packed(&self) -> (i32, String) {
        let code = match self.code() {
            0 => self.packed_state().unwrap_or(if self.is_busy() { codes::BUSY } else { 0 }),
            code => code,
        };
        (code, self.reason())
    }

    /// PostgreSQL's code and the parameter that it is about.
    fn packed_state(&self) -> Option<i32> {
        let (code, parameter) = match &self.inner.kind {
            Kind::Postgres { code, parameter, .. } => (&**code, *parameter),
            // Ours: it was not sent. SQLite has no code for it.
            Kind::Parameter(refused) if cfg!(feature = "postgres") => {
                let code = if refused.reason.is_of_type() { states::TYPE } else { states::PARAMETER };
                (code, Some(refused.index))
            }
            _ => return None,
        };
        Some(state::pack(code, parameter)).filter(|code| *code != 0)
    }
}

//! Has the host of a component open its database.

use super::Database;
use crate::checked::Dialect;
use crate::error::Result;
use crate::migrations::Migrations;
use crate::remote::Host;

/// For `skep`.
#[doc(hidden)]
impl Database {
    /// Has it opened, and what it lacks of the migrations run.
    pub fn open(dialect: Dialect, migrations: &Migrations, own: &[&str]) -> Result<Self, String> {
        let list = migrations.list(dialect)?;
        if let Some(function) = migrations.functions().first().filter(|_| dialect == Dialect::Sqlite) {
            return Err(format!(
                "Migrations::with_functions gives `{function}`, and the host of a component calls nothing of it: compute the value in the \
                 handler that writes it, and store it in a column"
            ));
        }
        let own: Vec<String> = own.iter().map(|statement| (*statement).to_owned()).collect();
        Host::open(dialect, &list, &own).map(Self::of)
    }

    /// Sixteen bytes that nobody can foretell.
    pub fn random(&self) -> Result<Vec<u8>> {
        let statement = match self.dialect() {
            Dialect::Sqlite => "select randomblob(16)",
            // Six of its bits are always the same.
            Dialect::Postgres => "select uuid_send(gen_random_uuid())",
        };
        Ok(self.write(|db| db.one(statement))?.unwrap_or_default())
    }
}

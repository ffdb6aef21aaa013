//! Which application has which database of PostgreSQL.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use skep::Secret;

/// Databases of PostgreSQL, and the applications that have opened them. Each application has migrations of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken(Arc<Mutex<HashMap<String, String>>>);

impl Taken {
    /// Takes a database for an application, unless another one has it.
    pub(crate) fn take(&self, database: &Secret<String>, name: &str) -> Result<(), String> {
        let address = database.reveal();
        let address = address.strip_prefix("postgresql://").or_else(|| address.strip_prefix("postgres://"));
        let mut taken = skep_units::lock(&self.0);
        let other = taken.entry(address.unwrap_or_default().to_owned()).or_insert_with(|| name.to_owned());
        if *other == name {
            return Ok(());
        }
        Err(format!(
            "{other} and {name} would share one database of PostgreSQL, and each has migrations of its own: set component.{name}.database"
        ))
    }
}

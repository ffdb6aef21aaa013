//! Opens what an application stores: its database and its keys.

#[cfg(not(target_family = "wasm"))]
use std::sync::Arc;

use crate::form::once;
use crate::secret::Secret;
use crate::setup::{Setup, StartError};
use crate::sql;

/// The file of the database in the data directory.
#[cfg(not(target_family = "wasm"))]
pub(super) const DATABASE: &str = "database.sqlite";

/// The keys that seal what browsers store.
pub(super) fn secret(setup: &Setup) -> Secret {
    #[cfg(target_family = "wasm")]
    if setup.secret.is_none() {
        return Secret::of_host(setup.host.keys);
    }
    match &setup.secret {
        Some(file) => Secret::in_file(file.clone()),
        None if setup.temporary_database => Secret::temporary(),
        None => Secret::in_folder(&setup.data),
    }
}

#[cfg(not(target_family = "wasm"))]
pub(super) fn open_database(
    migrations: &sql::Migrations,
    setup: &Setup,
    has_once: bool,
) -> Result<sql::Database, StartError> {
    let offload = Arc::clone(&setup.offload);
    let database = if setup.temporary_database {
        sql::Database::temporary(migrations, offload)
    } else {
        let path = setup.data.join(DATABASE);
        if setup.careful {
            sql::Database::check_careful(&path, migrations).map_err(|error| StartError::new(error.to_string()))?;
        }
        sql::Database::open(path, migrations, setup.sql.clone(), offload)
    };
    let database = database.map_err(|error| StartError::new(error.to_string()))?;
    if has_once {
        // The framework's own table: it is no migration of the application's.
        let made = database.write(|db| once::SCHEMA.iter().try_for_each(|statement| db.execute(*statement).map(drop)));
        made.map_err(|error| StartError::new(format!("the table of one-shot forms: {error}")))?;
    }
    Ok(database)
}

/// The host opens it, and has the settings for that.
#[cfg(target_family = "wasm")]
pub(super) fn open_database(
    migrations: &sql::Migrations,
    _: &Setup,
    has_once: bool,
) -> Result<sql::Database, StartError> {
    let own = if has_once { once::SCHEMA } else { &[] };
    sql::Database::open(migrations, own).map_err(StartError::new)
}

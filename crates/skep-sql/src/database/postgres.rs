//! Opens a database of PostgreSQL.

use std::sync::Arc;

use super::Database;
use crate::migrations::Migrations;
use crate::offload::Offload;
use crate::open_error::{OpenError, Problem};
use crate::options::Options;
use crate::postgres::{MigrationSource, PerProcess, PoolHandle};

impl Database {
    /// Opens a database of PostgreSQL by its address, `postgres://USER:PASSWORD@HOST/NAME`, and runs the migrations it
    /// lacks: those for PostgreSQL ([`Migrations::with_postgres`]). With `carefully`, a pending one that does more than
    /// add is an error, because another version of the program uses the database meanwhile.
    ///
    /// This may wait: for the network, and for other processes that do the same.
    pub fn open_postgres(
        address: &str,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
        carefully: bool,
    ) -> Result<Self, OpenError> {
        Self::postgres(address, MigrationSource::program(migrations), options, offload, (carefully, false))
    }

    /// A database for tests: a new one beside the one that the address names, dropped with the last handle to it. Its
    /// user must be allowed to make some.
    pub fn temporary_postgres(
        address: &str,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<Self, OpenError> {
        Self::postgres(address, MigrationSource::program(migrations), options, offload, (false, true))
    }

    fn postgres(
        address: &str,
        source: Result<MigrationSource, Problem>,
        options: Options,
        offload: Arc<dyn Offload>,
        how: (bool, bool),
    ) -> Result<Self, OpenError> {
        let shared = PerProcess::open(address, source, options, offload, how)?;
        Ok(Self::of(PoolHandle::new(shared.pool())))
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// The same for the migrations of a component, for statements that are not trusted. With `temporary`, those that
    /// ran are only looked at, and the database that is opened is a new one.
    pub fn open_postgres_for_guests(
        address: &str,
        migrations: &[(u32, String, String)],
        options: Options,
        offload: Arc<dyn Offload>,
        (carefully, temporary): (bool, bool),
    ) -> Result<Self, OpenError> {
        let (source, options) = (|| Ok(MigrationSource::Guest(migrations.into())), options.for_guests());
        if temporary {
            PerProcess::check(address, source(), options.clone(), Arc::clone(&offload))?;
        }
        Self::postgres(address, source(), options, offload, (carefully, temporary))
    }

    /// Says what [`open_postgres`](Self::open_postgres) would find wrong with the migrations that ran. Nothing is run
    /// or changed.
    pub fn check_postgres(
        address: &str,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<(), OpenError> {
        PerProcess::check(address, MigrationSource::program(migrations), options, offload)
    }

    /// The same as [`describe_migrations`](Self::describe_migrations).
    pub fn describe_postgres_migrations(
        address: &str,
        migrations: &Migrations,
        offload: Arc<dyn Offload>,
    ) -> Result<Vec<String>, OpenError> {
        PerProcess::describe_migrations(address, MigrationSource::program(migrations), offload)
    }
}

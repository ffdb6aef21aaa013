//! Opens what an application stores or sends: its database, its keys, its mail, its requests to other servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{App, OpenDatabase};
use crate::application::endpoint::Endpoint;
use crate::context::resources::once;
use crate::context::sealed;
use crate::context::setup::{Setup, StartError};
use crate::host::mail::{Mailer, Outbox};
use crate::routing::router::Entry;
use crate::security::keys::{AppKeys, Missing};
use crate::security::rate::Table;
#[cfg(not(target_family = "wasm"))]
use crate::security::secret::Secret;
use crate::sql;
use skep_http::fetch::Fetcher;

/// Statements that make tables which are no migrations of the application's, if they are not there: for SQLite and for
/// PostgreSQL.
#[derive(Default)]
pub(super) struct OwnTables {
    sqlite: Vec<&'static str>,
    postgres: Vec<&'static str>,
}

/// Of processes that start at once, one makes them.
const POSTGRES_LOCK: &str = "select pg_advisory_xact_lock(8316866951398981634)";

/// The file of the database in the data directory.
#[cfg(not(target_family = "wasm"))]
pub(super) const DATABASE: &str = "database.sqlite";

impl App {
    /// Sends mail by a [`Mailer`] of the application's own, which has an example. The server's (`mail.smtp`) comes
    /// first, and tests collect mail instead.
    #[must_use]
    pub fn mailer(mut self, mailer: impl Mailer) -> Self {
        self.mailer = Some(Arc::new(mailer));
        self
    }

    /// Sends requests of handlers ([`Cx::fetch`](crate::Cx::fetch), which has an example) by a [`Fetcher`] of the
    /// application's own, in place of the server's: in tests, or for servers that are reached in another way.
    #[must_use]
    pub fn fetcher(mut self, fetcher: impl Fetcher + 'static) -> Self {
        self.fetcher = Some(Arc::new(fetcher));
        self
    }

    /// Adds tables of a library, which are no migrations of the application's: statements for SQLite, and the same for
    /// PostgreSQL. They run at each start, in one transaction and under a lock, so each must change nothing if it ran
    /// before.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep::sql::Migrations;
    /// const TABLES: &[&str] = &["create table if not exists lib_mark (name text primary key)"];
    /// let app = App::new().database(Migrations::NONE).tables(TABLES, TABLES);
    /// # skep::test::Client::new(app);
    /// ```
    ///
    /// An application without a database does not start with them.
    #[must_use]
    pub fn tables(mut self, sqlite: &[&'static str], postgres: &[&'static str]) -> Self {
        self.tables.sqlite.extend(sqlite);
        self.tables.postgres.extend(postgres);
        self
    }

    /// Names tables whose writes invalidate no cached page, and cost no invalidation: counters and the like, which each
    /// request writes. What is made of them is as old as its [`EntryPolicy`](crate::cache::EntryPolicy) allows.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep::sql::{Migration, Migrations};
    /// # const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(1, "0001_visit.sql", "create table visit (page text, at integer) strict")]);
    /// let app = App::new().database(MIGRATIONS).ignore_writes(&["visit"]);
    /// # skep::test::Client::new(app);
    /// ```
    ///
    /// A name that is no table of the database is an error at the start.
    #[must_use]
    pub fn ignore_writes(mut self, tables: &[&'static str]) -> Self {
        self.ignored_tables.extend(tables);
        self
    }

    /// Calls a function once a write is committed in this process and what was made of it is invalidated, with the ids
    /// of the tags of the tables that were written: for libraries that follow the database
    /// ([`Reads`](crate::repeat::Reads)). Tables of libraries and [ignored ones](Self::ignore_writes) are left out. It
    /// runs on the thread that commits, and must not block.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep::sql::Migrations;
    /// let app = App::new().database(Migrations::NONE).on_write(|written| println!("{} tables", written.len()));
    /// # skep::test::Client::new(app);
    /// ```
    #[must_use]
    pub fn on_write(mut self, then: impl Fn(&[u64]) + Send + Sync + 'static) -> Self {
        self.write_observers.push(Box::new(then));
        self
    }

    /// A line for each migration: when it ran in the database of this setup, or that it is pending. Nothing is run. For
    /// a command of a server.
    #[cfg(not(target_family = "wasm"))]
    #[doc(hidden)]
    pub fn migrations(&self, setup: &Setup) -> Result<Vec<String>, StartError> {
        let none = || StartError::new("this application has no database of its own (App::database)");
        if self.database.is_none() && self.databases.is_empty() {
            return Err(none());
        }
        let first = self.database.as_ref().map(|(migrations, _)| describe_migrations(migrations, setup)).transpose()?;
        let others = self.databases.iter().map(|one| one.describe(setup)).collect::<Result<Vec<_>, _>>()?;
        Ok(first.into_iter().flatten().chain(others.into_iter().flatten()).collect())
    }

    /// A token as [`Site::seal_log_level`](crate::Site::seal_log_level) makes it, without opening the application: for
    /// a command of a server.
    #[doc(hidden)]
    pub fn log_token(setup: &Setup, level: tracing::Level, lasts: Duration) -> crate::Result<String> {
        sealed::seal_level(&keys_of(setup), &setup.clock, level, lasts)
    }
}

/// The keys that seal what browsers store.
pub(crate) fn keys_of(setup: &Setup) -> AppKeys {
    #[cfg(target_family = "wasm")]
    if setup.secret.is_none() && setup.secret_keys.is_none() {
        return AppKeys::of_host(setup.host.keys);
    }
    // In production, a file that is named must be there.
    let missing = if setup.development || setup.temporary_database { Missing::Create } else { Missing::Refuse };
    match (&setup.secret_keys, &setup.secret) {
        (Some(keys), _) => AppKeys::given(keys.clone()),
        (None, Some(file)) => AppKeys::in_file(file.clone(), missing),
        (None, None) if setup.keeps_nothing() => AppKeys::temporary(),
        (None, None) => AppKeys::in_folder(&setup.data),
    }
}

#[cfg(not(target_family = "wasm"))]
pub(super) fn open_database(
    migrations: &sql::Migrations,
    setup: &Setup,
    own: &OwnTables,
) -> Result<sql::Database, StartError> {
    #[cfg(feature = "postgres")]
    refuse_others(setup)?;
    open_for_any(migrations, setup, own)
}

/// The same, whichever kind of database statements were checked for: no request reaches it.
#[cfg(not(target_family = "wasm"))]
pub(super) fn open_for_any(
    migrations: &sql::Migrations,
    setup: &Setup,
    own: &OwnTables,
) -> Result<sql::Database, StartError> {
    let database = open_one(migrations, setup)?;
    if !own.sqlite.is_empty() {
        let made = database.make_tables(&own.sqlite, &[&[POSTGRES_LOCK], &*own.postgres].concat());
        made.map_err(|error| StartError::new(format!("the tables of the framework and of libraries: {error}")))?;
    }
    Ok(database)
}

/// Opens the database of this setup.
#[cfg(not(target_family = "wasm"))]
pub(super) fn open_one(migrations: &sql::Migrations, setup: &Setup) -> Result<sql::Database, StartError> {
    let offload = Arc::clone(&setup.offload);
    if let Some(address) = &setup.database {
        return open_postgres(address, migrations, setup);
    }
    if setup.temporary_database {
        return sql::Database::temporary(migrations, offload).map_err(wrong);
    }
    let path = setup.data.join(DATABASE);
    if setup.careful {
        sql::Database::check_careful(&path, migrations).map_err(wrong)?;
    }
    sql::Database::open(path, migrations, setup.sql.clone(), offload).map_err(wrong)
}

#[cfg(not(target_family = "wasm"))]
fn wrong(error: sql::OpenError) -> StartError {
    StartError::new(error.to_string())
}

/// No statement was checked for another kind of database than the first one. Of others, a wrong statement says so when
/// it is run.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
fn refuse_others(setup: &Setup) -> Result<(), StartError> {
    let opened = if setup.database.is_some() { sql::Dialect::Postgres } else { sql::Dialect::Sqlite };
    sql::refuse_others(opened).map_err(StartError::new)
}

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
fn open_postgres(
    address: &Secret<String>,
    migrations: &sql::Migrations,
    setup: &Setup,
) -> Result<sql::Database, StartError> {
    let (options, offload) = (setup.sql.clone(), Arc::clone(&setup.offload));
    let database = if setup.temporary_database {
        sql::Database::temporary_postgres(address.reveal(), migrations, options, offload)
    } else {
        sql::Database::open_postgres(address.reveal(), migrations, options, offload, setup.careful)
    };
    database.map_err(wrong)
}

#[cfg(not(any(feature = "postgres", target_family = "wasm")))]
fn open_postgres(_: &Secret<String>, _: &sql::Migrations, _: &Setup) -> Result<sql::Database, StartError> {
    Err(StartError::new(NO_POSTGRES))
}

/// Finds what is wrong with the database before it is opened. Nothing is changed.
#[cfg(not(target_family = "wasm"))]
pub(super) fn check(migrations: &sql::Migrations, setup: &Setup) -> Result<(), StartError> {
    #[cfg(feature = "postgres")]
    refuse_others(setup)?;
    check_one(migrations, setup)
}

/// Finds what is wrong with the database of this setup.
#[cfg(not(target_family = "wasm"))]
pub(super) fn check_one(migrations: &sql::Migrations, setup: &Setup) -> Result<(), StartError> {
    match &setup.database {
        #[cfg(feature = "postgres")]
        Some(address) => {
            let (options, offload) = (setup.sql.clone(), Arc::clone(&setup.offload));
            sql::Database::check_postgres(address.reveal(), migrations, options, offload).map_err(wrong)
        }
        #[cfg(not(feature = "postgres"))]
        Some(_) => Err(StartError::new(NO_POSTGRES)),
        None => sql::Database::check(setup.data.join(DATABASE), migrations).map_err(wrong),
    }
}

#[cfg(not(target_family = "wasm"))]
pub(super) fn describe_migrations(migrations: &sql::Migrations, setup: &Setup) -> Result<Vec<String>, StartError> {
    match &setup.database {
        #[cfg(feature = "postgres")]
        Some(address) => {
            let offload = Arc::clone(&setup.offload);
            sql::Database::describe_postgres_migrations(address.reveal(), migrations, offload).map_err(wrong)
        }
        #[cfg(not(feature = "postgres"))]
        Some(_) => Err(StartError::new(NO_POSTGRES)),
        None => sql::Database::describe_migrations(&setup.data.join(DATABASE), migrations).map_err(wrong),
    }
}

#[cfg(not(any(feature = "postgres", target_family = "wasm")))]
const NO_POSTGRES: &str = "the setting `database` takes the address of a PostgreSQL database (postgres://...), which needs \
                           the cargo feature `postgres` of skep-server, or of skep; empty means SQLite, and there are no others";

/// The host opens it, and has the settings for that.
#[cfg(target_family = "wasm")]
pub(super) fn open_database(
    migrations: &sql::Migrations,
    setup: &Setup,
    own: &OwnTables,
) -> Result<sql::Database, StartError> {
    let dialect = if setup.database.is_some() { sql::Dialect::Postgres } else { sql::Dialect::Sqlite };
    let own = match dialect {
        _ if own.sqlite.is_empty() => Vec::new(),
        sql::Dialect::Sqlite => own.sqlite.clone(),
        sql::Dialect::Postgres => [&[POSTGRES_LOCK], &*own.postgres].concat(),
    };
    sql::Database::open(dialect, migrations, &own).map_err(StartError::new)
}

/// Why an application with a form that is accepted once does not start without a database.
const ONCE_IN_COMPONENT: &str =
    "a form that is accepted once needs App::database in a component: its instances forget what they accepted";
const ONCE_IN_PROCESSES: &str = "a form that is accepted once needs App::database where several processes answer \
                                 (mpm = prefork): each would accept it";

/// Opens the database, if there is one.
pub(super) fn open(
    declared: Option<(sql::Migrations, OpenDatabase)>,
    setup: &Setup,
    mut own: OwnTables,
    has_once: bool,
) -> Result<Option<sql::Database>, StartError> {
    let is_needed = !own.sqlite.is_empty();
    if has_once {
        own.sqlite.extend(once::SCHEMA);
        own.postgres.extend(once::POSTGRES_SCHEMA);
    }
    match declared {
        Some((migrations, open)) => open(&migrations, setup, &own).map(Some),
        None if is_needed => Err(StartError::new("a library has tables (App::tables): add App::database")),
        None if has_once && cfg!(target_family = "wasm") => Err(StartError::new(ONCE_IN_COMPONENT)),
        None if has_once && setup.several_processes => Err(StartError::new(ONCE_IN_PROCESSES)),
        None => Ok(None),
    }
}

/// Where mail goes: tests collect it, whatever the application has, so that none is sent by accident.
pub(super) fn outbox(setup: &Setup, own: Option<Arc<dyn Mailer>>) -> Outbox {
    match setup.mailer.clone().or_else(|| own.filter(|_| !setup.temporary_database)) {
        Some(mailer) => Outbox::Mailer(mailer),
        None if setup.temporary_database => Outbox::Collected(Mutex::default()),
        None if setup.development => Outbox::Log,
        None => Outbox::Missing,
    }
}

/// True if something that outlives a request names rows: users who are signed in, scopes.
pub(super) fn names_rows(entries: &[Entry<Endpoint>], database: Option<&(sql::Migrations, OpenDatabase)>) -> bool {
    let knows_users = |entry: &Entry<Endpoint>| entry.endpoint.guards().any(|guard| (guard.security)().is_some());
    entries.iter().any(knows_users) || database.is_some_and(|(migrations, _)| migrations.have_scopes())
}

/// What people should know of a database whose rows are named.
pub(super) fn warnings(database: Option<&sql::Database>) -> Result<Vec<String>, StartError> {
    #[cfg(not(target_family = "wasm"))]
    if let Some(database) = database {
        return database.reused_keys().map_err(|error| StartError::new(error.to_string()));
    }
    let _ = database;
    Ok(Vec::new())
}

/// Where attempts and rates are counted.
pub(super) fn counters(setup: &Setup) -> Result<Table, StartError> {
    #[cfg(not(target_family = "wasm"))]
    let table = Table::new(setup.limits.counters, setup.clock.clone());
    #[cfg(target_family = "wasm")]
    let table = Table::new(setup.host.cache, setup.clock.clone());
    table.map_err(|error| StartError::new(format!("limits.counters: {error}")))
}

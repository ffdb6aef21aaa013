//! The database of an application.

mod verbs;

use std::path::Path;
use std::sync::Arc;

use skep_cache::driver::block_on;

use super::blocking::Blocking;
use super::checked::Dialect;
use super::dependencies::OnCommit;
use super::each::each_database;
use super::error::Result;
use super::local::Local;
use super::migrations::{Migrations, Steps};
use super::options::Options;
#[cfg(feature = "postgres")]
use super::postgres;
use crate::offload::Offload;
use crate::open_error::OpenError;
use crate::sqlite::open::{check, check_careful, check_writable, describe_migrations};
use crate::sqlite::shared::{Shared, TemporaryFolder};
use crate::status::Part;

/// The database of an application: one for the process, cheap to clone, shared by its threads.
///
/// ```
/// use std::sync::Arc;
/// use skep_sql::offload::Inline;
/// use skep_sql::{Database, Migration, Migrations};
///
/// const MIGRATIONS: Migrations =
///     Migrations::new(&[Migration::new(1, "0001_posts.sql", "create table post (title text not null)")]);
///
/// let database = Database::temporary(&MIGRATIONS, Arc::new(Inline))?;
/// database.write(|writer| writer.execute("insert into post values ('Hello')"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Database {
    engine: Engine,
}

/// Which database it is.
#[derive(Clone)]
enum Engine {
    Sqlite(Arc<Shared>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<postgres::Server>),
}

impl Database {
    /// Opens the file, creates it and its directory if need be, and runs the migrations it lacks.
    ///
    /// This may wait: for other processes that do the same, and for the disk. `offload` is where slow queries and all
    /// writes will run.
    pub fn open(
        path: impl AsRef<Path>,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<Self, OpenError> {
        Self::sqlite(Shared::open(None, path.as_ref(), &migrations.steps(), options, offload))
    }

    /// Says what [`open`](Self::open) would find wrong with this file: that it is no database, is from a newer version,
    /// or that a migration was edited after it ran. Nothing is run or changed, and a missing file is none of these.
    pub fn check(path: impl AsRef<Path>, migrations: &Migrations) -> Result<(), OpenError> {
        check(path.as_ref(), &migrations.steps())
    }

    /// Says what [`open`](Self::open) would do that another version of the program, which uses this file meanwhile, may
    /// not work with: run a migration that does more than add. Nothing is run or changed.
    pub fn check_careful(path: impl AsRef<Path>, migrations: &Migrations) -> Result<(), OpenError> {
        check_careful(path.as_ref(), &migrations.steps())
    }

    /// A database for tests: a new file in the system's temporary directory, removed with the last handle to it. It is
    /// a file and not memory because only so several connections see the same data as they do in earnest.
    pub fn temporary(migrations: &Migrations, offload: Arc<dyn Offload>) -> Result<Self, OpenError> {
        let folder = TemporaryFolder::new()?;
        let path = folder.database();
        let options = Options { durable: false, ..Options::new() };
        Self::sqlite(Shared::open(Some(folder), &path, &migrations.steps(), options, offload))
    }

    fn sqlite(shared: Result<Arc<Shared>, OpenError>) -> Result<Self, OpenError> {
        Ok(Self { engine: Engine::Sqlite(shared?) })
    }

    /// Opens a database of PostgreSQL by its address, `postgres://USER:PASSWORD@HOST/NAME`, and runs the migrations it
    /// lacks: those for PostgreSQL ([`Migrations::with_postgres`]). With `carefully`, a pending one that does more than
    /// add is an error, because another version of the program uses the database meanwhile.
    ///
    /// This may wait: for the network, and for other processes that do the same.
    #[cfg(feature = "postgres")]
    pub fn open_postgres(
        address: &str,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
        carefully: bool,
    ) -> Result<Self, OpenError> {
        Self::postgres(address, postgres::Source::program(migrations), options, offload, (carefully, false))
    }

    /// A database for tests: a new one beside the one that the address names, dropped with the last handle to it. Its
    /// user must be allowed to make some.
    #[cfg(feature = "postgres")]
    pub fn temporary_postgres(
        address: &str,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<Self, OpenError> {
        Self::postgres(address, postgres::Source::program(migrations), options, offload, (false, true))
    }

    #[cfg(feature = "postgres")]
    fn postgres(
        address: &str,
        source: Result<postgres::Source, crate::open_error::Problem>,
        options: Options,
        offload: Arc<dyn Offload>,
        how: (bool, bool),
    ) -> Result<Self, OpenError> {
        let server = postgres::Server::new(postgres::Shared::open(address, source, options, offload, how)?);
        Ok(Self { engine: Engine::Postgres(Arc::new(server)) })
    }

    /// The database for one thread's handlers. Made once for each thread: what it learns and prepares stays with it.
    #[must_use]
    pub fn local(&self) -> Local {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => Local::new(Arc::clone(shared)),
            Engine::Postgres(server) => Local::postgres(server.shared.pool()),
        }
    }

    /// Lends the writer to `work`, which may read too. For code that may block (start-up, imports, tools): it waits for
    /// the writer and for the disk. On a reactor thread it would stall every request, or wait forever for a transaction
    /// that a handler of the same thread holds.
    pub fn write<R>(&self, work: impl FnOnce(&mut Blocking<'_>) -> Result<R>) -> Result<R> {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => {
                let mut lease = block_on(shared.lease_writer())?;
                work(&mut Blocking::new(lease.connection()?, shared.on_commit.get().map(Arc::as_ref)))
            },
            Engine::Postgres(server) => {
                let remote = postgres::Remote::open(&server.shared)?;
                work(&mut Blocking::postgres(&remote, server.shared.on_commit.get().map(Arc::as_ref)))
            },
        }
    }

    /// Has each commit of this process call `then` with the tables that were written: to invalidate what is made of
    /// them, such as pages in a cache. The first call counts; [`OnCommit`] has an example.
    pub fn on_commit(&self, then: Arc<dyn OnCommit>) {
        _ = each_database! { &self.engine,
            Engine::Sqlite(shared) => shared.on_commit.set(then),
            Engine::Postgres(server) => server.shared.on_commit.set(then),
        };
    }

    /// Which database it is, for a library with statements for both: `database.dialect() == Dialect::Sqlite`.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        if self.is_sqlite() { Dialect::Sqlite } else { Dialect::Postgres }
    }

    pub(super) fn is_sqlite(&self) -> bool {
        matches!(self.engine, Engine::Sqlite(_))
    }

    /// Where the file is; of PostgreSQL the address, without user and password.
    #[must_use]
    pub fn path(&self) -> &Path {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => &shared.path,
            Engine::Postgres(server) => &server.shared.place,
        }
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// A line for each migration, for people: when it ran in this file, or that it is pending. Nothing is run or
    /// changed.
    pub fn describe_migrations(path: &Path, migrations: &Migrations) -> Result<Vec<String>, OpenError> {
        describe_migrations(path, &migrations.steps())
    }

    /// Opens the database of a component as [`open`](Self::open) does one of ours, for statements that are not trusted.
    /// With `carefully`, another version uses it meanwhile; with `temporary`, it is only looked at, and the one that is
    /// opened is a new one.
    pub fn open_for_guests(
        path: &Path,
        migrations: &[(u32, String, String)],
        options: Options,
        offload: Arc<dyn Offload>,
        (carefully, temporary): (bool, bool),
    ) -> Result<Self, OpenError> {
        let steps = Steps::of_guest(migrations);
        let options = options.for_guests();
        if temporary {
            check(path, &steps)?;
            let folder = TemporaryFolder::new()?;
            let path = folder.database();
            let options = Options { durable: false, ..options };
            return Self::sqlite(Shared::open(Some(folder), &path, &steps, options, offload));
        }
        if carefully {
            check_careful(path, &steps)?;
        }
        Self::sqlite(Shared::open(None, path, &steps, options, offload))
    }

    /// The same for the migrations of a component, for statements that are not trusted. With `temporary`, those that
    /// ran are only looked at, and the database that is opened is a new one.
    #[cfg(feature = "postgres")]
    pub fn open_postgres_for_guests(
        address: &str,
        migrations: &[(u32, String, String)],
        options: Options,
        offload: Arc<dyn Offload>,
        (carefully, temporary): (bool, bool),
    ) -> Result<Self, OpenError> {
        let (source, options) = (|| Ok(postgres::Source::Guest(migrations.into())), options.for_guests());
        if temporary {
            postgres::Shared::check(address, source(), options.clone(), Arc::clone(&offload))?;
        }
        Self::postgres(address, source(), options, offload, (carefully, temporary))
    }

    /// Says what [`open_postgres`](Self::open_postgres) would find wrong with the migrations that ran. Nothing is run
    /// or changed.
    #[cfg(feature = "postgres")]
    pub fn check_postgres(
        address: &str,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<(), OpenError> {
        postgres::Shared::check(address, postgres::Source::program(migrations), options, offload)
    }

    /// The same as [`describe_migrations`](Self::describe_migrations).
    #[cfg(feature = "postgres")]
    pub fn describe_postgres_migrations(
        address: &str,
        migrations: &Migrations,
        offload: Arc<dyn Offload>,
    ) -> Result<Vec<String>, OpenError> {
        postgres::Shared::describe_migrations(address, postgres::Source::program(migrations), offload)
    }

    /// Whether all writes of the process wait for each other, as those of SQLite do.
    #[must_use]
    pub fn has_one_writer(&self) -> bool {
        matches!(self.engine, Engine::Sqlite(_))
    }

    /// The names of all tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        let statement = each_database! { &self.engine,
            Engine::Sqlite(_) => "select name from sqlite_schema where type = 'table'",
            Engine::Postgres(_) => "select tablename from pg_tables where schemaname = any (current_schemas(false))",
        };
        self.write(|db| db.all(statement))
    }

    /// Makes tables of the framework's own, if they are not there.
    pub fn make_tables(&self, sqlite: &[&str], postgres: &[&str]) -> Result<()> {
        let statements = each_database! { &self.engine,
            Engine::Sqlite(_) => sqlite,
            Engine::Postgres(_) => postgres,
        };
        _ = postgres;
        self.write(|db| {
            db.transaction(|db| statements.iter().try_for_each(|statement| db.execute(*statement).map(drop)))
        })
    }

    /// Closes connections that nobody uses; they are opened again when they are needed. Those to PostgreSQL belong to
    /// threads.
    pub fn close_idle(&self) {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => {
                shared.writer.close_idle();
                shared.readers.close_idle();
            },
            Engine::Postgres(_) => {},
        }
    }

    /// What is open and who waits, for the status.
    #[must_use]
    pub fn status(&self) -> Vec<Part> {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => vec![shared.writer.status("pool writer"), shared.readers.status("pool readers")],
            Engine::Postgres(server) => server.shared.status(),
        }
    }

    /// Why what is written would be lost or cannot be read: the file is gone, or damaged.
    pub fn check_file(&self) -> Result<()> {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => shared.check_file().and_then(|()| shared.check_damage()),
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Why nothing can be written: another user owns a file of the database, or the file system is read-only.
    pub fn check_writable(&self) -> std::io::Result<()> {
        each_database! { &self.engine,
            Engine::Sqlite(shared) => check_writable(&shared.path),
            Engine::Postgres(_) => Ok(()),
        }
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.path()).finish_non_exhaustive()
    }
}

//! The database of an application.

use std::fs::DirBuilder;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use skep_cache::FileId;
use skep_cache::driver::block_on;

use super::blocking::Blocking;
use super::checked::Dialect;
use super::dependencies::{OnCommit, Writes};
use super::error::{Kind, Result};
use super::local::Local;
use super::migrations::{Migrations, Steps};
use super::options::Options;
#[cfg(feature = "postgres")]
use super::postgres;
use crate::offload::{Offload, offload};
use crate::open_error::OpenError;
use crate::sqlite::connection::{Connection, Role, StopOnDrop};
use crate::sqlite::open::{check, check_careful, check_writable, describe_migrations, open};
use crate::sqlite::pool::{Lease, Pool};
use crate::status::Part;

/// The database of an application: one for the process, cheap to clone, shared by its threads.
///
/// ```
/// use std::sync::Arc;
/// use skep::offload::Inline;
/// use skep::sql::{Database, Migration, Migrations};
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
    Postgres(Arc<postgres::Shared>),
}

pub(super) struct Shared {
    pub(super) path: PathBuf,
    file: Option<FileId>,
    /// A statement has found it so.
    is_damaged: AtomicBool,
    pub(super) options: Options,
    pub(super) offload: Arc<dyn Offload>,
    pub(super) writer: Arc<Pool>,
    pub(super) readers: Arc<Pool>,
    /// How many results are being streamed.
    pub(super) streams: AtomicUsize,
    on_commit: OnceLock<Arc<dyn OnCommit>>,
    /// Last, so that the connections above are closed before their folder is removed.
    _folder: Option<TemporaryFolder>,
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
        Self::open_in(None, path.as_ref(), &migrations.steps(), options, offload)
    }

    /// Says what [`open`](Self::open) would find wrong with this file: that it is no database, is from a newer version,
    /// or that a migration was edited after it ran. Nothing is run or changed, and a missing file is none of these.
    pub fn check(path: impl AsRef<Path>, migrations: &Migrations) -> Result<(), OpenError> {
        check(path.as_ref(), &migrations.steps())
    }

    /// Says what [`open`](Self::open) would do that another version of the program, which uses this file meanwhile, may not get on
    /// with: run a migration that does more than add. Nothing is run or changed.
    pub fn check_careful(path: impl AsRef<Path>, migrations: &Migrations) -> Result<(), OpenError> {
        check_careful(path.as_ref(), &migrations.steps())
    }

    /// A database for tests: a new file in the system's temporary directory, removed with the last handle to it. It is
    /// a file and not memory because only so several connections see the same data as they do in earnest.
    pub fn temporary(migrations: &Migrations, offload: Arc<dyn Offload>) -> Result<Self, OpenError> {
        let folder = TemporaryFolder::new()?;
        let path = folder.0.join("database.sqlite");
        let options = Options { durable: false, ..Options::new() };
        Self::open_in(Some(folder), &path, &migrations.steps(), options, offload)
    }

    fn open_in(
        folder: Option<TemporaryFolder>,
        path: &Path,
        migrations: &Steps<'_>,
        mut options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<Self, OpenError> {
        // Absolute, so that a later change of the working directory changes nothing, and so that SQLite never takes it
        // for a URI.
        let path = std::path::absolute(path).map_err(|error| OpenError::directory(path, error))?;
        let first = open(&path, migrations, &mut options)?;
        let pool = |slots, role| {
            let (path, options) = (path.clone(), options.clone());
            Pool::new(slots, options.waiting, Box::new(move || Connection::open(&path, role, &options)))
        };
        let writer = pool(vec![Some(first)], Role::Writer);
        let readers = pool((0..options.readers).map(|_| None).collect(), Role::Reader);
        let file = FileId::of(&path).ok();
        let is_damaged = AtomicBool::new(false);
        let streams = AtomicUsize::new(0);
        let on_commit = OnceLock::new();
        let shared =
            Shared { path, file, is_damaged, options, offload, writer, readers, streams, on_commit, _folder: folder };
        Ok(Self { engine: Engine::Sqlite(Arc::new(shared)) })
    }

    /// Opens a database of PostgreSQL by its address, `postgres://USER:PASSWORD@HOST/NAME`, and runs the migrations it lacks: those for
    /// PostgreSQL ([`Migrations::with_postgres`]). With `carefully`, a pending one that does more than add is an error, because another version
    /// of the program uses the database meanwhile.
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

    /// A database for tests: a new one beside the one that the address names, dropped with the last handle to it. Its user must be allowed to
    /// make some.
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
        let shared = postgres::Shared::open(address, source, options, offload, how)?;
        Ok(Self { engine: Engine::Postgres(shared) })
    }

    /// The database for one thread's handlers. Made once for each thread: what it learns and prepares stays with it.
    #[must_use]
    pub fn local(&self) -> Local {
        match &self.engine {
            Engine::Sqlite(shared) => Local::new(Arc::clone(shared)),
            #[cfg(feature = "postgres")]
            Engine::Postgres(shared) => Local::postgres(shared.pool()),
        }
    }

    /// Lends the writer to `work`, which may read too. For code that may block (start-up, imports, tools): it waits for
    /// the writer and for the disk. On a reactor thread it would stall every request, or wait forever for a transaction
    /// that a handler of the same thread holds.
    pub fn write<R>(&self, work: impl FnOnce(&mut Blocking<'_>) -> Result<R>) -> Result<R> {
        match &self.engine {
            Engine::Sqlite(shared) => {
                let mut lease = block_on(shared.lease_writer())?;
                work(&mut Blocking::new(lease.connection()?, shared.on_commit.get().map(Arc::as_ref)))
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(shared) => {
                let remote = postgres::Remote::open(shared)?;
                work(&mut Blocking::postgres(&remote, shared.on_commit.get().map(Arc::as_ref)))
            }
        }
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
        match &self.engine {
            Engine::Sqlite(shared) => &shared.path,
            #[cfg(feature = "postgres")]
            Engine::Postgres(shared) => &shared.place,
        }
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// A line for each migration, for people: when it ran in this file, or that it is pending. Nothing is run or changed.
    pub fn describe_migrations(path: &Path, migrations: &Migrations) -> Result<Vec<String>, OpenError> {
        describe_migrations(path, &migrations.steps())
    }

    /// Opens the database of a component as [`open`](Self::open) does one of ours, for statements that are not trusted. With
    /// `carefully`, another version uses it meanwhile; with `temporary`, it is only looked at, and the one that is opened is a new one.
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
            let path = folder.0.join("database.sqlite");
            return Self::open_in(Some(folder), &path, &steps, Options { durable: false, ..options }, offload);
        }
        if carefully {
            check_careful(path, &steps)?;
        }
        Self::open_in(None, path, &steps, options, offload)
    }

    /// The same for the migrations of a component, for statements that are not trusted. With `temporary`, those that ran are only looked
    /// at, and the database that is opened is a new one.
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

    /// Says what [`open_postgres`](Self::open_postgres) would find wrong with the migrations that ran. Nothing is run or changed.
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

    /// Has each commit of this process call `then`, of what was written by handlers, jobs and start-up work.
    pub fn on_commit(&self, then: Arc<dyn OnCommit>) {
        _ = match &self.engine {
            Engine::Sqlite(shared) => shared.on_commit.set(then),
            #[cfg(feature = "postgres")]
            Engine::Postgres(shared) => shared.on_commit.set(then),
        };
    }

    /// Whether all writes of the process wait for each other, as those of SQLite do.
    #[must_use]
    pub fn has_one_writer(&self) -> bool {
        matches!(self.engine, Engine::Sqlite(_))
    }

    /// The names of all tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        let statement = match &self.engine {
            Engine::Sqlite(_) => "select name from sqlite_schema where type = 'table'",
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => "select tablename from pg_tables where schemaname = any (current_schemas(false))",
        };
        self.write(|db| db.all(statement))
    }

    /// Makes tables of the framework's own, if they are not there.
    pub fn make_tables(&self, sqlite: &[&str], postgres: &[&str]) -> Result<()> {
        let statements = match &self.engine {
            Engine::Sqlite(_) => sqlite,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => postgres,
        };
        _ = postgres;
        self.write(|db| {
            db.transaction(|db| statements.iter().try_for_each(|statement| db.execute(*statement).map(drop)))
        })
    }

    /// Closes connections that nobody uses; they are opened again when they are needed. Those to PostgreSQL belong to threads.
    pub fn close_idle(&self) {
        match &self.engine {
            Engine::Sqlite(shared) => {
                shared.writer.close_idle();
                shared.readers.close_idle();
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => {}
        }
    }

    /// What is open and who waits, for the status.
    #[must_use]
    pub fn status(&self) -> Vec<Part> {
        match &self.engine {
            Engine::Sqlite(shared) => vec![shared.writer.status("pool writer"), shared.readers.status("pool readers")],
            #[cfg(feature = "postgres")]
            Engine::Postgres(shared) => shared.status(),
        }
    }

    /// Why what is written would be lost or cannot be read: the file is gone, or damaged.
    pub fn check_file(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(shared) => {
                shared.check_file()?;
                let is_damaged = shared.is_damaged.load(Ordering::Relaxed);
                let damaged = || Kind::Damaged { path: shared.path.clone() }.into();
                if is_damaged { Err(damaged()) } else { Ok(()) }
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Why nothing can be written: another user owns a file of the database, or the file system is read-only.
    pub fn check_writable(&self) -> std::io::Result<()> {
        match &self.engine {
            Engine::Sqlite(shared) => check_writable(&shared.path),
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => Ok(()),
        }
    }
}

impl Shared {
    fn check_file(&self) -> Result<()> {
        if self.file.is_none_or(|file| file.is_still(&self.path)) {
            return Ok(());
        }
        Err(Kind::FileIsGone { path: self.path.clone() }.into())
    }

    /// Waits for the writer, unless what it wrote would be lost.
    pub(super) async fn lease_writer(&self) -> Result<Lease> {
        self.check_file()?;
        self.writer.lease().await
    }

    /// Remembers damage that a statement has found.
    pub(super) fn note<R>(&self, result: Result<R>) -> Result<R> {
        result.inspect_err(|error| {
            if error.is_damage() {
                self.is_damaged.store(true, Ordering::Relaxed);
            }
        })
    }

    pub(super) fn connect(&self, role: Role) -> Result<Connection> {
        Connection::open(&self.path, role, &self.options)
    }

    /// Waits for a reader and runs `work` with it on the pool, until it ends or nobody waits for it any more. Says how long it took.
    pub(super) async fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<(R, Duration)> {
        let mut lease = self.readers.lease().await?;
        let (_stop, stopped) = StopOnDrop::new();
        let job = move || {
            let connection = lease.connection()?;
            let started = Instant::now();
            Ok((connection.unless(stopped, work)?, started.elapsed()))
        };
        self.note(offload(&*self.offload, job).await.map_err(Kind::Lost)?)
    }

    /// Waits for the writer and runs `work` with it on the pool, which may change these tables.
    pub(super) async fn write<R: Send + 'static>(
        &self,
        writes: Writes,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let mut lease = self.lease_writer().await?;
        let commit = self.commit(writes.tables());
        let job = move || {
            // What makes rows is the application's. Should it panic, what was written is there nevertheless.
            let work = |connection: &Connection| catch_unwind(AssertUnwindSafe(|| work(connection)));
            let (result, has_changed) = lease.connection()?.noting_changes(work);
            // First of all, so that others need not wait for caches.
            drop(lease);
            if has_changed {
                commit.announce();
            }
            result.unwrap_or_else(|panic| resume_unwind(panic))
        };
        self.note(offload(&*self.offload, job).await.map_err(Kind::Lost)?)
    }

    pub(super) fn commit(&self, tables: Vec<&'static str>) -> Commit {
        let then = self.on_commit.get().filter(|_| !tables.is_empty()).cloned();
        Commit { then, tables }
    }
}

/// What is to be announced of a write once it is committed. It is announced by the thread of the pool that commits: a handler may be dropped
/// between the two.
pub(super) struct Commit {
    then: Option<Arc<dyn OnCommit>>,
    tables: Vec<&'static str>,
}

impl Commit {
    pub(super) fn announce(self) {
        if let Some(then) = self.then {
            then.tables_changed(&self.tables);
        }
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.path()).finish_non_exhaustive()
    }
}

struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// A folder that nobody else has: creating it fails if it is there, and then the next number is tried.
    fn new() -> Result<Self, OpenError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("skep-{}-{number}", std::process::id()));
            match private(&mut DirBuilder::new()).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OpenError::directory(&path, error)),
            }
        }
    }
}

#[cfg(unix)]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700)
}

#[cfg(not(unix))]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which clears this directory anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

//! Opening a database: everything that can be wrong with it is found here, before the first request.
//!
//! Start reading at [`open`].

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::OpenFlags;

use super::connection::{Connection, Role};
use super::failure::failed;
use super::functions;
use super::migrate::migrate;
use crate::guests;
use crate::migrations::Steps;
use crate::open_error::{OpenError, Problem};
use crate::options::Options;
use crate::private;

/// How often a lock that SQLite itself does not wait for is tried.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Creates the file if need be, checks it, runs what migrations it lacks, and gives back the writer. The functions of
/// the application are in the options then.
pub(crate) fn open(path: &Path, migrations: &Steps<'_>, options: &mut Options) -> Result<Connection, OpenError> {
    timed(path, || try_open(path, migrations, options))
}

/// Looks at a file as [`open`] does, and runs nothing.
pub(crate) fn check(path: &Path, migrations: &Steps<'_>) -> Result<(), OpenError> {
    timed(path, || if path.exists() { try_check(path, migrations) } else { Ok(()) })
}

/// A line for each migration, for people. Of a file that is not there, all are pending.
pub(crate) fn describe_migrations(path: &Path, migrations: &Steps<'_>) -> Result<Vec<String>, OpenError> {
    timed(path, || if path.exists() { migrations.describe_in(&existing(path)?) } else { migrations.describe(&[]) })
}

/// Looks for pending migrations that do more than add.
pub(crate) fn check_careful(path: &Path, migrations: &Steps<'_>) -> Result<(), OpenError> {
    timed(path, || if path.exists() { migrations.only_add_to(&existing(path)?) } else { Ok(()) })
}

fn timed<T>(path: &Path, work: impl FnOnce() -> Result<T, Problem>) -> Result<T, OpenError> {
    let started = Instant::now();
    work().map_err(|problem| OpenError { path: path.to_owned(), problem, waited: started.elapsed() })
}

/// A connection that may write: one that may not would leave the -wal and -shm files behind that it needs for reading.
fn existing(path: &Path) -> Result<rusqlite::Connection, Problem> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE;
    let raw = rusqlite::Connection::open_with_flags(path, flags).map_err(failed)?;
    raw.busy_timeout(Options::new().busy_timeout).map_err(failed)?;
    Ok(raw)
}

fn try_check(path: &Path, migrations: &Steps<'_>) -> Result<(), Problem> {
    if path.is_dir() {
        return Err(Problem::IsDirectory);
    }
    let raw = existing(path)?;
    raw.query_row("pragma schema_version", [], |_| Ok(())).map_err(failed)?;
    migrations.check(&raw)?;
    check_writable(path).map_err(Problem::Unwritable)
}

fn try_open(path: &Path, migrations: &Steps<'_>, options: &mut Options) -> Result<Connection, Problem> {
    if cfg!(debug_assertions)
        && let Some(file) = migrations.newcomer()
    {
        return Err(Problem::NotCompiledIn { file });
    }
    options.functions = functions::agreed(migrations, options.guests)?;
    let mut raw = open_file(path, options)?;
    raw.busy_timeout(options.busy_timeout).map_err(failed)?;
    if options.guests {
        guests::restrict(&raw).map_err(failed)?;
    }
    // The first look into the file: a wrong one fails here.
    raw.query_row("pragma schema_version", [], |_| Ok(())).map_err(failed)?;
    let read_only = raw.is_readonly("main").map_err(failed)?;
    if let Err(error) = check_writable(path)
        && !options.read_only
    {
        tracing::warn!(target: "skep::sql", "{error}; every change will fail");
    }
    if !read_only {
        use_wal(&raw, options.busy_timeout)?;
    }
    functions::register_first(&raw, &options.functions)?;
    migrate(&mut raw, migrations, read_only, options.guests)?;
    Ok(Connection::set_up(raw, Role::Writer, options).map_err(failed)?)
}

/// The file, and those that SQLite has beside it.
pub(crate) fn check_writable(path: &Path) -> std::io::Result<()> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    ["", "-wal", "-shm"].into_iter().try_for_each(|suffix| private::check_writable(&beside(suffix)))
}

fn open_file(path: &Path, options: &Options) -> Result<rusqlite::Connection, Problem> {
    if path.is_dir() {
        return Err(Problem::IsDirectory);
    }
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if options.read_only {
        if !path.exists() {
            return Err(Problem::Missing);
        }
        flags |= OpenFlags::SQLITE_OPEN_READ_ONLY;
    } else {
        flags |= OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        path.parent().map_or(Ok(()), private::create_folder).map_err(Problem::Directory)?;
        // SQLite gives its other files the mode of this one. What keeps it from being made, SQLite says in its own
        // words.
        let _ = private::create(path);
    }
    Ok(rusqlite::Connection::open_with_flags(path, flags).map_err(failed)?)
}

/// Readers and the writer do not wait for each other in this mode. SQLite does not wait for the lock that the change
/// needs, which two processes may want when they start at once, so we do.
fn use_wal(raw: &rusqlite::Connection, timeout: Duration) -> Result<(), Problem> {
    let started = Instant::now();
    loop {
        let changed = raw.query_row("pragma journal_mode = wal", [], |row| row.get::<_, String>(0));
        match changed.map_err(failed) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(Problem::NoWal { mode }),
            Err(error) if error.is_busy() && started.elapsed() < timeout => std::thread::sleep(BETWEEN_TRIES),
            Err(error) => return Err(error.into()),
        }
    }
}

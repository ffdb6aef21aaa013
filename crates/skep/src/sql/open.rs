//! Opening a database: everything that can be wrong with it is found here, before the first request.
//!
//! Start reading at [`open`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{OpenFlags, ffi};

use super::connection::{Connection, Role};
use super::error::{Error, sqlite};
use super::function;
use super::guests;
#[cfg(feature = "postgres")]
use super::migrations::NOT_FOR_POSTGRES;
use super::migrations::{Steps, migrate};
use super::options::Options;
use crate::private;

/// How often a lock that SQLite itself does not wait for is tried.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Why a database was not opened. Its text says what, where, and what would be right.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    problem: Problem,
    /// How long a lock was waited for.
    waited: Duration,
}

#[derive(Debug)]
pub(super) enum Problem {
    Directory(io::Error),
    Missing,
    IsDirectory,
    NotADatabase,
    NoWal {
        mode: String,
    },
    ReadOnly {
        pending: String,
    },
    /// For `--check`: the application could only read.
    Unwritable(io::Error),
    Newer {
        file: String,
    },
    Changed {
        file: String,
    },
    Late {
        file: String,
        last: u32,
    },
    Disordered {
        file: String,
        before: String,
    },
    NotCompiledIn {
        file: String,
    },
    Migration {
        file: String,
        line: usize,
        statement: String,
        reason: String,
    },
    Breaking {
        file: String,
        line: usize,
        statement: String,
    },
    ForeignKey {
        file: String,
        table: String,
        parent: String,
    },
    /// What a comment says that begins with `skep:`.
    Declaration {
        file: String,
        reason: String,
    },
    /// Functions that are declared and those that are given do not agree.
    Functions(String),
    Database(Error),
    #[cfg(feature = "postgres")]
    Address(String),
    #[cfg(feature = "postgres")]
    NotForPostgres,
}

impl OpenError {
    #[cfg(feature = "postgres")]
    pub(super) fn new(place: &Path, problem: Problem, waited: Duration) -> Self {
        Self { path: place.to_owned(), problem, waited }
    }

    /// Another process held the lock for longer than `busy_timeout`.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(&self.problem, Problem::Database(error) if error.is_busy())
    }

    /// The file is no SQLite database.
    #[must_use]
    pub fn is_not_a_database(&self) -> bool {
        matches!(self.problem, Problem::NotADatabase)
    }

    /// A newer version of the program used this database.
    #[must_use]
    pub fn is_from_newer_version(&self) -> bool {
        matches!(self.problem, Problem::Newer { .. })
    }

    /// The file cannot be written, and a migration would have to.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self.problem, Problem::ReadOnly { .. })
    }

    /// A migration failed; the database is as it was before that migration.
    #[must_use]
    pub fn is_failed_migration(&self) -> bool {
        matches!(self.problem, Problem::Migration { .. } | Problem::ForeignKey { .. })
    }

    pub(super) fn directory(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), problem: Problem::Directory(error), waited: Duration::ZERO }
    }
}

/// Creates the file if need be, checks it, runs what migrations it lacks, and gives back the writer. The functions of the application are
/// in the options then.
pub(super) fn open(path: &Path, migrations: &Steps<'_>, options: &mut Options) -> Result<Connection, OpenError> {
    timed(path, || try_open(path, migrations, options))
}

/// Looks at a file as [`open`] does, and runs nothing.
pub(super) fn check(path: &Path, migrations: &Steps<'_>) -> Result<(), OpenError> {
    timed(path, || if path.exists() { try_check(path, migrations) } else { Ok(()) })
}

/// A line for each migration, for people. Of a file that is not there, all are pending.
pub(super) fn describe_migrations(path: &Path, migrations: &Steps<'_>) -> Result<Vec<String>, OpenError> {
    timed(path, || if path.exists() { migrations.describe_in(&existing(path)?) } else { migrations.describe(&[]) })
}

/// Looks for pending migrations that do more than add.
pub(super) fn check_careful(path: &Path, migrations: &Steps<'_>) -> Result<(), OpenError> {
    timed(path, || if path.exists() { migrations.only_add_to(&existing(path)?) } else { Ok(()) })
}

fn timed<T>(path: &Path, work: impl FnOnce() -> Result<T, Problem>) -> Result<T, OpenError> {
    let started = Instant::now();
    work().map_err(|problem| OpenError { path: path.to_owned(), problem, waited: started.elapsed() })
}

/// A connection that may write: one that may not would leave the -wal and -shm files behind that it needs for reading.
fn existing(path: &Path) -> Result<rusqlite::Connection, Problem> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE;
    let raw = rusqlite::Connection::open_with_flags(path, flags).map_err(sqlite)?;
    raw.busy_timeout(Options::new().busy_timeout).map_err(sqlite)?;
    Ok(raw)
}

fn try_check(path: &Path, migrations: &Steps<'_>) -> Result<(), Problem> {
    if path.is_dir() {
        return Err(Problem::IsDirectory);
    }
    let raw = existing(path)?;
    raw.query_row("pragma schema_version", [], |_| Ok(())).map_err(sqlite)?;
    migrations.check(&raw)?;
    check_writable(path).map_err(Problem::Unwritable)
}

fn try_open(path: &Path, migrations: &Steps<'_>, options: &mut Options) -> Result<Connection, Problem> {
    if cfg!(debug_assertions)
        && let Some(file) = migrations.newcomer()
    {
        return Err(Problem::NotCompiledIn { file });
    }
    options.functions = function::agreed(migrations, options.guests)?;
    let mut raw = open_file(path, options)?;
    raw.busy_timeout(options.busy_timeout).map_err(sqlite)?;
    if options.guests {
        guests::restrict(&raw).map_err(sqlite)?;
    }
    // The first look into the file: a wrong one fails here.
    raw.query_row("pragma schema_version", [], |_| Ok(())).map_err(sqlite)?;
    let read_only = raw.is_readonly("main").map_err(sqlite)?;
    if let Err(error) = check_writable(path)
        && !options.read_only
    {
        tracing::warn!(target: "skep::sql", "{error}; every change will fail");
    }
    if !read_only {
        use_wal(&raw, options.busy_timeout)?;
    }
    function::register_first(&raw, &options.functions)?;
    migrate(&mut raw, migrations, read_only, options.guests)?;
    Ok(Connection::set_up(raw, Role::Writer, options).map_err(sqlite)?)
}

/// The file, and those that SQLite has beside it.
pub(super) fn check_writable(path: &Path) -> std::io::Result<()> {
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
        // SQLite gives its other files the mode of this one. What keeps it from being made, SQLite says in its own words.
        let _ = private::create(path);
    }
    Ok(rusqlite::Connection::open_with_flags(path, flags).map_err(sqlite)?)
}

/// Readers and the writer do not wait for each other in this mode. SQLite does not wait for the lock that the change
/// needs, which two processes may want when they start at once, so we do.
fn use_wal(raw: &rusqlite::Connection, timeout: Duration) -> Result<(), Problem> {
    let started = Instant::now();
    loop {
        let changed = raw.query_row("pragma journal_mode = wal", [], |row| row.get::<_, String>(0));
        match changed.map_err(sqlite) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(Problem::NoWal { mode }),
            Err(error) if error.is_busy() && started.elapsed() < timeout => std::thread::sleep(BETWEEN_TRIES),
            Err(error) => return Err(error.into()),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        if error.primary() == ffi::SQLITE_NOTADB { Self::NotADatabase } else { Self::Database(error) }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot open the database {}: ", self.path.display())?;
        match &self.problem {
            Problem::Database(error) if error.is_busy() => write!(
                f,
                "another process has locked it for {:.1} s; end that process, or allow a longer busy timeout",
                self.waited.as_secs_f64()
            ),
            problem => problem.fmt(f),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(error) => write!(f, "its directory cannot be created: {error}"),
            Self::Missing => f.write_str("there is no such file, and for reading only none is created"),
            Self::IsDirectory => f.write_str("it is a directory; name a file in it"),
            Self::NotADatabase => {
                f.write_str("the file is no SQLite database, or is encrypted; nothing in it was changed")
            }
            Self::NoWal { mode } => write!(
                f,
                "its journal mode stays `{mode}` instead of `wal`; \
                 the file must be on a local disk that allows shared memory"
            ),
            Self::ReadOnly { pending } => write!(
                f,
                "migration {pending} has to run, and the file cannot be written; \
                 allow writing to it and to its directory"
            ),
            Self::Unwritable(error) => {
                write!(f, "{error}; every change would fail: give the file to the user of the server")
            }
            Self::Newer { file } => {
                write!(f, "it is from a newer version of this program, which ran migration {file}; start that version")
            }
            Self::Changed { file } => write!(
                f,
                "migration {file} has run with another text; restore the file, and put the change into a new migration"
            ),
            Self::Late { file, last } => {
                write!(f, "migration {file} would run after number {last}, which ran already; give it a higher number")
            }
            Self::Disordered { file, before } => write!(f, "migration {file} must not come after {before}"),
            Self::NotCompiledIn { file } => {
                write!(
                    f,
                    "migration {file} was added after this program was compiled; change a source file and build again"
                )
            }
            Self::Migration { file, line, statement, reason } => {
                write!(f, "migration {file} failed at line {line} and was undone: {reason}; in: {statement}")
            }
            Self::Breaking { file, line, statement } => write!(
                f,
                "migration {file}, line {line} ({statement}) does more than add, and another version uses this database: \
                 --allow-breaking-migration runs it all the same"
            ),
            Self::ForeignKey { file, table, parent } => write!(
                f,
                "migration {file} was undone: it leaves rows of `{table}` that refer to missing rows of `{parent}`"
            ),
            Self::Declaration { file, reason } => write!(f, "migration {file}, {reason}"),
            Self::Functions(problem) => f.write_str(problem),
            Self::Database(error) if error.is_read_only() || error.primary() == ffi::SQLITE_CANTOPEN => {
                write!(f, "{error}; the file must be readable, and its directory writable for the -wal and -shm files")
            }
            Self::Database(error) if error.primary() == ffi::SQLITE_CORRUPT => {
                write!(f, "the file is damaged ({error}); put a backup in its place, nothing in it was changed")
            }
            Self::Database(error) => error.fmt(f),
            #[cfg(feature = "postgres")]
            Self::Address(problem) => f.write_str(problem),
            #[cfg(feature = "postgres")]
            Self::NotForPostgres => f.write_str(NOT_FOR_POSTGRES),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Directory(error) => Some(error),
            Problem::Database(error) => Some(error),
            _ => None,
        }
    }
}

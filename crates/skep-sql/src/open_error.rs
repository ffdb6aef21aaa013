//! Why a database was not opened.

#![cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "what is PostgreSQL's is read with that feature"))]

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use rusqlite::ffi;

use crate::error::Error;
use crate::migrations::NOT_FOR_POSTGRES;

/// Why a database was not opened. Its text says what, where, and what would be right.
#[derive(Debug)]
pub struct OpenError {
    pub(crate) path: PathBuf,
    pub(crate) problem: Problem,
    /// How long a lock was waited for.
    pub(crate) waited: Duration,
}

#[derive(Debug)]
pub(crate) enum Problem {
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
    Address(String),
    NotForPostgres,
}

impl OpenError {
    pub(crate) fn new(place: &Path, problem: Problem, waited: Duration) -> Self {
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

    pub(crate) fn directory(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), problem: Problem::Directory(error), waited: Duration::ZERO }
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
            Self::Functions(problem) | Self::Address(problem) => f.write_str(problem),
            Self::Database(error) if error.is_read_only() || error.primary() == ffi::SQLITE_CANTOPEN => {
                write!(f, "{error}; the file must be readable, and its directory writable for the -wal and -shm files")
            }
            Self::Database(error) if error.primary() == ffi::SQLITE_CORRUPT => {
                write!(f, "the file is damaged ({error}); put a backup in its place, nothing in it was changed")
            }
            Self::Database(error) => error.fmt(f),
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

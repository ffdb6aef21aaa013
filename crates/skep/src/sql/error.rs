//! Why a statement did not run.
//!
//! An [`Error`] answers what a handler must decide (is the name taken? is it worth trying again?). Its text is for the
//! log. Turned into a [`skep::Error`](crate::Error) it is a 503 where the same request may succeed later, else a 500.

use std::error::Error as StdError;
use std::fmt;
use std::ops::Range;

use super::checked::Dialect;
use super::query::Refused;
use super::value::Unfit;
use crate::offload::Lost;

/// SQLite's result codes, as its documentation numbers them (<https://sqlite.org/rescode.html>): a component has no SQLite to ask.
mod codes {
    #[cfg(not(target_family = "wasm"))]
    pub(super) const ERROR: i32 = 1;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    #[cfg(not(target_family = "wasm"))]
    pub(super) const INTERRUPT: i32 = 9;
    #[cfg(not(target_family = "wasm"))]
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    #[cfg(not(target_family = "wasm"))]
    pub(super) const NOTADB: i32 = 26;
    pub(super) const CONSTRAINT_CHECK: i32 = 275;
    pub(super) const CONSTRAINT_FOREIGNKEY: i32 = 787;
    pub(super) const CONSTRAINT_NOTNULL: i32 = 1299;
    pub(super) const CONSTRAINT_PRIMARYKEY: i32 = 1555;
    pub(super) const CONSTRAINT_UNIQUE: i32 = 2067;
    pub(super) const CONSTRAINT_ROWID: i32 = 2579;
    pub(super) const IOERR_SHMSIZE: i32 = 4874;
}

/// PostgreSQL's codes (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
mod states {
    /// The class "data exception".
    #[cfg(any(feature = "postgres", target_family = "wasm"))]
    pub(super) const DATA: &str = "22";
    /// "invalid parameter value"
    #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
    pub(super) const PARAMETER: &str = "22023";
    /// The class "connection exception".
    pub(super) const CONNECTION: &str = "08";
    pub(super) const UNIQUE: &str = "23505";
    pub(super) const FOREIGN_KEY: &str = "23503";
    pub(super) const RESTRICT: &str = "23001";
    pub(super) const NOT_NULL: &str = "23502";
    pub(super) const CHECK: &str = "23514";
    pub(super) const READ_ONLY: &str = "25006";
    pub(super) const DISK_FULL: &str = "53100";
    pub(super) const CANCELLED: &str = "57014";
    /// Serialization failure, deadlock, too many connections, lock not available; and what was prepared for a table that was altered since.
    pub(super) const BUSY: [&str; 5] = ["40001", "40P01", "53300", "55P03", "26000"];
    /// Serialization failure, deadlock, and what was prepared for a table that was altered since.
    pub(super) const CONFLICT: [&str; 3] = ["40001", "40P01", "26000"];
    /// The server or the backend is ended, or is starting.
    pub(super) const SHUTDOWN: [&str; 3] = ["57P01", "57P02", "57P03"];
    /// A statement that is not prepared, or for a table that was altered since.
    #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
    pub(super) const STALE: &str = "26000";
}

/// What the verbs of this module give back.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement did not run, or why its rows could not be read.
///
/// ```
/// # use skep::sql::{self, query};
/// # async fn example(db: &sql::Local, name: &str) -> skep::Result<()> {
/// match db.execute(query("insert into reader (name) values (?)", name)).await {
///     Err(error) if error.is_unique_violation() => Err(skep::Error::bad_request("this name is taken")),
///     outcome => Ok(outcome.map(|_| ())?),
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: Kind,
    statement: Option<Box<str>>,
}

#[derive(Debug)]
#[cfg_attr(
    target_family = "wasm",
    expect(dead_code, reason = "the host finds out some of these, and says so in words")
)]
pub(super) enum Kind {
    Sqlite {
        code: i32,
        message: String,
    },
    /// With the code that PostgreSQL's documentation lists in appendix A.
    #[cfg(any(feature = "postgres", target_family = "wasm"))]
    Postgres {
        code: Box<str>,
        message: String,
        /// Whose value could not be read.
        parameter: Option<usize>,
    },
    /// A statement of `sql!`, on the database for which it was not checked.
    CheckedForOther(Dialect),
    Parameter(Refused),
    /// What a link names as the place of a page is no value of the columns.
    Cursor {
        reason: String,
    },
    ParameterCount {
        given: usize,
        wanted: usize,
    },
    Column {
        name: String,
        reason: Unfit,
    },
    NoColumn {
        row: &'static str,
        field: &'static str,
        column: &'static str,
        columns: Vec<String>,
    },
    TwoColumns {
        row: &'static str,
        field: &'static str,
        column: &'static str,
    },
    ColumnCount {
        wanted: usize,
        columns: Vec<String>,
    },
    ManyRows,
    SeveralStatements,
    ControlsTransaction,
    Abandoned,
    Damaged {
        path: std::path::PathBuf,
    },
    FileIsGone {
        path: std::path::PathBuf,
    },
    OwnTransaction,
    QueueFull {
        limit: usize,
    },
    TooManyStreams {
        limit: usize,
    },
    StreamWrites,
    Lost(Lost),
    Other(Box<dyn StdError + Send + Sync>),
}

/// The message for clients when the disk is full.
pub(crate) const NO_ROOM: &str = "Nothing can be saved at the moment: there is no room left. Please try again later.";

/// The message when nothing may be written.
pub(crate) const READ_ONLY: &str = "Nothing can be changed at the moment. Please try again later.";

impl Error {
    /// An error of the caller's own, for closures that must give back this type; a transaction ends and is undone.
    pub fn other(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Kind::Other(cause.into()).into()
    }

    /// A value that must be unique (`unique`, `primary key`) is there already.
    #[must_use]
    pub fn is_unique_violation(&self) -> bool {
        [codes::CONSTRAINT_UNIQUE, codes::CONSTRAINT_PRIMARYKEY, codes::CONSTRAINT_ROWID].contains(&self.code())
            || self.state() == states::UNIQUE
    }

    /// A row refers to one that is not there, or one that is referred to was to be deleted.
    #[must_use]
    pub fn is_foreign_key_violation(&self) -> bool {
        self.code() == codes::CONSTRAINT_FOREIGNKEY || [states::FOREIGN_KEY, states::RESTRICT].contains(&self.state())
    }

    /// A `not null` column was given NULL.
    #[must_use]
    pub fn is_not_null_violation(&self) -> bool {
        self.code() == codes::CONSTRAINT_NOTNULL || self.state() == states::NOT_NULL
    }

    /// A `check` did not hold.
    #[must_use]
    pub fn is_check_violation(&self) -> bool {
        self.code() == codes::CONSTRAINT_CHECK || self.state() == states::CHECK
    }

    /// Another process held the lock for longer than `busy_timeout`, or too many handlers wait already. On PostgreSQL also: a transaction
    /// got in the way of another one (a deadlock, a serialization failure), or the server has no connection left. Nothing was done, and the
    /// same may succeed later.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.primary(), codes::BUSY | codes::LOCKED)
            || matches!(self.inner.kind, Kind::QueueFull { .. } | Kind::TooManyStreams { .. })
            || states::BUSY.contains(&self.state())
    }

    /// PostgreSQL cannot be reached, or ended the connection. A statement that was under way may have been carried out or not.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        let state = self.state();
        state.starts_with(states::CONNECTION) || states::SHUTDOWN.contains(&state)
    }

    /// PostgreSQL has ended the statement: it took longer than the setting `database_timeout` allows. Nothing of it was done.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.state() == states::CANCELLED
    }

    /// The disk, or the size that the database may reach, is full. Nothing was written.
    #[must_use]
    pub fn is_full(&self) -> bool {
        // The index of the write-ahead log is a mapped file, and growing that fails in its own way.
        self.primary() == codes::FULL || self.code() == codes::IOERR_SHMSIZE || self.state() == states::DISK_FULL
    }

    /// The database can be read but not written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.primary() == codes::READONLY
            || matches!(self.inner.kind, Kind::FileIsGone { .. })
            || self.state() == states::READ_ONLY
    }

    /// The statement that failed, if one did.
    #[must_use]
    pub fn statement(&self) -> Option<&str> {
        self.inner.statement.as_deref()
    }

    /// What the client may be told, if this error is none of the program's making and may pass.
    pub(crate) fn public_message(&self) -> Option<&'static str> {
        if self.is_busy() {
            Some("Too much is being written at the moment. Please try again.")
        } else if self.is_full() {
            Some(NO_ROOM)
        } else if self.is_read_only() {
            Some(READ_ONLY)
        } else if self.is_unreachable() || self.is_timeout() {
            Some("The database does not answer at the moment. Please try again later.")
        } else {
            None
        }
    }

    /// The client's link names no place in the list.
    pub(crate) fn is_of_cursor(&self) -> bool {
        matches!(self.inner.kind, Kind::Cursor { .. })
    }

    /// The error of a page, the cursor of which are these parameters, counted from 1.
    pub(super) fn of_page(self, cursor: &Range<usize>) -> Self {
        let parameter = match &self.inner.kind {
            Kind::Parameter(Refused { index, .. }) => Some(*index),
            #[cfg(any(feature = "postgres", target_family = "wasm"))]
            Kind::Postgres { code, parameter, .. } => parameter.filter(|_| code.starts_with(states::DATA)),
            _ => None,
        };
        match parameter {
            Some(parameter) if cursor.contains(&parameter) => {
                let kind = Kind::Cursor { reason: self.inner.kind.to_string() };
                Self { inner: Box::new(Inner { kind, ..*self.inner }) }
            }
            _ => self,
        }
    }

    /// The inline budget ran out, or nobody waits for the answer any more.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn is_interrupted(&self) -> bool {
        self.primary() == codes::INTERRUPT
    }

    pub(super) fn of(self, statement: &str) -> Self {
        Self { inner: Box::new(Inner { statement: Some(statement.into()), ..*self.inner }) }
    }

    /// PostgreSQL's code, or nothing.
    fn state(&self) -> &str {
        match &self.inner.kind {
            #[cfg(any(feature = "postgres", target_family = "wasm"))]
            Kind::Postgres { code, .. } => code,
            _ => "",
        }
    }

    /// PostgreSQL itself said it, or the connection to it.
    #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
    pub(super) fn is_of_postgres(&self) -> bool {
        !self.state().is_empty()
    }

    /// Others did something at the same time. The transaction is undone, and may succeed when it is tried again.
    pub(super) fn is_conflict(&self) -> bool {
        states::CONFLICT.contains(&self.state())
    }

    /// What was prepared before does not fit the tables any more, or is not there. Nothing was done.
    #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
    pub(super) fn is_stale(&self) -> bool {
        self.state() == states::STALE
    }

    /// SQLite's extended result code, or 0.
    pub(super) fn code(&self) -> i32 {
        if let Kind::Sqlite { code, .. } = self.inner.kind { code } else { 0 }
    }

    /// The file is damaged, or is none any more.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn is_damage(&self) -> bool {
        [codes::CORRUPT, codes::NOTADB].contains(&self.primary())
    }

    /// SQLite's primary result code, or 0.
    pub(super) fn primary(&self) -> i32 {
        self.code() & 0xff
    }

    /// PostgreSQL's code and the parameter that it is about, as they go to a component; or 0.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn packed_state(&self) -> i32 {
        match &self.inner.kind {
            #[cfg(feature = "postgres")]
            Kind::Postgres { code, parameter, .. } => crate::wire::state::pack(code, *parameter),
            // Ours: it was not sent.
            #[cfg(feature = "postgres")]
            Kind::Parameter(refused) => crate::wire::state::pack(states::PARAMETER, Some(refused.index)),
            _ => 0,
        }
    }

    /// What went wrong, without the statement.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn reason(&self) -> String {
        self.inner.kind.to_string()
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, statement: None }) }
    }
}

// In words of this module only: a `From<rusqlite::Error>` would make rusqlite part of what skep promises.
#[cfg(not(target_family = "wasm"))]
pub(super) fn sqlite(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => {
            let message = message.unwrap_or_else(|| code.to_string());
            Kind::Sqlite { code: code.extended_code, message }.into()
        }
        rusqlite::Error::SqlInputError { error, msg, sql, offset } => {
            let message = match usize::try_from(offset).ok().and_then(|offset| sql.get(..offset)) {
                Some(before) if before.contains('\n') => format!("{msg} (line {})", before.matches('\n').count() + 1),
                _ => msg,
            };
            Kind::Sqlite { code: error.extended_code, message }.into()
        }
        rusqlite::Error::MultipleStatement => Kind::SeveralStatements.into(),
        other => Kind::Sqlite { code: codes::ERROR, message: other.to_string() }.into(),
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { message, .. } => f.write_str(message),
            #[cfg(any(feature = "postgres", target_family = "wasm"))]
            Self::Postgres { message, .. } => f.write_str(message),
            Self::CheckedForOther(dialect) => {
                write!(f, "`sql!` has checked this statement for {dialect}, and the database is another: use `query` here")
            }
            Self::Cursor { reason } => write!(f, "the cursor is no place in the list: {reason}"),
            Self::Parameter(Refused { index, reason }) => write!(f, "parameter {index}: {reason}"),
            Self::ParameterCount { given, wanted } => {
                write!(f, "the statement has {wanted} parameters, {given} were given")
            }
            Self::Column { name, reason } => write!(f, "column `{name}`: {reason}"),
            Self::NoColumn { row, field, column, columns } => {
                write!(f, "no column `{column}` for the field `{field}` of `{row}`; the columns are {}", list(columns))
            }
            Self::TwoColumns { row, field, column } => {
                write!(f, "several columns are named `{column}`, which the field `{field}` of `{row}` is read from")
            }
            Self::ColumnCount { wanted, columns } => {
                write!(f, "expected {wanted} columns, found {}: {}", columns.len(), list(columns))
            }
            Self::ManyRows => f.write_str("expected one row at most, found more"),
            Self::SeveralStatements => f.write_str("expected one statement, found several"),
            Self::ControlsTransaction => {
                f.write_str("a statement must not begin or end a transaction; use `transaction()` and `commit()`")
            }
            Self::Abandoned => f.write_str(
                "the transaction is over: a statement in it failed and undid it, or was abandoned before its end; or one is still running: \
                 await each before the next",
            ),
            Self::Damaged { path } => {
                write!(f, "{} is damaged: put a backup in its place, and restart the server", path.display())
            }
            Self::FileIsGone { path } => write!(
                f,
                "{} was removed or replaced while it was open, and what is written would be lost: put it back, or restart the server",
                path.display()
            ),
            Self::OwnTransaction => f.write_str(
                "a write outside of the request's own open transaction would wait for that transaction for ever: use the methods of \
                 `cx.transaction()`, or end it first",
            ),
            Self::QueueFull { limit } => write!(f, "{limit} handlers wait for a connection already"),
            Self::TooManyStreams { limit } => {
                write!(f, "{limit} results are being streamed already, which is the most (Options::streams)")
            }
            Self::StreamWrites => f.write_str("only what reads can be streamed; expected a `select`"),
            Self::Lost(lost) => lost.fmt(f),
            Self::Other(cause) => cause.fmt(f),
        }
    }
}

fn list(columns: &[String]) -> String {
    if columns.is_empty() { "none".to_owned() } else { format!("`{}`", columns.join("`, `")) }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.kind.fmt(f)?;
        match &self.inner.statement {
            Some(statement) => write!(f, "; in: {statement}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.inner.kind {
            Kind::Lost(lost) => Some(lost),
            Kind::Other(cause) => cause.source(),
            _ => None,
        }
    }
}

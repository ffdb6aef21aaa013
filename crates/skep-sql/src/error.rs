//! Why a statement did not run.
//!
//! An [`Error`] answers what a handler must decide (is the name taken? is it worth trying again?). Its text is for the
//! log. [`status`](Error::status) is that of a response: a 503 where the same request may succeed later, a 400 where
//! one of its values is at fault, else a 500.

mod numbers;

use std::error::Error as StdError;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use self::numbers::OF_VALUE;
pub(super) use self::numbers::{codes, states};
use super::checked::Dialect;
use super::query::Refused;
use super::value::Unfit;
use crate::offload::Lost;

/// What the verbs of this module give back.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement did not run, or why its rows could not be read.
///
/// ```
/// # use skep_sql::{self as sql, query};
/// # async fn example(db: &sql::Database, name: &str) -> Result<(), String> {
/// match db.execute(query("insert into reader (name) values (?)", name)).await {
///     Ok(_) => Ok(()),
///     Err(error) if error.is_unique_violation() => Err("this name is taken".to_owned()),
///     // The text of the error is for the log.
///     Err(error) => Err(error.client_message().unwrap_or("something went wrong").to_owned()),
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Error {
    pub(super) inner: Box<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) kind: Kind,
    statement: Option<Box<str>>,
    /// The statement was given values.
    has_values: bool,
}

#[derive(Debug)]
#[cfg_attr(
    any(target_family = "wasm", not(feature = "postgres")),
    expect(dead_code, reason = "each engine has its own, and a host says in words what it finds out")
)]
pub(super) enum Kind {
    Sqlite {
        code: i32,
        message: String,
    },
    /// With the code that PostgreSQL's documentation lists in appendix A.
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
    /// A write waited for a transaction of its own task.
    OwnTask {
        waited: Duration,
    },
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
pub const NO_ROOM: &str = "Nothing can be saved at the moment: there is no room left. Please try again later.";

/// The message when nothing may be written.
pub const READ_ONLY: &str = "Nothing can be changed at the moment. Please try again later.";

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

    /// Another process held the lock for longer than `busy_timeout`, or too many handlers wait already. On PostgreSQL
    /// also: a transaction got in the way of another one (a deadlock, a serialization failure), or the server has no
    /// connection left. Nothing was done, and the same may succeed later.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.primary(), codes::BUSY | codes::LOCKED)
            || matches!(self.inner.kind, Kind::QueueFull { .. } | Kind::TooManyStreams { .. })
            || states::BUSY.contains(&self.state())
    }

    /// PostgreSQL cannot be reached, or ended the connection. A statement in flight may have been carried out or not.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        let state = self.state();
        state.starts_with(states::CONNECTION) || states::SHUTDOWN.contains(&state)
    }

    /// It is not known whether what was written stays: PostgreSQL did not answer in time, or the connection was lost
    /// before it did.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.state() == states::IN_DOUBT
    }

    /// The statement was given a value that the database cannot store, compare or calculate with: a text
    /// with a NUL on PostgreSQL, a date that does not exist, a number out of range, a text that is too long. Its
    /// [`status`](Self::status) is 400, since such values come with requests. Nothing was done.
    ///
    /// ```
    /// # use skep_sql::{self as sql, query};
    /// # async fn example(db: &sql::Database, day: &str) -> sql::Result<()> {
    /// match db.execute(query("insert into visit (day) values (?)", day)).await {
    ///     Err(error) if error.is_invalid_value() => println!("there is no such day"),
    ///     outcome => println!("{} rows", outcome?.rows),
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_invalid_value(&self) -> bool {
        let has_values = self.inner.has_values;
        match &self.inner.kind {
            Kind::Parameter(refused) => !refused.reason.is_of_type(),
            Kind::Sqlite { code: codes::TOOBIG | codes::MISMATCH | codes::CONSTRAINT_DATATYPE, .. } => has_values,
            Kind::Sqlite { code: codes::ERROR, message } => {
                has_values && OF_VALUE.iter().any(|start| message.starts_with(start))
            }
            Kind::Postgres { code, parameter, .. } => {
                let is_limit = states::LIMITS.contains(&&**code);
                let is_data = code.starts_with(states::DATA) && !states::OF_STATEMENT.contains(&&**code);
                (has_values && is_limit) || (is_data && (has_values || parameter.is_some()))
            }
            _ => false,
        }
    }

    /// PostgreSQL has ended the statement: it took longer than `database_timeout`. Nothing of it was done.
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

    /// The status for a request with this error: 400 if its values are wrong, 503 if it may succeed later, else 500.
    #[must_use]
    pub fn status(&self) -> u16 {
        match (self.of_request(), self.public_message()) {
            (Some(_), _) => 400,
            (None, Some(_)) => 503,
            (None, None) => 500,
        }
    }

    /// What to say to the client, if the [`status`](Self::status) is not 500. The error's own text is for the log.
    #[must_use]
    pub fn client_message(&self) -> Option<&'static str> {
        self.of_request().or_else(|| self.public_message())
    }

    /// What the client may be told, if this error may pass and the program did not make it.
    #[doc(hidden)]
    pub fn public_message(&self) -> Option<&'static str> {
        if self.is_busy() {
            Some("Too much is being written at the moment. Please try again.")
        } else if self.is_full() {
            Some(NO_ROOM)
        } else if self.is_read_only() {
            Some(READ_ONLY)
        } else if self.is_in_doubt() {
            Some(
                "The database does not answer at the moment, and it is not known whether what you sent was saved. Please \
                 look before you send it again.",
            )
        } else if self.is_unreachable() || self.is_timeout() {
            Some("The database does not answer at the moment. Please try again later.")
        } else {
            None
        }
    }

    /// What the client may be told, if the request is at fault.
    #[doc(hidden)]
    pub fn of_request(&self) -> Option<&'static str> {
        if matches!(self.inner.kind, Kind::Cursor { .. }) {
            return Some(super::page::NO_PLACE);
        }
        let message = "a value in this request is too long, out of range, or not written as it has to be";
        self.is_invalid_value().then_some(message)
    }

    /// The error of a page, the cursor of which are these parameters, counted from 1.
    pub(super) fn of_page(self, cursor: &Range<usize>) -> Self {
        let parameter = match &self.inner.kind {
            Kind::Parameter(Refused { index, .. }) => Some(*index),
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

    /// What went wrong, without the statement.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn reason(&self) -> String {
        self.inner.kind.to_string()
    }

    /// It of this statement.
    pub(super) fn of(self, statement: &str) -> Self {
        Self { inner: Box::new(Inner { statement: Some(statement.into()), ..*self.inner }) }
    }

    /// The same of a statement that was given this number of values.
    pub(super) fn with_values(mut self, values: usize) -> Self {
        self.inner.has_values = values > 0;
        self
    }

    /// PostgreSQL's code, or nothing.
    pub(super) fn state(&self) -> &str {
        match &self.inner.kind {
            Kind::Postgres { code, .. } => code,
            _ => "",
        }
    }

    /// Others did something at the same time. The transaction is undone, and may succeed when it is tried again.
    pub(super) fn is_conflict(&self) -> bool {
        states::CONFLICT.contains(&self.state())
    }

    /// SQLite's extended result code, or 0.
    pub(super) fn code(&self) -> i32 {
        if let Kind::Sqlite { code, .. } = self.inner.kind { code } else { 0 }
    }

    /// SQLite's primary result code, or 0.
    pub(super) fn primary(&self) -> i32 {
        self.code() & 0xff
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, statement: None, has_values: false }) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { message, .. } | Self::Postgres { message, .. } => f.write_str(message),
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
            Self::OwnTask { waited } => write!(
                f,
                "a write has waited {} ms for a transaction that its own task has begun, which may be waiting for the write: \
                 write by the methods of the transaction, or end it first",
                waited.as_millis()
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

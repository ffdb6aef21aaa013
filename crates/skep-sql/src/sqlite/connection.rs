//! One connection to the file, and what every verb comes down to.
//!
//! Nothing here waits but SQLite itself; who may wait, and where, is decided by the callers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OpenFlags, Statement};
use skep_units::lock;

use super::failure::failed;
use super::functions;
use crate::changes::Changes;
use crate::error::{Kind, Result};
use crate::guests;
use crate::options::Options;
use crate::row::sqlite::{Head, Line};
use crate::row::{Cells, Columns, Row};
use crate::value::Value;

/// SQLite asks whether to go on after this many steps of its machine: 10 to 50 us of work, so that the question itself
/// (a clock read) stays below one part in a hundred.
const STEPS_BETWEEN_QUESTIONS: i32 = 1000;

/// A statement longer than this is prepared each time and not remembered, so that texts put together at run time take
/// no memory for long.
pub(crate) const LONGEST_KEPT: usize = 8 << 10;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads on a reactor thread: never waits for a lock.
    Inline,
    /// Reads on the pool.
    Reader,
    /// Reads one result into a temporary table.
    Stream,
    /// Writes; the only one in this process.
    Writer,
}

pub(crate) struct Connection {
    raw: rusqlite::Connection,
    /// When SQLite's progress handler stops an inline statement. Behind a lock because such a handler must be `Send`;
    /// all of it happens on one thread.
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl Connection {
    /// Opens the file. It is not created: that is the business of [`Database::open`](crate::Database::open).
    pub(crate) fn open(path: &Path, role: Role, options: &Options) -> Result<Self> {
        let access =
            if options.read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let raw = rusqlite::Connection::open_with_flags(path, flags).map_err(failed)?;
        functions::register(&raw, &options.functions).map_err(failed)?;
        Self::set_up(raw, role, options).map_err(failed)
    }

    /// Takes over an open connection, which has the functions of the application.
    pub(crate) fn set_up(mut raw: rusqlite::Connection, role: Role, options: &Options) -> rusqlite::Result<Self> {
        raw.busy_timeout(if role == Role::Inline { Duration::ZERO } else { options.busy_timeout })?;
        // Otherwise SQLite prepares a statement again for each value of a parameter that could change its plan, such as
        // that of `limit ?`, which costs more than to run it.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        raw.set_prepared_statement_cache_capacity(options.statements);
        // Synchronous NORMAL: after a power failure the last commits may be missing, and the file is never damaged.
        raw.execute_batch(&format!(
            "pragma synchronous = {}; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -{};
             pragma query_only = {};",
            if options.durable { "normal" } else { "off" },
            options.cache_kib,
            if matches!(role, Role::Writer | Role::Stream) { "off" } else { "on" },
        ))?;
        if role == Role::Stream {
            raw.execute_batch("pragma temp_store = file; create temp table skep_page (one);")?;
            let page: u64 = raw.query_row("pragma temp.page_size", [], |row| row.get::<_, u32>(0))?.into();
            let most = (options.stream_bytes / page).max(1);
            raw.query_row(&format!("pragma temp.max_page_count = {most}"), [], |_| Ok(()))?;
        }
        if let Some(bytes) = options.max_bytes.filter(|_| role == Role::Writer) {
            let page: u64 = raw.query_row("pragma page_size", [], |row| row.get::<_, u32>(0))?.into();
            raw.query_row(&format!("pragma max_page_count = {}", (bytes / page).max(1)), [], |_| Ok(()))?;
        }
        let deadline = Arc::<Mutex<Option<Instant>>>::default();
        if role == Role::Inline {
            let deadline = Arc::clone(&deadline);
            let is_past = move || lock(&deadline).is_some_and(|deadline| Instant::now() > deadline);
            raw.progress_handler(STEPS_BETWEEN_QUESTIONS, Some(is_past))?;
        }
        if options.guests {
            guests::restrict(&raw)?;
            // Last, so that it does not judge what we say ourselves.
            raw.authorizer(Some(guests::may))?;
        }
        Ok(Self { raw, deadline })
    }

    /// True if the statement changes nothing. It is prepared for this, and stays so unless it is very long.
    pub(crate) fn reads_only(&self, text: &str) -> Result<bool> {
        self.with_statement(text, |statement| Ok(statement.readonly()))
    }

    /// Every row.
    pub(crate) fn all<T: Row>(&self, text: &str, values: &[Value<'_>]) -> Result<Vec<T>> {
        self.answer(text, values, |mut rows| {
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(row);
            }
            Ok(all)
        })
    }

    /// The first row.
    pub(crate) fn first<T: Row>(&self, text: &str, values: &[Value<'_>]) -> Result<Option<T>> {
        self.answer(text, values, |mut rows| {
            let first = rows.next()?;
            // A write is complete only after its last row, and an error of its commit would otherwise go unheard.
            if rows.writes {
                rows.drain()?;
            }
            Ok(first)
        })
    }

    /// The only row.
    pub(crate) fn one<T: Row>(&self, text: &str, values: &[Value<'_>]) -> Result<Option<T>> {
        self.answer(text, values, |mut rows| {
            let one = rows.next()?;
            if one.is_some() && rows.step()? {
                return Err(Kind::ManyRows.into());
            }
            Ok(one)
        })
    }

    /// Runs a query that only reads into a temporary table. Gives the statement for the rows behind one's number.
    pub(crate) fn keep_rows(&self, text: &str, values: &[Value<'_>]) -> Result<String> {
        let number = self.with_statement(text, |statement| {
            if !statement.readonly() {
                return Err(Kind::StreamWrites.into());
            }
            let columns: Vec<&str> = statement.column_names().collect();
            let is_free = |name: &&str| !columns.iter().any(|column| column.eq_ignore_ascii_case(name));
            let number = ["_rowid_", "rowid", "oid"].into_iter().find(is_free);
            number
                .ok_or_else(|| crate::Error::other("three columns are named `_rowid_`, `rowid` and `oid`: rename one"))
        })?;
        let into_table = || -> Result<()> {
            let mut statement = self.raw.prepare(&format!("create temp table skep_rows as {text}")).map_err(failed)?;
            bind(&mut statement, values)?;
            statement.raw_execute().map(drop).map_err(failed)
        };
        into_table().map_err(|error| error.of(text))?;
        Ok(format!("select * from temp.skep_rows where {number} > ? order by {number}"))
    }

    /// The first rows: at most `most`, and no more once they hold `most_bytes` bytes.
    pub(crate) fn batch<T: Row>(
        &self,
        text: &str,
        values: &[Value<'_>],
        most: usize,
        most_bytes: usize,
    ) -> Result<Vec<T>> {
        self.answer(text, values, |mut rows| {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < most && bytes < most_bytes {
                let Some(row) = rows.next_counted(&mut bytes)? else { break };
                batch.push(row);
            }
            Ok(batch)
        })
    }

    /// Runs a statement whose rows, if any, nobody wants.
    pub(crate) fn execute(&self, text: &str, values: &[Value<'_>]) -> Result<Changes> {
        let before = self.raw.total_changes();
        // No row is read, so any type will do.
        self.answer::<i64, ()>(text, values, |mut rows| rows.drain())?;
        // SQLite's count is that of the last statement that had one; this one may have had none.
        let rows = if self.raw.total_changes() == before { 0 } else { self.raw.changes() };
        Ok(Changes { rows, last_insert_id: self.raw.last_insert_rowid() })
    }

    /// Runs `work`, and says whether it changed any row, also through triggers and foreign keys.
    pub(crate) fn noting_changes<R>(&self, work: impl FnOnce(&Self) -> R) -> (R, bool) {
        let before = self.raw.total_changes();
        let result = work(self);
        (result, self.raw.total_changes() != before)
    }

    /// True while a transaction is open.
    pub(crate) fn in_transaction(&self) -> bool {
        !self.raw.is_autocommit()
    }

    /// Begins, commits or rolls back.
    pub(crate) fn control(&self, text: &'static str) -> Result<()> {
        self.raw.prepare_cached(text).and_then(|mut statement| statement.execute([])).map(|_| ()).map_err(failed)
    }

    /// Runs `work`, which is interrupted when the budget is used up. Only an [`Role::Inline`] connection asks.
    pub(crate) fn within<R>(&self, budget: Duration, started: Instant, work: impl FnOnce(&Self) -> R) -> R {
        *lock(&self.deadline) = Some(started + budget);
        let result = work(self);
        *lock(&self.deadline) = None;
        result
    }

    /// Runs `work`, which is interrupted when `stop` becomes true.
    pub(crate) fn unless<R>(&mut self, stop: Arc<AtomicBool>, work: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        let asked = move || stop.load(Ordering::Relaxed);
        self.raw.progress_handler(STEPS_BETWEEN_QUESTIONS, Some(asked)).map_err(failed)?;
        // What makes rows is the application's. Should it panic, the next statement is not to be stopped for it.
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        self.raw.progress_handler(0, None::<fn() -> bool>).map_err(failed)?;
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(crate) fn answer<T: Row, R>(
        &self,
        text: &str,
        values: &[Value<'_>],
        read: impl FnOnce(Rows<'_, T>) -> Result<R>,
    ) -> Result<R> {
        let was_in_transaction = self.in_transaction();
        let result = self.with_statement(text, |statement| {
            bind(statement, values)?;
            let writes = !statement.readonly();
            read(Rows { raw: statement.raw_query(), plan: None, writes })
        });
        let result = result.map_err(|error| error.with_values(values.len()));
        if self.in_transaction() == was_in_transaction || result.is_err() {
            return result;
        }
        if !was_in_transaction {
            self.control("rollback")?;
        }
        Err(crate::Error::from(Kind::ControlsTransaction).of(text))
    }

    fn with_statement<R>(&self, text: &str, work: impl FnOnce(&mut Statement<'_>) -> Result<R>) -> Result<R> {
        let result = if text.len() > LONGEST_KEPT {
            self.raw.prepare(text).map_err(failed).and_then(|mut statement| work(&mut statement))
        } else {
            self.raw.prepare_cached(text).map_err(failed).and_then(|mut statement| work(&mut statement))
        };
        result.map_err(|error| error.of(text))
    }
}

fn bind(statement: &mut Statement<'_>, values: &[Value<'_>]) -> Result<()> {
    let wanted = statement.parameter_count();
    if wanted != values.len() {
        return Err(Kind::ParameterCount { given: values.len(), wanted }.into());
    }
    for (index, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, Bound(value)).map_err(failed)?;
    }
    Ok(())
}

struct Bound<'a>(&'a Value<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) | Value::Decimal(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
            Value::Array(_) => return Err(no_arrays()),
        }))
    }
}

pub(crate) fn no_arrays() -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(
        "SQLite has no arrays, which PostgreSQL has: `in {list}` of `sql!` is for both".into(),
    )
}

/// The rows of a running statement.
pub(crate) struct Rows<'a, T: Row> {
    pub(crate) raw: rusqlite::Rows<'a>,
    plan: Option<T::Plan>,
    pub(crate) writes: bool,
}

impl<T: Row> Rows<'_, T> {
    /// The plan is made when the first row is there: until then SQLite may still prepare the statement again.
    #[inline]
    fn next(&mut self) -> Result<Option<T>> {
        let Some(row) = self.raw.next().map_err(failed)? else { return Ok(None) };
        read(row, &mut self.plan).map(Some)
    }

    /// The same, and adds how many bytes its values have.
    fn next_counted(&mut self, bytes: &mut usize) -> Result<Option<T>> {
        let Some(row) = self.raw.next().map_err(failed)? else { return Ok(None) };
        for column in 0..row.as_ref().column_count() {
            *bytes += match row.get_ref(column).map_err(failed)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
                _ => size_of::<i64>(),
            };
        }
        read(row, &mut self.plan).map(Some)
    }

    pub(crate) fn step(&mut self) -> Result<bool> {
        Ok(self.raw.next().map_err(failed)?.is_some())
    }

    pub(crate) fn drain(&mut self) -> Result<()> {
        while self.step()? {}
        Ok(())
    }
}

/// Reads a row by a plan, which is made of the first one.
#[inline]
fn read<T: Row>(row: &rusqlite::Row<'_>, plan: &mut Option<T::Plan>) -> Result<T> {
    let plan = match plan {
        Some(plan) => plan,
        None => plan.insert(T::plan(&Columns::new(Head(row.as_ref())))?),
    };
    T::read(&Cells::new(Line(row)), plan)
}

/// Tells a statement on the pool that it is abandoned.
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// The one who waits holds the first, [`Connection::unless`] gets the second.
    pub(crate) fn new() -> (Self, Arc<AtomicBool>) {
        let stop = Arc::new(AtomicBool::new(false));
        (Self(Arc::clone(&stop)), stop)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

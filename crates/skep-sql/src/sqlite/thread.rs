//! SQLite, as one thread sees it: a connection for short reads, and what it knows of statements.
//!
//! Where a statement runs, its own past decides, by the rules in `history.rs`. Start reading at [`run`].

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rusqlite::ffi;

use super::connection::{Connection, LONGEST_KEPT, Role};
use super::history::{Executor, History};
use super::shared::PerProcess;
use super::verb::{Call, Verb};
use crate::checked::{Checked, Dialect};
use crate::dependencies::Writes;
use crate::engine::check_outside;
use crate::error::{Error, Result};
use crate::query::Query;
use crate::value::Value;

/// How many statements a thread remembers. A program that puts its texts together at run time may have more; when
/// they do not fit, all are forgotten and learned again.
const REMEMBERED: usize = 1024;

/// What one thread has of a database.
#[derive(Default)]
pub(crate) struct Thread {
    connection: OnceCell<Connection>,
    statements: RefCell<HashMap<Box<str>, Rc<Statement>>>,
}

/// What this thread knows of a statement.
struct Statement {
    reads_only: bool,
    history: Cell<History>,
}

/// Which connection of the pool runs a statement that does not run here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooled {
    /// One that reads says whether the statement changes something.
    Unknown,
    Reader,
    Writer,
}

/// Where the [`Thread`] of a statement is found, before it runs and after it has waited.
pub(crate) trait Here {
    fn with<R>(&self, shared: &Arc<PerProcess>, work: impl FnOnce(&Thread) -> R) -> R;
}

impl Here for Thread {
    fn with<R>(&self, _: &Arc<PerProcess>, work: impl FnOnce(&Self) -> R) -> R {
        work(self)
    }
}

/// Whichever thread polls the future, which may be another one each time. So the future may go from thread to thread,
/// and what it does between two waits is done on one.
#[derive(Clone, Copy)]
pub(crate) struct AnyThread;

thread_local! {
    /// Those of this thread. The database does not stay open for them.
    static THREADS: RefCell<Vec<(Weak<PerProcess>, Rc<Thread>)>> = const { RefCell::new(Vec::new()) };
}

impl Here for AnyThread {
    fn with<R>(&self, shared: &Arc<PerProcess>, work: impl FnOnce(&Thread) -> R) -> R {
        let thread = THREADS.with_borrow_mut(|threads| {
            let is_of = |(of, _): &&(Weak<PerProcess>, Rc<Thread>)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(shared));
            if let Some((_, thread)) = threads.iter().find(is_of) {
                return Rc::clone(thread);
            }
            threads.retain(|(of, _)| of.strong_count() > 0);
            let thread = Rc::<Thread>::default();
            threads.push((Arc::downgrade(shared), Rc::clone(&thread)));
            thread
        });
        // Not under the borrow: what reads the rows is the application's.
        work(&thread)
    }
}

/// Runs a statement wherever it belongs. `own_transaction` is true while a transaction of the request
/// is open.
pub(crate) async fn run<R: Send + 'static, T>(
    here: &impl Here,
    shared: &Arc<PerProcess>,
    query: Query<'_, T>,
    verb: Verb<R>,
    own_transaction: Option<&AtomicBool>,
) -> Result<R> {
    let (text, checked, writes) = (query.text(), query.checked(), Writes::of(&query));
    let values = query.into_values(Dialect::Sqlite)?;
    let Verb { call, gives_rows } = verb;
    let mut pooled = Pooled::Writer;
    if gives_rows {
        match here.with(shared, |thread| thread.now(shared, (text, checked), &values, call)) {
            Ok(result) => return result,
            Err(elsewhere) => pooled = elsewhere,
        }
    }
    let values = into_owned(values);
    if pooled == Pooled::Unknown {
        pooled = shared.place(text.to_owned()).await?;
    }
    let asked = text.to_owned();
    if pooled == Pooled::Writer {
        check_outside(own_transaction).map_err(|error| error.of(text))?;
        return shared.write(writes, move |connection| call(connection, &asked, &values)).await;
    }
    let (result, took) = shared.read(move |connection| call(connection, &asked, &values)).await?;
    here.with(shared, |thread| thread.ran_on_pool(shared, text, took));
    Ok(result)
}

impl PerProcess {
    /// Finds out whether a statement changes something.
    pub(crate) async fn place(&self, text: String) -> Result<Pooled> {
        let (reads_only, _) = self.read(move |connection| connection.reads_only(&text)).await?;
        Ok(if reads_only { Pooled::Reader } else { Pooled::Writer })
    }
}

impl Thread {
    /// Runs a short read here and now. Otherwise says where it belongs.
    pub(crate) fn now<R>(
        &self,
        shared: &PerProcess,
        (text, checked): (&str, Option<&Checked>),
        values: &[Value<'_>],
        call: Call<R>,
    ) -> Result<Result<R>, Pooled> {
        match self.known(shared, text, checked) {
            Ok(statement) if !statement.reads_only => Err(Pooled::Writer),
            Ok(statement) => self.inline(shared, &statement, text, values, call).ok_or(Pooled::Reader),
            // The connection of this thread cannot tell now: one on the pool may wait until it can.
            Err(error) if may_pass(&error) => Err(Pooled::Unknown),
            Err(error) => Ok(Err(error)),
        }
    }

    /// What is known of the statement; a new one is prepared.
    fn known(&self, shared: &PerProcess, text: &str, checked: Option<&Checked>) -> Result<Rc<Statement>> {
        if let Some(statement) = self.statements.borrow().get(text) {
            return Ok(Rc::clone(statement));
        }
        let reads_only = match checked {
            Some(checked) => checked.reads_only(),
            None => self.connection(shared)?.reads_only(text)?,
        };
        let statement = Rc::new(Statement { reads_only, history: Cell::new(History::new()) });
        if text.len() > LONGEST_KEPT {
            return Ok(statement);
        }
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= REMEMBERED {
            statements.clear();
        }
        statements.insert(text.into(), Rc::clone(&statement));
        Ok(statement)
    }

    /// Runs a read here and now. `None` if it belongs on the pool, is stopped, or would have to wait.
    fn inline<R>(
        &self,
        shared: &PerProcess,
        statement: &Statement,
        text: &str,
        values: &[Value<'_>],
        call: Call<R>,
    ) -> Option<Result<R>> {
        let budget = shared.options.inline_budget;
        let mut history = statement.history.get();
        if history.place() == Executor::Pool || budget.is_zero() {
            return None;
        }
        let connection = self.connection(shared).ok()?;
        let started = Instant::now();
        let result = connection.within(budget, started, |connection| call(connection, text, values));
        let result = shared.note(result);
        match &result {
            Err(error) if error.is_interrupted() => history.was_stopped(),
            Err(error) if may_pass(error) => return None,
            _ => history.ran_inline(started.elapsed(), budget),
        }
        statement.history.set(history);
        let stopped = result.as_ref().is_err_and(Error::is_interrupted);
        (!stopped).then_some(result)
    }

    /// A read took so long on the pool: the next one may run here.
    pub(crate) fn ran_on_pool(&self, shared: &PerProcess, text: &str, took: Duration) {
        let statements = self.statements.borrow();
        let Some(statement) = statements.get(text) else { return };
        let mut history = statement.history.get();
        history.ran_on_pool(took, shared.options.inline_budget);
        statement.history.set(history);
    }

    /// The connection of this thread, opened by the first read.
    fn connection(&self, shared: &PerProcess) -> Result<&Connection> {
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        let connection = shared.connect(Role::Inline)?;
        Ok(self.connection.get_or_init(|| connection))
    }
}

/// True for errors of a connection that must not wait, which one that may wait does not have.
fn may_pass(error: &Error) -> bool {
    let codes =
        [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL, ffi::SQLITE_CANTOPEN, ffi::SQLITE_INTERRUPT];
    codes.contains(&error.primary())
}

pub(crate) fn into_owned(values: Vec<Value<'_>>) -> Vec<Value<'static>> {
    values.into_iter().map(Value::into_owned).collect()
}

/// What must go to another thread.
pub(crate) fn owned<T>(query: Query<'_, T>) -> Result<(String, Vec<Value<'static>>)> {
    let text = query.text().to_owned();
    Ok((text, into_owned(query.into_values(Dialect::Sqlite)?)))
}

//! The calls of the host: what they are given, and what comes back.

use std::sync::{Arc, OnceLock};

use super::bindings::skep::host::sql as host;
use super::verb::Verb;
use crate::checked::{Checked, Dialect};
use crate::dependencies::{ANY_TABLE, OnCommit};
use crate::error::{Error, Kind, Result};
use crate::query::Query;
use crate::value::Value;
use crate::wire::{Writer, state};

/// Runs a statement with its packed values: where, and by which verb.
type Run = fn(Target, u8, &str, &[u8]) -> Result<Vec<u8>>;

/// The functions of the host, and through a table: a component whose application has no database must not import them.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    run: Run,
    transaction: fn(Step) -> Result<()>,
    /// Which database the host has opened.
    dialect: Dialect,
}

/// Where a statement runs.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Best = 0,
    Transaction = 1,
    Writer = 2,
}

#[derive(Clone, Copy)]
pub(super) enum Step {
    Begin = 0,
    Commit = 1,
    Rollback = 2,
    /// One that sees the database as if nobody else used it.
    BeginAlone = 3,
}

fn run(place: Target, verb: u8, statement: &str, values: &[u8]) -> Result<Vec<u8>> {
    host::run(place as u8, verb, statement, values)
        .map_err(|failure| failed(failure).of(statement).with_values(values.len()))
}

fn transaction(step: Step) -> Result<()> {
    host::transaction(step as u8).map_err(failed)
}

fn failed((code, message): (i32, String)) -> Error {
    match state::unpack(code) {
        Some((code, parameter)) => Kind::Postgres { code: code.into(), message, parameter }.into(),
        None => Kind::Sqlite { code, message }.into(),
    }
}

impl Link {
    /// Has the host open the database, and run what it lacks of the migrations.
    pub(super) fn open(dialect: Dialect, migrations: &[(u32, String, String)], own: &[String]) -> Result<Self, String> {
        host::open(migrations, own)?;
        Ok(Self { run, transaction, dialect })
    }

    pub(super) fn dialect(self) -> Dialect {
        self.dialect
    }

    /// Begins, commits or rolls back.
    pub(super) fn step(self, step: Step) -> Result<()> {
        (self.transaction)(step)
    }

    /// Runs a statement, and reads what came back.
    pub(super) fn run<T, R>(self, place: Target, query: Query<'_, T>, verb: Verb<R>) -> Result<R> {
        let statement = query.text();
        // Of a statement that calls what may write, the text does not say so.
        let place = if matches!(place, Target::Best) && may_write_any(&query) { Target::Writer } else { place };
        let bytes = (self.run)(place, verb.number, statement, &packed(&query.into_values(self.dialect)?))?;
        (verb.read)(bytes).map_err(|error| error.of(statement))
    }
}

fn may_write_any<T>(query: &Query<'_, T>) -> bool {
    let writes_any = |checked: &Checked| checked.writes().iter().any(|(table, _)| *table == ANY_TABLE);
    query.checked().is_some_and(writes_any)
}

fn packed(values: &[Value<'_>]) -> Vec<u8> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut out = Writer::with_capacity(4 + 16 * values.len());
    out.u32(u32::try_from(values.len()).expect("they are in memory"));
    for value in values {
        value.pack(&mut out);
    }
    out.finish()
}

/// What is done once something is committed.
#[derive(Clone, Default)]
pub(super) struct Committed(Arc<OnceLock<Arc<dyn OnCommit>>>);

impl Committed {
    pub(super) fn set(&self, then: Arc<dyn OnCommit>) {
        _ = self.0.set(then);
    }

    pub(super) fn get(&self) -> Option<&dyn OnCommit> {
        self.0.get().map(Arc::as_ref)
    }

    pub(super) fn announce(&self, tables: &[&'static str]) {
        if let Some(then) = self.get().filter(|_| !tables.is_empty()) {
            then.tables_changed(tables);
        }
    }
}

/// Whether a statement may write, as far as it is known here. Of a text, only the host knows.
pub(super) fn may_write<T>(query: &Query<'_, T>) -> bool {
    let reads = ["select", "values"].map(str::as_bytes);
    let begins_with = |word: &[u8]| {
        let text = query.text().trim_start().as_bytes();
        text.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word))
    };
    query.checked().is_some() || !reads.into_iter().any(begins_with)
}

//! The calls of the host: what they are given, and what comes back.

use std::sync::{Arc, OnceLock};

use super::bindings::skep::host::sql as host;
use crate::changes::Changes;
use crate::checked::{Checked, Dialect};
use crate::dependencies::{ANY_TABLE, OnCommit, ReadTables, Writes};
use crate::error::{Error, Kind, Result};
use crate::query::Query;
use crate::row::{Answer, Cells, Columns, Row};
use crate::value::Value;
use crate::wire::{Reader, Short, Writer, state};

/// The functions of the host, and through a table: a component whose application has no database must not import them.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    run: fn(Place, Verb, &str, &[u8]) -> Result<Vec<u8>>,
    transaction: fn(Step) -> Result<()>,
    /// Which database the host has opened.
    dialect: Dialect,
}

/// A verb of a [`Link`], with its row type.
pub(super) type Asked<T, R> = fn(Link, Place, Query<'_, T>) -> Result<R>;

/// Where a statement runs.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Best = 0,
    Transaction = 1,
    Writer = 2,
}

#[derive(Clone, Copy)]
pub(super) enum Verb {
    All = 0,
    First = 1,
    One = 2,
    Execute = 3,
}

#[derive(Clone, Copy)]
pub(super) enum Step {
    Begin = 0,
    Commit = 1,
    Rollback = 2,
    /// One that sees the database as if nobody else used it.
    BeginAlone = 3,
}

fn run(place: Place, verb: Verb, statement: &str, values: &[u8]) -> Result<Vec<u8>> {
    host::run(place as u8, verb as u8, statement, values)
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

    fn ask<T>(self, place: Place, verb: Verb, query: Query<'_, T>) -> Result<Vec<u8>> {
        let statement = query.text();
        // Of a statement that calls what may write, the text does not say so.
        let place = if matches!(place, Place::Best) && may_write_any(&query) { Place::Writer } else { place };
        (self.run)(place, verb, statement, &packed(&query.into_values(self.dialect)?))
    }

    /// Commits, and announces what was written, also if the host does not know whether it is.
    pub(super) fn commit(self, on_commit: &Committed, written: &[&'static str]) -> Result<()> {
        let committed = (self.transaction)(Step::Commit);
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            on_commit.announce(written);
        }
        committed
    }

    pub(super) fn note<T>(self, reads: &ReadTables, query: &Query<'_, T>) {
        match self.dialect {
            Dialect::Sqlite => reads.note(query),
            Dialect::Postgres => reads.note_postgres(query),
        }
    }

    pub(super) fn all<T: Row>(self, place: Place, query: Query<'_, T>) -> Result<Vec<T>> {
        let statement = query.text();
        let bytes = self.ask(place, Verb::All, query)?;
        rows(&bytes).map_err(|error| error.of(statement))
    }

    pub(super) fn first<T: Row>(self, place: Place, query: Query<'_, T>) -> Result<Option<T>> {
        self.single(place, Verb::First, query)
    }

    pub(super) fn one<T: Row>(self, place: Place, query: Query<'_, T>) -> Result<Option<T>> {
        self.single(place, Verb::One, query)
    }

    fn single<T: Row>(self, place: Place, verb: Verb, query: Query<'_, T>) -> Result<Option<T>> {
        let statement = query.text();
        let bytes = self.ask(place, verb, query)?;
        rows(&bytes).map(|rows| rows.into_iter().next()).map_err(|error| error.of(statement))
    }

    pub(super) fn execute(self, place: Place, query: Query<'_>) -> Result<Changes> {
        let bytes = self.ask(place, Verb::Execute, query)?;
        changes(Reader::new(&bytes)).map_err(Error::other)
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

fn rows<T: Row>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut answer = Answer::of(bytes)?;
    if answer.rows() == 0 {
        return Ok(Vec::new());
    }
    let plan = T::plan(&Columns::new(answer.head()))?;
    let mut rows = Vec::with_capacity(answer.rows() as usize);
    while let Some(line) = answer.next()? {
        rows.push(T::read(&Cells::new(line), &plan)?);
    }
    Ok(rows)
}

fn changes(mut bytes: Reader<'_>) -> Result<Changes, Short> {
    Ok(Changes { rows: bytes.u64()?, last_insert_id: bytes.u64()?.cast_signed() })
}

/// What is done once something is committed.
#[derive(Clone, Default)]
pub(super) struct Committed(Arc<OnceLock<Arc<dyn OnCommit>>>);

impl Committed {
    pub(super) fn set(&self, then: Arc<dyn OnCommit>) {
        _ = self.0.set(then);
    }

    pub(super) fn announce(&self, tables: &[&'static str]) {
        if let Some(then) = self.0.get().filter(|_| !tables.is_empty()) {
            then.tables_changed(tables);
        }
    }
}

/// The tables that a statement may write. Of a text, only its host knows whether it writes.
pub(super) fn written<T>(query: &Query<'_, T>) -> Vec<&'static str> {
    let reads = ["select", "values"].map(str::as_bytes);
    let begins_with = |word: &[u8]| {
        let text = query.text().trim_start().as_bytes();
        text.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word))
    };
    if query.checked().is_none() && reads.into_iter().any(begins_with) {
        return Vec::new();
    }
    Writes::of(query).tables()
}

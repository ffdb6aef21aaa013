//! The database of a component, which its host has opened: `wit/skep.wit`, interface `sql`.
//!
//! A call of the host runs one statement and brings all of its rows. To the component it is an ordinary call; the host meanwhile
//! answers other requests. Start reading at [`Link::ask`].

mod bindings;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::after_commit::AfterCommit;
use super::changes::Changes;
use super::checked::{Checked, Dialect};
use super::dependencies::{self, ANY_TABLE, OnCommit, ReadTables, Writes};
use super::error::{Error, Kind, Result};
use super::migrations::Migrations;
use super::query::Query;
use super::row::{Answer, Cells, Columns, Row};
use super::stream::RowStream;
use super::value::Value;
use super::verbs::verbs;
use crate::wire::{Reader, Short, Writer, state};
use bindings::skep::host::sql as host;

/// The functions of the host, and through a table: a component whose application has no database must not import them.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    run: fn(Place, Verb, &str, &[u8]) -> Result<Vec<u8>>,
    transaction: fn(Step) -> Result<()>,
    /// Which database the host has opened.
    dialect: Dialect,
}

/// A verb of a [`Link`], with its row type.
type Asked<T, R> = fn(Link, Place, Query<'_, T>) -> Result<R>;

/// Where a statement runs.
#[derive(Clone, Copy)]
enum Place {
    Best = 0,
    Transaction = 1,
    Writer = 2,
}

#[derive(Clone, Copy)]
enum Verb {
    All = 0,
    First = 1,
    One = 2,
    Execute = 3,
}

#[derive(Clone, Copy)]
enum Step {
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
    fn ask<T>(self, place: Place, verb: Verb, query: Query<'_, T>) -> Result<Vec<u8>> {
        let statement = query.text();
        // Of a statement that calls what may write, the text does not say so.
        let place = if matches!(place, Place::Best) && may_write_any(&query) { Place::Writer } else { place };
        (self.run)(place, verb, statement, &packed(&query.into_values(self.dialect)?))
    }

    /// Commits, and announces what was written, also if the host does not know whether it is.
    fn commit(self, on_commit: &Committed, written: &[&'static str]) -> Result<()> {
        let committed = (self.transaction)(Step::Commit);
        if committed.as_ref().map_or_else(Error::is_in_doubt, |()| true) {
            on_commit.announce(written);
        }
        committed
    }

    fn note<T>(self, reads: &ReadTables, query: &Query<'_, T>) {
        match self.dialect {
            Dialect::Sqlite => reads.note(query),
            Dialect::Postgres => reads.note_postgres(query),
        }
    }

    fn all<T: Row>(self, place: Place, query: Query<'_, T>) -> Result<Vec<T>> {
        let statement = query.text();
        let bytes = self.ask(place, Verb::All, query)?;
        rows(&bytes).map_err(|error| error.of(statement))
    }

    fn first<T: Row>(self, place: Place, query: Query<'_, T>) -> Result<Option<T>> {
        self.single(place, Verb::First, query)
    }

    fn one<T: Row>(self, place: Place, query: Query<'_, T>) -> Result<Option<T>> {
        self.single(place, Verb::One, query)
    }

    fn single<T: Row>(self, place: Place, verb: Verb, query: Query<'_, T>) -> Result<Option<T>> {
        let statement = query.text();
        let bytes = self.ask(place, verb, query)?;
        rows(&bytes).map(|rows| rows.into_iter().next()).map_err(|error| error.of(statement))
    }

    fn execute(self, place: Place, query: Query<'_>) -> Result<Changes> {
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

/// The database of an application. Its host has opened it.
#[derive(Clone)]
pub struct Database {
    link: Link,
    on_commit: Committed,
}

/// What is done once something is committed.
#[derive(Clone, Default)]
struct Committed(Arc<OnceLock<Arc<dyn OnCommit>>>);

impl Committed {
    fn announce(&self, tables: &[&'static str]) {
        if let Some(then) = self.0.get().filter(|_| !tables.is_empty()) {
            then.tables_changed(tables);
        }
    }
}

/// The tables that a statement may write. Of a text, only its host knows whether it writes.
fn written<T>(query: &Query<'_, T>) -> Vec<&'static str> {
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

impl Database {
    /// The database for one thread's handlers.
    #[must_use]
    pub fn local(&self) -> Local {
        Local { link: Rc::new(self.link), on_commit: self.on_commit.clone(), reads: None }
    }

    /// Which database it is, for a library that has statements for both.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.link.dialect
    }

    /// Lends the writer to `work`, which may read too. For code that may block (start-up, imports, tools).
    ///
    /// Between two statements of it others may write, unless it [begins a transaction](Blocking::transaction).
    pub fn write<R>(&self, work: impl FnOnce(&mut Blocking<'_>) -> Result<R>) -> Result<R> {
        work(&mut Blocking {
            link: &self.link,
            place: Place::Writer,
            on_commit: &self.on_commit,
            written: Vec::new(),
            depth: 0,
        })
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// Has it opened, and what it lacks of the migrations run.
    pub fn open(dialect: Dialect, migrations: &Migrations, own: &[&str]) -> Result<Self, String> {
        let list = migrations.list(dialect)?;
        if let Some(function) = migrations.first_function().filter(|_| dialect == Dialect::Sqlite) {
            return Err(format!(
                "Migrations::with_functions gives `{function}`, and the host of a component calls nothing of it: compute the value in the \
                 handler that writes it, and store it in a column"
            ));
        }
        let own: Vec<String> = own.iter().map(|statement| (*statement).to_owned()).collect();
        host::open(&list, &own)?;
        Ok(Self { link: Link { run, transaction, dialect }, on_commit: Committed::default() })
    }

    /// Has each commit of this instance call `then`.
    pub fn on_commit(&self, then: Arc<dyn OnCommit>) {
        _ = self.on_commit.0.set(then);
    }

    /// The names of all tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        let statement = match self.link.dialect {
            Dialect::Sqlite => "select name from sqlite_schema where type = 'table'",
            Dialect::Postgres => "select tablename from pg_tables where schemaname = any (current_schemas(false))",
        };
        self.write(|db| db.all(statement))
    }

    /// Sixteen bytes that nobody can foretell.
    pub fn random(&self) -> Result<Vec<u8>> {
        let statement = match self.link.dialect {
            Dialect::Sqlite => "select randomblob(16)",
            // Six of its bits are always the same.
            Dialect::Postgres => "select uuid_send(gen_random_uuid())",
        };
        Ok(self.write(|db| db.one(statement))?.unwrap_or_default())
    }
}

/// The database, as handlers see it: cheap to clone, and tied to its thread.
///
/// A future of these that is dropped before it was asked for does nothing; once asked for, it is done at once.
#[derive(Clone)]
pub struct Local {
    /// Native, this type is tied to its thread as well.
    link: Rc<Link>,
    on_commit: Committed,
    /// Of the page that this handle is for.
    reads: Option<ReadTables>,
}

impl Local {
    verbs!([async] self: &Self, Link.await);

    async fn ask<T, R>(&self, query: Query<'_, T>, verb: Asked<T, R>) -> Result<R> {
        if let Some(reads) = &self.reads {
            self.link.note(reads, &query);
        }
        let tables = written(&query);
        let result = verb(*self.link, Place::Best, query);
        self.on_commit.announce(&tables);
        result
    }

    /// The rows of a query, for exports. A component has them all at once from its host, 32 MiB at most.
    pub async fn stream<'q, T: Row>(&self, query: impl Into<Query<'q, T>>) -> Result<RowStream<T>> {
        self.all(query).await.map(RowStream::new)
    }

    /// Begins a transaction: waits for the writer, and for the lock if another process has it.
    ///
    /// Until the transaction ends, every other write of this application waits. An instance has one at a time: to begin another one
    /// inside it is an error.
    pub async fn transaction(&self) -> Result<Transaction> {
        let transaction = self.own_transaction();
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    /// A transaction as if nobody else used the database.
    pub(super) async fn isolated(&self) -> Result<Transaction> {
        let mut transaction = self.own_transaction();
        transaction.begin = Step::BeginAlone;
        transaction.ensure_begun().await?;
        Ok(transaction)
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Local {
    /// A handle for one request. The host notices a write that would wait for the request's own transaction.
    #[must_use]
    pub fn for_request(&self) -> Self {
        self.clone()
    }

    /// The same handle, which notes the tables that its statements read.
    #[must_use]
    pub fn noting(&self, reads: ReadTables) -> Self {
        Self { reads: Some(reads), ..self.clone() }
    }

    pub fn own_transaction(&self) -> Transaction {
        let (on_commit, reads) = (self.on_commit.clone(), self.reads.clone());
        Transaction {
            link: *self.link,
            begin: Step::Begin,
            is_open: Cell::new(false),
            is_in_conflict: Cell::new(false),
            on_commit,
            reads,
            written: RefCell::default(),
            depth: Cell::new(0),
            after: AfterCommit::default(),
        }
    }
}

/// Several statements that happen together or not at all.
///
/// It holds the writer of this application and the lock of the file, so that what it has read stays true until it ends. Dropped before
/// [`commit`](Self::commit), it is rolled back, and so it is if its instance ends in whatever way.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    link: Link,
    begin: Step,
    is_open: Cell<bool>,
    /// A statement failed because of what others did.
    is_in_conflict: Cell<bool>,
    on_commit: Committed,
    reads: Option<ReadTables>,
    written: RefCell<Vec<&'static str>>,
    /// How many savepoints are open.
    depth: Cell<u32>,
    pub(super) after: AfterCommit,
}

impl Transaction {
    verbs!([async] self: &Self, Link.await);

    async fn ask<T, R>(&self, query: Query<'_, T>, verb: Asked<T, R>) -> Result<R> {
        if !self.is_open() {
            return Err(Kind::Abandoned.into());
        }
        if let Some(reads) = &self.reads {
            self.link.note(reads, &query);
        }
        dependencies::add(&mut self.written.borrow_mut(), written(&query));
        let result = verb(self.link, Place::Transaction, query);
        let is_conflict = result.as_ref().is_err_and(Error::is_conflict);
        self.is_in_conflict.set(self.is_in_conflict.get() || is_conflict);
        result
    }

    fn begin(&self) -> Result<()> {
        if !self.is_open() {
            (self.link.transaction)(self.begin)?;
            self.written.take();
            self.is_open.set(true);
        }
        Ok(())
    }

    /// A statement of it failed, because of what others did meanwhile.
    pub(super) fn is_in_conflict(&self) -> bool {
        self.is_in_conflict.get()
    }

    /// Makes all of it happen.
    pub async fn commit(self) -> Result<()> {
        self.keep_changes().await
    }

    /// Undoes all of it.
    pub async fn rollback(self) -> Result<()> {
        self.is_open.set(false);
        (self.link.transaction)(Step::Rollback)
    }

    /// Undoes all of it. The host refuses what comes after, and the commit.
    pub(super) fn abandon(&self) {
        let _ = (self.link.transaction)(Step::Rollback);
    }

    /// The depth of the next savepoint.
    pub(super) fn deeper(&self) -> u32 {
        self.depth.set(self.depth.get() + 1);
        self.depth.get()
    }

    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.set(depth);
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Transaction {
    /// Begins it, unless it is open.
    pub async fn ensure_begun(&self) -> Result<()> {
        self.begin()
    }

    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Commits; the handle stays, for the request that it belongs to.
    pub async fn keep_changes(&self) -> Result<()> {
        self.is_open.set(false);
        let after = self.after.take();
        let committed = self.link.commit(&self.on_commit, &self.written.take());
        after.run(&committed);
        committed
    }

    /// Undoes what is not committed.
    pub fn undo(&self) {
        if self.is_open.replace(false) {
            drop(self.after.take());
            // Should even this fail, it is over with the instance.
            let _ = (self.link.transaction)(Step::Rollback);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.undo();
    }
}

/// The writer, for code that may block. See [`Database::write`].
pub struct Blocking<'c> {
    link: &'c Link,
    place: Place,
    on_commit: &'c Committed,
    /// In the open transaction.
    written: Vec<&'static str>,
    /// How many savepoints are open.
    pub(super) depth: u32,
}

impl Blocking<'_> {
    verbs!([] self: &mut Self, Link);

    fn ask<T, R>(&mut self, query: Query<'_, T>, verb: Asked<T, R>) -> Result<R> {
        let tables = written(&query);
        let result = verb(*self.link, self.place, query);
        match self.place {
            Place::Transaction => dependencies::add(&mut self.written, tables),
            Place::Best | Place::Writer => self.on_commit.announce(&tables),
        }
        result
    }

    /// Runs `work` in a transaction: kept if it gives `Ok`, undone if it gives an error or panics. One in another is an
    /// error.
    pub fn transaction<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let local = Local { link: Rc::new(*self.link), on_commit: self.on_commit.clone(), reads: None };
        let whole = local.own_transaction();
        whole.begin()?;
        let (link, on_commit) = (self.link, self.on_commit);
        let mut inside = Blocking { link, place: Place::Transaction, on_commit, written: Vec::new(), depth: 0 };
        let value = work(&mut inside)?;
        whole.is_open.set(false);
        self.link.commit(on_commit, &inside.written)?;
        Ok(value)
    }
}

skep_units::opaque_debug!(Database);
skep_units::opaque_debug!(Local);
skep_units::opaque_debug!(Transaction);
skep_units::opaque_debug!(Blocking<'_>);

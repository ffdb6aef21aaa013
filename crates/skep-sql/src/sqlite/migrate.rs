//! Runs migrations.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ffi};

use super::failure::failed;
use super::functions;
use crate::error::Result;
use crate::guests;
use crate::migrations::{Step, Steps};
use crate::open_error::Problem;
use crate::sqlite::additions::first_other;

impl Step<'_> {
    /// It must find a slip, not an attack.
    pub(crate) fn checksum(&self) -> String {
        skep_sql_lock::checksum(self.text)
    }
}

impl<'t> Steps<'t> {
    /// The first file of the folder that is not among them.
    pub(crate) fn newcomer(&self) -> Option<String> {
        let files = std::fs::read_dir(self.folder?).ok()?;
        // Of folders there is one, with the migrations for PostgreSQL.
        let is_file = |file: &std::fs::DirEntry| file.file_type().is_ok_and(|kind| !kind.is_dir());
        let names = files.filter_map(|file| file.ok().filter(is_file)?.file_name().into_string().ok());
        let is_new = |name: &String| !name.starts_with('.') && self.list.iter().all(|known| known.file != *name);
        names.filter(is_new).min()
    }

    /// What is wrong with those that ran in this database; pending ones are not.
    pub(crate) fn check(&self, connection: &Connection) -> Result<(), Problem> {
        self.next(&applied(connection)?).map(drop)
    }

    /// One of them ran in this database, if there are any.
    pub(crate) fn any_has_run(&self, connection: &Connection) -> Result<bool> {
        Ok(self.list.is_empty() || !applied(connection)?.is_empty())
    }

    /// A line for each, for people: when it ran in a database where these have run, or that it is pending, and then
    /// what it does more than add.
    pub(crate) fn describe(&self, applied: &[Applied]) -> Result<Vec<String>, Problem> {
        self.check_order()?;
        self.next(applied)?;
        let new_functions = self.new_functions(applied);
        let width = self.list.iter().map(|migration| migration.file.len()).max().unwrap_or(0);
        let state = |migration: &Step<'_>| match applied.iter().find(|done| done.number == migration.number) {
            Some(done) => format!("ran at {}", done.at),
            None => match first_other(migration.text, &new_functions) {
                Some((line, statement)) => format!("pending, and does more than add: line {line}, {statement}"),
                None => "pending".to_owned(),
            },
        };
        Ok(self.list.iter().map(|migration| format!("{:width$}  {}", migration.file, state(migration))).collect())
    }

    /// The same for this database.
    pub(crate) fn describe_in(&self, connection: &Connection) -> Result<Vec<String>, Problem> {
        self.describe(&applied(connection)?)
    }

    /// Numbers ascend.
    pub(crate) fn check_order(&self) -> Result<(), Problem> {
        match self.list.windows(2).find(|pair| pair[0].number >= pair[1].number) {
            Some(pair) => Err(Problem::Disordered { file: pair[1].file.to_owned(), before: pair[0].file.to_owned() }),
            None => Ok(()),
        }
    }

    /// What pending ones do more than add, if there is such a thing, in this database.
    pub(crate) fn only_add_to(&self, connection: &Connection) -> Result<(), Problem> {
        self.only_add(&applied(connection)?)
    }

    /// The same, where these have run.
    pub(crate) fn only_add(&self, applied: &[Applied]) -> Result<(), Problem> {
        let pending = self.list.iter().filter(|migration| applied.iter().all(|done| done.number != migration.number));
        let new_functions = self.new_functions(applied);
        let mut others =
            pending.filter_map(|migration| Some((migration.file, first_other(migration.text, &new_functions)?)));
        match others.next() {
            Some((file, (line, statement))) => {
                Err(Problem::Breaking { file: file.to_owned(), line, statement: statement.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Functions of the application that a version before these migrations does not have.
    fn new_functions(&self, applied: &[Applied]) -> Vec<String> {
        let is_pending = |migration: &&Step<'_>| applied.iter().all(|done| done.number != migration.number);
        self.list.iter().filter(is_pending).flat_map(functions::declared_by).collect()
    }

    /// The one to run next, or what is wrong with those that ran.
    pub(crate) fn next(&self, applied: &[Applied]) -> Result<Option<Step<'t>>, Problem> {
        for done in applied {
            let Some(known) = self.list.iter().find(|known| known.number == done.number) else {
                return Err(Problem::Newer { file: done.name.clone() });
            };
            if known.checksum() != done.checksum {
                return Err(Problem::Changed { file: known.file.to_owned() });
            }
        }
        let last = applied.last().map_or(0, |done| done.number);
        let ran = |number| applied.iter().any(|done| done.number == number);
        match self.list.iter().copied().find(|migration| !ran(migration.number)) {
            Some(late) if late.number < last => Err(Problem::Late { file: late.file.to_owned(), last }),
            next => Ok(next),
        }
    }
}

/// A line of `skep_migrations`.
pub(crate) struct Applied {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) checksum: String,
    /// When it ran, in UTC.
    pub(crate) at: String,
}

/// Runs what has not run yet.
pub(crate) fn migrate(
    connection: &mut Connection,
    migrations: &Steps<'_>,
    read_only: bool,
    guests: bool,
) -> Result<(), Problem> {
    migrations.check_order()?;
    // Foreign keys are looked at when all statements of a migration have run: a table can be replaced only so.
    connection.execute_batch("pragma foreign_keys = off").map_err(failed)?;
    // Looking first takes no lock, so an ordinary start waits for no other process.
    while let Some(next) = migrations.next(&applied(connection)?)? {
        if read_only {
            return Err(Problem::ReadOnly { pending: next.file.to_owned() });
        }
        one_under_lock(connection, migrations, guests)?;
    }
    Ok(())
}

/// Runs the next migration, unless another process did while we waited for the lock.
fn one_under_lock(connection: &mut Connection, migrations: &Steps<'_>, guests: bool) -> Result<(), Problem> {
    connection.execute_batch("begin immediate").map_err(failed)?;
    let outcome = next_in_transaction(connection, migrations, guests)
        .and_then(|()| connection.execute_batch("commit").map_err(|error| failed(error).into()));
    if !connection.is_autocommit() {
        connection.execute_batch("rollback").map_err(failed)?;
    }
    outcome
}

fn next_in_transaction(connection: &mut Connection, migrations: &Steps<'_>, guests: bool) -> Result<(), Problem> {
    let Some(next) = migrations.next(&applied(connection)?)? else { return Ok(()) };
    let may = if guests { no_transaction_control_of_guests } else { no_transaction_control };
    connection.authorizer(Some(may)).map_err(failed)?;
    let outcome = run(connection, next);
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(failed)?;
    outcome?;
    check_foreign_keys(connection, next)?;
    connection
        .execute_batch(
            "create table if not exists skep_migrations (
                 number integer primary key, name text not null, checksum text not null, applied_at text not null)",
        )
        .map_err(failed)?;
    let record = "insert into skep_migrations values (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";
    connection.execute(record, (next.number, next.file, next.checksum())).map_err(failed)?;
    Ok(())
}

fn applied(connection: &Connection) -> Result<Vec<Applied>> {
    let there = "select exists (select 1 from sqlite_schema where type = 'table' and name = 'skep_migrations')";
    if !connection.query_row(there, [], |row| row.get::<_, bool>(0)).map_err(failed)? {
        return Ok(Vec::new());
    }
    let all = "select number, name, checksum, applied_at from skep_migrations order by number";
    let mut statement = connection.prepare(all).map_err(failed)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Applied { number: row.get(0)?, name: row.get(1)?, checksum: row.get(2)?, at: row.get(3)? })
    };
    let rows = statement.query_map([], read).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// A migration that ends its transaction could not be undone when a later statement fails.
fn no_transaction_control(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Transaction { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}

/// One of a component stays within its own database, too.
fn no_transaction_control_of_guests(context: AuthContext<'_>) -> Authorization {
    match no_transaction_control(context) {
        Authorization::Allow => guests::may(context),
        refused => refused,
    }
}

fn run(connection: &Connection, migration: Step<'_>) -> Result<(), Problem> {
    let mut batch = rusqlite::Batch::new(connection, migration.text);
    let mut done = 0;
    loop {
        let failed = |offset, error| failure(migration, offset, error);
        let Some(mut statement) = batch.next().map_err(|error| failed(done, error))? else { return Ok(()) };
        let text = statement.expanded_sql().unwrap_or_default();
        let start = done + migration.text[done..].find(&text).unwrap_or(0);
        // A statement that gives rows (`select`, some pragmas) is run to its end like any other.
        let mut rows = statement.raw_query();
        while rows.next().map_err(|error| failed(start, error))?.is_some() {}
        done = start + text.len();
    }
}

fn failure(migration: Step<'_>, begin: usize, error: rusqlite::Error) -> Problem {
    // A statement that could not be prepared has a more exact place: that of the word which is wrong.
    let (offset, error) = match error {
        rusqlite::Error::SqlInputError { error, msg, offset, .. } => {
            let offset = begin + usize::try_from(offset).unwrap_or(0);
            (offset, failed(rusqlite::Error::SqliteFailure(error, Some(msg))))
        }
        error => (begin, failed(error)),
    };
    if error.is_busy() || error.is_full() {
        return error.into();
    }
    let reason = match error.primary() {
        ffi::SQLITE_AUTH => format!(
            "a migration must not begin or end a transaction: it runs in one; and that of a component has nothing but its own \
             database ({})",
            error.reason()
        ),
        _ => error.reason(),
    };
    let (line, statement) = code_at(migration.text, offset);
    Problem::Migration { file: migration.file.to_owned(), line, statement: statement.to_owned(), reason }
}

/// The number and the text of the line in which the code at `offset` stands, or the next after blanks and comments.
pub(crate) fn code_at(text: &str, offset: usize) -> (usize, &str) {
    let offset = text.len() - code(text.get(offset..).unwrap_or_default()).len();
    let begin = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    (text[..begin].matches('\n').count() + 1, line.trim())
}

/// The text from its first code on.
fn code(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    let comment = [("--", "\n"), ("/*", "*/")].into_iter().find(|(begin, _)| text.starts_with(begin));
    match comment.and_then(|(_, end)| text.split_once(end)) {
        Some((_, rest)) => code(rest),
        None => text,
    }
}

fn check_foreign_keys(connection: &Connection, migration: Step<'_>) -> Result<(), Problem> {
    let mut statement = connection.prepare("pragma foreign_key_check").map_err(failed)?;
    let mut rows = statement.raw_query();
    let Some(row) = rows.next().map_err(failed)? else { return Ok(()) };
    let (table, parent): (String, String) = (row.get(0).map_err(failed)?, row.get(2).map_err(failed)?);
    Err(Problem::ForeignKey { file: migration.file.to_owned(), table, parent })
}

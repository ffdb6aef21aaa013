//! Runs migrations: each in a transaction of its own, and under a lock that all processes respect.

use std::sync::Arc;

use skep_sql_lock::text::{first_control, statement_starts};

use super::super::error::Result;
use super::super::migrations::{Migrations, Step, Steps};
use super::super::value::Value;
use super::blocking::BlockingConnection;
use super::connection::{BoundStatement, Connection};
use super::verb;
use crate::open_error::Problem;
use crate::sqlite::functions;
use crate::sqlite::migrate::{Applied, code_at};

/// The advisory lock under which migrations run: "skep" and 1.
const LOCK: i64 = 0x736b_6570_0000_0001;

/// How long the locks of others are waited for.
const PATIENCE: &str = "60s";

/// Where migrations come from.
pub(crate) enum MigrationSource {
    /// The program.
    Program(&'static Migrations),
    /// A component: number, name of the file, text.
    Guest(Arc<[(u32, String, String)]>),
}

impl MigrationSource {
    /// Those of a program.
    ///
    /// # Errors
    /// If it has some for SQLite only.
    pub(crate) fn program(migrations: &Migrations) -> Result<Self, Problem> {
        migrations.for_postgres().map(Self::Program)
    }

    fn steps(&self) -> Steps<'_> {
        match self {
            Self::Program(migrations) => migrations.steps(),
            Self::Guest(list) => Steps::of_guest(list),
        }
    }
}

/// Runs what has not run yet. With `carefully`, another version uses the database meanwhile.
pub(super) fn run(remote: &BlockingConnection, source: MigrationSource, carefully: bool) -> Result<(), Problem> {
    let steps = source.steps();
    steps.check_order()?;
    functions::refuse(&steps)?;
    drop(steps);
    remote.run(move |connection| async move {
        let steps = source.steps();
        let done = applied(&connection).await?;
        if carefully {
            steps.only_add(&done)?;
        }
        let mut next = steps.next(&done)?;
        if next.is_some() {
            connection.batch(&format!("set lock_timeout = '{PATIENCE}'")).await?;
        }
        while next.is_some() {
            one_under_lock(&connection, &steps).await?;
            next = steps.next(&applied(&connection).await?)?;
        }
        Ok(())
    })?
}

/// Looks at those that ran.
pub(super) fn check(remote: &BlockingConnection, source: MigrationSource) -> Result<(), Problem> {
    functions::refuse(&source.steps())?;
    remote.run(move |connection| async move { source.steps().next(&applied(&connection).await?).map(drop) })?
}

/// A line for each, for people.
pub(super) fn describe(remote: &BlockingConnection, source: MigrationSource) -> Result<Vec<String>, Problem> {
    remote.run(move |connection| async move { source.steps().describe(&applied(&connection).await?) })?
}

/// Runs the next migration, unless another process did while we waited for the lock.
async fn one_under_lock(connection: &Arc<Connection>, steps: &Steps<'_>) -> Result<(), Problem> {
    connection.batch("begin").await?;
    let outcome = next_in_transaction(connection, steps).await;
    let end = if outcome.is_ok() { "commit" } else { "rollback" };
    let ended = connection.batch(end).await;
    outcome?;
    Ok(ended?)
}

async fn next_in_transaction(connection: &Arc<Connection>, steps: &Steps<'_>) -> Result<(), Problem> {
    connection.batch(&format!("select pg_advisory_xact_lock({LOCK})")).await?;
    let Some(next) = steps.next(&applied(connection).await?)? else { return Ok(()) };
    if let Some(offset) = first_control(next.text) {
        return Err(failure(
            next,
            offset,
            "a migration must not begin or end a transaction: it runs in one".to_owned(),
        ));
    }
    if let Err((done, position, error)) = connection.script(next.text).await {
        if error.is_busy() || error.is_full() || error.is_unreachable() {
            return Err(error.into());
        }
        let start = || statement_starts(next.text).nth(done).unwrap_or(0);
        return Err(failure(next, position.unwrap_or_else(start), error.reason()));
    }
    let table = "create table if not exists skep_migrations (
        number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null)";
    connection.batch(table).await?;
    let text = |text: &str| Value::Text(text.to_owned().into());
    let values = [Value::Integer(next.number.into()), text(next.file), text(&next.checksum())];
    let insert = BoundStatement::own("insert into skep_migrations values (?, ?, ?, now())", values.into());
    connection.run(&insert, verb::execute()).await.value?;
    Ok(())
}

fn failure(migration: Step<'_>, offset: usize, reason: String) -> Problem {
    let (line, statement) = code_at(migration.text, offset);
    Problem::Migration { file: migration.file.to_owned(), line, statement: statement.to_owned(), reason }
}

async fn applied(connection: &Arc<Connection>) -> Result<Vec<Applied>> {
    let ask = |text: &'static str| BoundStatement::own(text, Vec::new());
    // `to_regclass` would answer from a cache that does not hear of what others did while we waited for the lock.
    let there = ask(
        "select exists (select 1 from pg_tables where tablename = 'skep_migrations' and schemaname = any (current_schemas(false)))",
    );
    if connection.run(&there, verb::one::<bool>()).await.value? != Some(true) {
        return Ok(Vec::new());
    }
    let all =
        ask("select number, name, checksum, to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')
         from skep_migrations order by number");
    let rows = connection.run(&all, verb::all::<(u32, String, String, String)>()).await.value?;
    Ok(rows.into_iter().map(|(number, name, checksum, at)| Applied { number, name, checksum, at }).collect())
}

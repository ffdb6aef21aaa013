//! One connection, which several statements may use at once: they are sent one behind the other, and their answers come in that order.
//!
//! Start reading at [`Connection::run`]. What becomes of a statement that nobody waits for any more, `flight.rs` says.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::Stream;
use tokio_postgres::{CancelToken, Client, RowStream, SimpleQueryMessage, Statement};

use super::super::connection::LONGEST_KEPT;
use super::super::error::{Error, Kind, Result};
use super::super::query::Refused;
use super::super::value::Value;
use super::Shared;
use super::failure::{failed, position, unreachable};
use super::flight::Flights;
use super::text::Text;
use super::tls::Tls;
use super::value::Bound;
use super::verb::{Answer, Verb};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How a statement begins that reads from a cursor.
pub(super) const FETCH: &str = "fetch ";

pub(super) struct Connection {
    client: Client,
    cancel: CancelToken,
    tls: Tls,
    /// How many statements stay prepared.
    kept: usize,
    statements: Mutex<HashMap<Arc<str>, Prepared>>,
    pub(super) flights: Mutex<Flights>,
}

#[derive(Clone)]
struct Prepared {
    statement: Statement,
    reads_only: bool,
}

/// A statement with its values, which may be run more than once.
#[derive(Clone)]
pub(in crate::sql) struct Job {
    pub(super) text: Arc<str>,
    pub(super) values: Arc<[Value<'static>]>,
    /// It is the framework's own.
    pub(super) is_own: bool,
}

/// What a statement gave.
pub(in crate::sql) struct Outcome<R> {
    pub(super) value: R,
    /// It may have changed something.
    pub(super) has_changed: bool,
}

impl Connection {
    /// Connects. `timeout` is that of each statement, in milliseconds; 0 is none.
    pub(super) async fn open(shared: &Shared, timeout: u128) -> Result<Arc<Self>> {
        let connecting = shared.config.connect(shared.tls.clone());
        let connected = tokio::time::timeout(CONNECT, connecting).await;
        let (client, connection) = connected.map_err(|_| unreachable("no answer for 10 s"))?.map_err(failed)?;
        // It ends with the client, or when PostgreSQL ends it.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(target: "skep::sql", "a connection to PostgreSQL is lost: {error}");
            }
        });
        client.batch_execute(&format!("set statement_timeout = {timeout}")).await.map_err(failed)?;
        Ok(Arc::new(Self {
            cancel: client.cancel_token(),
            client,
            tls: shared.tls.clone(),
            kept: shared.options.statements,
            statements: Mutex::default(),
            flights: Mutex::default(),
        }))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Several statements at once, without values.
    pub(super) async fn batch(&self, text: &str) -> Result<()> {
        self.client.batch_execute(text).await.map_err(|error| failed(error).of(text))
    }

    /// Runs the statements of a script. An error comes with how many were done, and where in the text it is, if PostgreSQL says so.
    pub(super) async fn script(&self, text: &str) -> Result<(), (usize, Option<usize>, Error)> {
        let mut done = 0;
        let run = async {
            let mut messages = pin!(self.client.simple_query_raw(text).await?);
            while let Some(message) = poll_fn(|cx| messages.as_mut().poll_next(cx)).await {
                done += usize::from(matches!(message?, SimpleQueryMessage::CommandComplete(_)));
            }
            Ok(())
        };
        let result: Result<(), tokio_postgres::Error> = run.await;
        result.map_err(|error| {
            let characters = position(&error).map(|position| position.saturating_sub(1));
            let offset = characters.and_then(|nth| text.char_indices().nth(nth)).map(|(offset, _)| offset);
            (done, offset, failed(error))
        })
    }

    /// Runs a statement and reads its answer to the end.
    pub(super) async fn run<R>(&self, job: &Job, verb: Verb<R>) -> Result<Outcome<R>> {
        let run = async {
            let prepared = self.prepared(job).await?;
            check(&prepared.statement, &job.values)?;
            let bound: Vec<_> = job.values.iter().map(Bound).collect();
            let rows = self.client.query_raw(&prepared.statement, bound).await.map_err(failed)?;
            let answer = read(rows, verb.rows).await?;
            let has_changed = !prepared.reads_only && answer.may_have_changed();
            Ok(Outcome { value: (verb.finish)(answer)?, has_changed })
        };
        let result: Result<_> = run.await;
        result.map_err(|error| {
            if error.is_stale() {
                self.statements().remove(&job.text);
            }
            error.of(&job.text)
        })
    }

    /// True if the statement is known to change nothing.
    pub(super) fn reads_only(&self, text: &str) -> bool {
        self.statements().get(text).is_some_and(|prepared| prepared.reads_only)
    }

    /// Asks PostgreSQL to cancel what it does for this connection. It is done when this returns, if there was anything.
    pub(super) async fn cancel(&self) {
        let cancelled = tokio::time::timeout(CONNECT, self.cancel.cancel_query(self.tls.clone())).await;
        if let Ok(Err(error)) = cancelled {
            tracing::debug!(target: "skep::sql", "a statement that nobody waits for is not cancelled: {error}");
        }
    }

    async fn prepared(&self, job: &Job) -> Result<Prepared> {
        if let Some(known) = self.statements().get(&job.text) {
            return Ok(known.clone());
        }
        let text = Text::of(&job.text, job.is_own).map_err(Error::other)?;
        let statement = self.client.prepare(&text.sql).await.map_err(failed)?;
        let prepared = Prepared { statement, reads_only: text.reads_only };
        // To PostgreSQL, `fetch` from another cursor of the same name is the same statement, and its columns are not.
        if job.text.len() <= LONGEST_KEPT && !job.text.starts_with(FETCH) {
            let mut statements = self.statements();
            // A program that puts its texts together may have more than fit: then all are forgotten and prepared again.
            if statements.len() >= self.kept {
                statements.clear();
            }
            statements.insert(Arc::clone(&job.text), prepared.clone());
        }
        Ok(prepared)
    }

    // Nothing that is done under this lock can panic half-way.
    fn statements(&self) -> MutexGuard<'_, HashMap<Arc<str>, Prepared>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(statement: &Statement, values: &[Value<'static>]) -> Result<()> {
    let types = statement.params();
    if types.len() != values.len() {
        return Err(Kind::ParameterCount { given: values.len(), wanted: types.len() }.into());
    }
    for (nth, (value, ty)) in values.iter().zip(types).enumerate() {
        Bound(value).check(ty).map_err(|reason| Kind::Parameter(Refused { index: nth + 1, reason }))?;
    }
    Ok(())
}

/// All rows are read, for the connection's sake; the first ones are kept.
async fn read(rows: RowStream, most: usize) -> Result<Answer> {
    let mut rows = pin!(rows);
    let mut kept = Vec::new();
    while let Some(row) = poll_fn(|cx| rows.as_mut().poll_next(cx)).await {
        let row = row.map_err(failed)?;
        if kept.len() < most {
            kept.push(row);
        }
    }
    Ok(Answer { rows: kept, affected: rows.rows_affected() })
}

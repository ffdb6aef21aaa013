//! One connection, which several statements may use at once: they are sent one behind the other, and their answers come
//! in that order.
//!
//! Start reading at [`Connection::run`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::join_all;
use skep_sql_lock::text::{Effect, Text};
use skep_units::lock;
use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, Client, SimpleQueryMessage, Statement};

use super::super::changes::Changes;
use super::super::error::{Error, Kind, Result};
use super::super::guests::TOO_LARGE;
use super::super::pool::Pooled;
use super::super::query::Refused;
use super::super::value::Value;
use super::PerProcess;
use super::failure::{failed, no_answer, position};
use super::in_flight::InFlight;
use super::tls::Tls;
use super::value::Bound;
use super::verb::{self, Fetched, Verb};
use crate::sqlite::connection::LONGEST_KEPT;

/// How much longer a statement may take than PostgreSQL allows it, which counts from its beginning: its way takes time,
/// and what is before it on its connection, too.
pub(super) const BEHIND_OTHERS: Duration = Duration::from_millis(500);

/// How long a connection may take until its first statement can be sent, over all hosts of the address.
pub(super) const CONNECT: Duration = Duration::from_secs(10);

/// How many statements of one text are sent without waiting for the answer to the first.
const SENT_AT_ONCE: usize = 64;

/// How a statement begins that reads from a cursor.
pub(super) const FETCH: &str = "fetch ";

/// By the texts of statements. Few are kept, so that texts which are made to collide cost little.
pub(super) type ByText<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

pub(super) struct Connection {
    client: Client,
    cancel: CancelToken,
    pub(super) cancels: bool,
    tls: Tls,
    /// How long is waited for an answer. PostgreSQL ends a statement before, unless it hangs.
    limit: Duration,
    /// How many statements stay prepared.
    kept: usize,
    statements: Mutex<ByText<Arc<str>, Prepared>>,
    /// A transaction of several statements is open.
    in_transaction: AtomicBool,
    /// It has changed settings, and what is prepared now means what they say. What one statement alone has set ends
    /// with it.
    is_altered: AtomicBool,
    /// It has set `statement_timeout`, and may take any time.
    has_own_timeout: AtomicBool,
    pub(super) in_flight: Mutex<InFlight>,
}

/// A statement that is prepared on one connection.
#[derive(Clone)]
pub(super) struct Prepared {
    statement: Statement,
    kind: StatementKind,
}

pub(super) enum PreparedOrText {
    Prepared(Prepared),
    /// A text that is not prepared yet, and whether it is the framework's own.
    Text(Box<str>, bool),
}

/// What is known of a statement from its text.
#[derive(Clone, Copy)]
pub(super) struct StatementKind {
    pub(super) effect: Effect,
    /// It may wait for locks.
    pub(super) may_wait: bool,
}

/// A statement with its values, which may be run more than once.
#[derive(Clone)]
pub(crate) struct BoundStatement<'q> {
    pub(super) text: Cow<'q, str>,
    pub(super) values: Vec<Value<'q>>,
    /// It is the framework's own.
    pub(super) is_own: bool,
    /// `sql!` knows that it calls something that may write, whatever its text says.
    pub(super) may_write_any: bool,
    /// It ends with its request, also if it writes.
    pub(super) is_of_guest: bool,
}

/// What a statement gave.
pub(crate) struct Outcome<R> {
    pub(crate) value: Result<R>,
    /// It may have changed something, also if there is an error: of rows that cannot be read, or of a lost connection.
    pub(crate) has_changed: bool,
}

impl<'q> BoundStatement<'q> {
    /// The framework's own.
    pub(super) fn own(text: impl Into<Cow<'q, str>>, values: Vec<Value<'q>>) -> Self {
        Self { text: text.into(), values, is_own: true, may_write_any: false, is_of_guest: false }
    }

    /// It for a task of its own.
    pub(crate) fn into_owned(self) -> BoundStatement<'static> {
        let Self { text, values, is_own, may_write_any, is_of_guest } = self;
        let (text, values) = (text.into_owned().into(), values.into_iter().map(Value::into_owned).collect());
        BoundStatement { text, values, is_own, may_write_any, is_of_guest }
    }
}

impl StatementKind {
    /// It has no effect, and takes no lock.
    pub(super) fn only_reads(self) -> bool {
        self.effect == Effect::Reads && !self.may_wait
    }

    /// That of a statement with this text.
    pub(super) fn read(bound: &BoundStatement<'_>) -> Self {
        // A wrong one is refused when it is prepared.
        let text = Text::of(&bound.text, bound.is_own);
        text.map_or(Self { effect: Effect::Writes, may_wait: true }, |text| Self::from(&text))
    }

    fn from(text: &Text) -> Self {
        Self { effect: text.effect, may_wait: text.may_wait }
    }

    /// The same, with what else is known of the statement.
    pub(super) fn of(self, bound: &BoundStatement<'_>) -> Self {
        if bound.may_write_any { Self { effect: Effect::Writes, may_wait: true } } else { self }
    }
}

impl Connection {
    /// Connects. `timeout` is that of each statement; zero means no limit.
    pub(super) async fn open(shared: &PerProcess, timeout: Duration) -> Result<Arc<Self>> {
        let opened = tokio::time::timeout(CONNECT, Self::connect(shared, timeout)).await;
        let opened = opened.unwrap_or_else(|_| Err(no_answer(CONNECT)));
        let count = if opened.is_ok() { &shared.counts.opened } else { &shared.counts.failed };
        count.fetch_add(1, Ordering::Relaxed);
        opened
    }

    async fn connect(shared: &PerProcess, timeout: Duration) -> Result<Arc<Self>> {
        let (client, connection) = shared.config.connect(shared.tls.clone()).await.map_err(failed)?;
        let counts = Arc::clone(&shared.counts);
        // It ends with the client, or when PostgreSQL ends it.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                counts.lost.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(target: "skep::sql", "a connection to PostgreSQL is lost: {error}");
            }
        });
        client.batch_execute(&format!("set statement_timeout = {}", timeout.as_millis())).await.map_err(failed)?;
        Ok(Arc::new(Self {
            cancel: client.cancel_token(),
            cancels: shared.cancels,
            client,
            tls: shared.tls.clone(),
            limit: if timeout.is_zero() { Duration::MAX } else { timeout.saturating_add(BEHIND_OTHERS) },
            kept: shared.options.statements,
            statements: Mutex::default(),
            in_transaction: AtomicBool::new(false),
            is_altered: AtomicBool::new(false),
            has_own_timeout: AtomicBool::new(false),
            in_flight: Mutex::default(),
        }))
    }

    /// Nothing is prepared any more: tables were altered.
    pub(super) fn forget_prepared(&self) {
        lock(&self.statements).clear();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Several statements at once, without values.
    pub(super) async fn batch(&self, text: &str) -> Result<()> {
        let run = async { self.client.batch_execute(text).await.map_err(failed) };
        self.in_time(run).await.map_err(|error| error.of(text))
    }

    /// What PostgreSQL answers, unless it hangs. Then the connection is given nothing new.
    async fn in_time<T>(&self, asked: impl Future<Output = Result<T>>) -> Result<T> {
        self.in_time_of(1, asked).await
    }

    /// The same for what is sent behind others: PostgreSQL gives each of these `statements` its time.
    async fn in_time_of<T>(&self, statements: u32, asked: impl Future<Output = Result<T>>) -> Result<T> {
        let limit = if self.has_own_timeout.load(Ordering::Relaxed) { Duration::MAX } else { self.limit };
        let limit = limit.saturating_mul(statements);
        tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| {
            self.retire();
            Err(no_answer(limit))
        })
    }

    /// Waits until PostgreSQL has done with what it was sent, or the connection is lost.
    pub(super) async fn settled(&self) {
        _ = self.client.batch_execute("").await;
    }

    /// Runs the statements of a script. An error comes with how many were done, and where in the text it is, if
    /// PostgreSQL says so.
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
    pub(super) async fn run<R>(&self, bound: &BoundStatement<'_>, verb: Verb<R>) -> Outcome<R> {
        self.run_in_time_of(1, bound, verb).await
    }

    /// The same for the last of these `statements`, all of which are sent at once.
    async fn run_in_time_of<R>(&self, statements: u32, bound: &BoundStatement<'_>, verb: Verb<R>) -> Outcome<R> {
        let mut has_changed = false;
        let run = async {
            let prepared = match self.prepared(&bound.text) {
                Some(prepared) => prepared,
                // In a box, since it is rare and large, and each statement would have room for it.
                None => Box::pin(self.in_time(self.prepare(&bound.text, bound.is_own))).await?,
            };
            check(&prepared.statement, &bound.values)?;
            let answer = self.answer(&prepared.statement, &bound.values, (verb.rows, verb.bytes));
            let answer = self.in_time_of(statements, answer).await;
            let StatementKind { effect, .. } = prepared.kind.of(bound);
            has_changed = match &answer {
                // Other statements than these have no number, or one of something else.
                Ok(answer) => match effect {
                    Effect::Reads => false,
                    Effect::CountsWrites => answer.affected > 0,
                    Effect::Writes => true,
                },
                Err(error) => effect != Effect::Reads && error.is_unreachable(),
            };
            (verb.finish)(answer?)
        };
        let result: Result<R> = run.await;
        if result.as_ref().is_err_and(Error::is_stale) {
            self.forget_prepared();
        }
        Outcome { value: result.map_err(|error| error.of(&bound.text).with_values(bound.values.len())), has_changed }
    }

    /// Runs statements in this order, until one fails. Those of one text are sent without waiting for each other.
    pub(super) async fn run_many(&self, all: &[BoundStatement<'static>]) -> Outcome<Changes> {
        let (mut total, mut has_changed) = (Changes::default(), false);
        let (mut rest, mut before) = (all, None);
        while let Some(first) = rest.first() {
            // The first one of a text prepares it for the others, and says which values it takes.
            let most = if before == Some(&first.text) { SENT_AT_ONCE } else { 1 };
            let prepared = self.prepared(&first.text).filter(|_| most > 1);
            let fits = |bound: &&BoundStatement<'_>| {
                bound.text == first.text
                    && prepared.as_ref().is_none_or(|known| check(&known.statement, &bound.values).is_ok())
            };
            // One that does not fit is sent alone, so that nothing behind it happens.
            let alike = rest.iter().take(most).take_while(fits).count().max(1);
            let (sent, others) = rest.split_at(alike);
            (rest, before) = (others, Some(&first.text));
            let sent = (1..).zip(sent).map(|(nth, bound)| self.run_in_time_of(nth, bound, verb::execute()));
            let mut failed = None;
            for outcome in join_all(sent).await {
                has_changed |= outcome.has_changed;
                match outcome.value {
                    Ok(changes) => total = total.and(changes),
                    // Those behind it failed because it did.
                    Err(error) => _ = failed.get_or_insert(error),
                }
            }
            if let Some(error) = failed {
                return Outcome { value: Err(error), has_changed };
            }
        }
        Outcome { value: Ok(total), has_changed }
    }

    /// Runs a read, whose error does not say the text yet.
    pub(super) async fn read(
        &self,
        statement: PreparedOrText,
        values: &[Value<'_>],
        wants: (usize, usize),
    ) -> Result<Fetched> {
        let Prepared { statement, .. } = match statement {
            PreparedOrText::Prepared(prepared) => prepared,
            PreparedOrText::Text(text, is_own) => Box::pin(self.prepare(&text, is_own)).await?,
        };
        check(&statement, values)?;
        self.answer(&statement, values, wants).await
    }

    /// All rows are read, for the connection's sake; the first ones are kept, with this number of bytes at most.
    async fn answer(
        &self,
        statement: &Statement,
        values: &[Value<'_>],
        (most, most_bytes): (usize, usize),
    ) -> Result<Fetched> {
        let mut rows = pin!(self.client.query_raw(statement, values.iter().map(Bound)).await.map_err(failed)?);
        // Of these verbs, one row is the usual answer.
        let expected = usize::from((1..=2).contains(&most));
        let (mut kept, mut bytes) = (Vec::with_capacity(expected), 0);
        while let Some(row) = poll_fn(|cx| rows.as_mut().poll_next(cx)).await {
            let row = row.map_err(failed)?;
            if kept.len() < most && bytes <= most_bytes {
                bytes += row.raw_size_bytes();
                kept.push(row);
            }
        }
        if bytes > most_bytes {
            return Err(Error::other(TOO_LARGE));
        }
        Ok(Fetched { rows: kept, affected: rows.rows_affected().unwrap_or(0) })
    }

    /// Asks PostgreSQL to cancel what it does for this connection. When that is done, nobody says.
    pub(super) async fn cancel(&self) {
        let cancelled = tokio::time::timeout(CONNECT, self.cancel.cancel_query(self.tls.clone())).await;
        if let Ok(Err(error)) = cancelled {
            tracing::debug!(target: "skep::sql", "an abandoned statement is not cancelled: {error}");
        }
    }

    /// A transaction of several statements is about to begin.
    pub(super) fn begin_transaction(&self) {
        self.in_transaction.store(true, Ordering::Relaxed);
    }

    /// It has ended, and with it what it has set.
    pub(super) fn end_transaction(&self) {
        self.in_transaction.store(false, Ordering::Relaxed);
        self.is_altered.store(false, Ordering::Relaxed);
        self.has_own_timeout.store(false, Ordering::Relaxed);
    }

    pub(super) fn prepared_or_text(&self, bound: &BoundStatement<'_>) -> PreparedOrText {
        self.prepared(&bound.text)
            .map_or_else(|| PreparedOrText::Text((*bound.text).into(), bound.is_own), PreparedOrText::Prepared)
    }

    /// It as it was prepared before.
    fn prepared(&self, text: &str) -> Option<Prepared> {
        let is_altered = self.is_altered.load(Ordering::Relaxed);
        lock(&self.statements).get(text).filter(|_| !is_altered).cloned()
    }

    async fn prepare(&self, given: &str, is_own: bool) -> Result<Prepared> {
        let is_altered = self.is_altered.load(Ordering::Relaxed);
        let text = Text::of(given, is_own).map_err(Error::other)?;
        let statement = self.client.prepare(&text.sql).await.map_err(failed)?;
        let prepared = Prepared { statement, kind: StatementKind::from(&text) };
        if text.alters && self.in_transaction.load(Ordering::Relaxed) {
            self.is_altered.store(true, Ordering::Relaxed);
            let sets_timeout = text.sql.to_ascii_lowercase().contains("statement_timeout");
            self.has_own_timeout.fetch_or(sets_timeout, Ordering::Relaxed);
        }
        // To PostgreSQL, `fetch` from another cursor of the same name is the same statement, and its columns are not.
        if given.len() <= LONGEST_KEPT && !given.starts_with(FETCH) && !is_altered && !text.alters {
            let mut statements = lock(&self.statements);
            // A program that puts its texts together may have more than fit: then all are forgotten and prepared again.
            if statements.len() >= self.kept {
                statements.clear();
            }
            statements.insert(given.into(), prepared.clone());
        }
        Ok(prepared)
    }
}

/// A connection that one holder has for itself.
impl Pooled for Arc<Connection> {
    type Opener = ();

    fn is_usable(&self) -> bool {
        !self.is_retired()
    }

    /// In a task of its own, if there is something to roll back.
    fn reset(self, then: impl FnOnce(Option<Self>) + Send + 'static) {
        if !self.in_transaction.load(Ordering::Relaxed) {
            return then(Some(self));
        }
        // Without a runtime there are no connections any more.
        let Ok(runtime) = Handle::try_current() else { return then(None) };
        runtime.spawn(async move {
            // What it has set does not matter any more, such as how long statements may take.
            self.end_transaction();
            let undone = self.batch("rollback").await;
            // One that cannot be rolled back is closed, which does the same.
            then(undone.is_ok().then_some(self));
        });
    }
}

fn check(statement: &Statement, values: &[Value<'_>]) -> Result<()> {
    let types = statement.params();
    if types.len() != values.len() {
        return Err(Kind::ParameterCount { given: values.len(), wanted: types.len() }.into());
    }
    for (nth, (value, ty)) in values.iter().zip(types).enumerate() {
        Bound(value).check(ty).map_err(|reason| Kind::Parameter(Refused { index: nth + 1, reason }))?;
    }
    Ok(())
}

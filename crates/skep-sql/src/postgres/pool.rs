//! A pool of connections to PostgreSQL: one for each thread, on its own event loop, and one of all threads for futures
//! that go from thread to thread.
//!
//! Reads share connections, half of them: several are in flight on one connection, sent one behind the other without
//! waiting (pipelining), each on the connection with the fewest. What may wait for locks has a connection for itself,
//! checked out as in other pools: a statement that writes has one of the other half until it is answered, and a
//! transaction or a stream has one until it ends. Otherwise the holder of such a lock could be about to read, and be
//! queued behind the statement that waits for it.
//!
//! Connections are opened when they are needed, so none is from before a fork. While PostgreSQL cannot be reached,
//! statements fail at once, and the next attempt to connect is made after a delay that doubles up to two seconds.
//!
//! A statement is sent again in two cases, in which PostgreSQL has done nothing of it: its plan was prepared for a
//! table that was altered since ("cached plan must not change result type"), or is not on the server any more, and it
//! is prepared again; or a request to cancel another statement, which names only a connection, reached it instead.
//!
//! Start reading at [`Pool::run`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use skep_sql_lock::text::Effect;
use skep_units::lock;

use super::super::dependencies::Writes;
use super::super::error::{Error, Kind, Result};
use super::super::value::Value;
use super::PerProcess;
use super::connection::{BEHIND_OTHERS, BoundStatement, ByText, Connection, Outcome, StatementKind};
use super::failure::{no_connection, unreachable};
use super::in_flight::OnDrop;
use super::listen::{Listener, Notifications};
use super::replica::Written;
use super::verb::{Fetched, Verb};
use crate::pool::{self, Usage};
use crate::sqlite::connection::LONGEST_KEPT;

/// How long no connection is attempted after a first failure, and at most.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(2);

/// Connections that one holder has for itself.
type Exclusive = pool::Pool<Arc<Connection>>;
pub(super) type Lease = pool::Lease<Arc<Connection>>;

pub(crate) struct Pool {
    pub(super) shared: Arc<PerProcess>,
    /// The connections of this thread to the replica.
    pub(crate) replica: Option<Arc<Self>>,
    state: Mutex<State>,
    /// How many more shared connections are being opened.
    opening: AtomicUsize,
    /// For statements that may wait, each of which is a transaction of its own.
    writes: Arc<Exclusive>,
    /// For transactions of several statements, and for streams.
    transactions: Arc<Exclusive>,
    listener: Arc<Listener>,
}

#[derive(Default)]
struct State {
    /// The connections that reads share.
    open: Vec<Arc<Connection>>,
    /// Those that wait until the first one is open.
    waiters: Vec<oneshot::Sender<Result<(), String>>>,
    delay: Option<ReconnectDelay>,
    /// Of the statements that ran before.
    statement_kinds: ByText<Box<str>, StatementKind>,
}

/// PostgreSQL could not be reached.
#[derive(Clone)]
pub(super) struct ReconnectDelay {
    pub(super) until: Instant,
    length: Duration,
    reason: String,
}

enum Checkout {
    Ready(Arc<Connection>),
    Queued(oneshot::Receiver<Result<(), String>>),
}

impl Pool {
    pub(super) fn new(shared: Arc<PerProcess>) -> Arc<Self> {
        let options = &shared.options;
        let writes = Exclusive::new(Vec::new(), options.connections / 2, options.waiting, ());
        let transactions = Exclusive::new(Vec::new(), options.transactions, options.waiting, ());
        let replica = shared.replica.as_ref().map(|replica| replica.shared.pool());
        let (state, opening, listener) = Default::default();
        Arc::new(Self { shared, replica, state, opening, writes, transactions, listener })
    }

    /// What is said on this channel from now on.
    pub(crate) async fn listen(&self, channel: &str) -> Result<Notifications> {
        self.listener.listen(&self.shared, channel).await
    }

    /// Runs a statement. The tables that it may change are those of `writes`; `written` notes how far the log is then.
    pub(crate) async fn run<R: Send + 'static>(
        self: &Arc<Self>,
        mut bound: BoundStatement<'_>,
        verb: Verb<R>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<R> {
        let kind = self.kind(&bound);
        if kind.only_reads() {
            let answer = self.read(&mut bound, (verb.rows, verb.bytes)).await?;
            return (verb.finish)(answer).map_err(|error| error.of(&bound.text));
        }
        // Values may be large, and are not copied for each try.
        let bound = Arc::new(bound.into_owned());
        let on_drop = if kind.effect == Effect::Reads || bound.is_of_guest { OnDrop::Cancel } else { OnDrop::Finish };
        // What makes rows of the answer is the application's. Should it panic, all is done that a write leads to.
        let unread = Verb { rows: verb.rows, bytes: verb.bytes, finish: Ok };
        // In a box, or each read would have room for it.
        let write = |again| Box::pin(self.write(Arc::clone(&bound), on_drop, unread, writes, written.clone(), again));
        let answer = match write(false).await {
            Err(error) if error.is_stale() => {
                self.forget_prepared();
                write(true).await
            }
            answer => answer,
        };
        (verb.finish)(answer?).map_err(|error| error.of(&bound.text))
    }

    /// Runs a read on a shared connection. If the request ends, the statement is still read to its end, so its values
    /// are copied.
    async fn read(self: &Arc<Self>, bound: &mut BoundStatement<'_>, wants: (usize, usize)) -> Result<Fetched> {
        let mut values: Vec<_> = std::mem::take(&mut bound.values).into_iter().map(Value::into_owned).collect();
        let (started, mut again) = (Instant::now(), false);
        loop {
            let connection = self.connection().await?;
            if again {
                connection.forget_prepared();
            }
            let (used, statement) = (Arc::clone(&connection), connection.prepared_or_text(bound));
            let work = connection.run_to_end(OnDrop::Cancel, |sent| async move {
                let answer = used.read(statement, &values, wants).await;
                let was_cancelled = answer.as_ref().is_err_and(|error| error.is_timeout() && sent.may_be_cancelled());
                (answer, was_cancelled, values)
            });
            let done = tokio::time::timeout(self.limit().saturating_add(BEHIND_OTHERS), work).await;
            let (answer, was_cancelled, given_back) = done.map_err(|_| no_connection(self.limit()))?;
            values = given_back;
            match answer {
                Err(error) if error.is_stale() && !again => {
                    self.forget_prepared();
                    again = true;
                }
                // That connection is retired, so it is another one now. What took as long as it may has timed out.
                Err(_) if was_cancelled && started.elapsed() < self.limit() => {}
                answer => return answer.map_err(|error| error.of(&bound.text).with_values(values.len())),
            }
        }
    }

    /// Runs what may wait for locks, on a connection of its own, where it is prepared `again`.
    async fn write(
        self: &Arc<Self>,
        bound: Arc<BoundStatement<'static>>,
        on_drop: OnDrop,
        verb: Verb<Fetched>,
        writes: Writes,
        written: Option<Written>,
        again: bool,
    ) -> Result<Fetched> {
        let lease = self.lease_for_write().await?;
        let connection = Arc::clone(lease.connection()?);
        if again {
            connection.forget_prepared();
        }
        let (pool, used) = (Arc::clone(self), Arc::clone(&connection));
        let answer = connection.run_to_end(on_drop, |sent| async move {
            let Outcome { value, has_changed } = used.run(&bound, verb).await;
            let value = if has_changed { value.map_err(Error::in_doubt) } else { value };
            let in_doubt = value.as_ref().is_err_and(Error::is_in_doubt);
            if let Some(written) = written.filter(|_| has_changed) {
                written.note(&used, in_doubt).await;
            }
            drop(sent);
            // Others need not wait for caches.
            drop(lease);
            if has_changed {
                pool.shared.announce_written(used, writes.tables(), in_doubt).await;
            }
            value
        });
        answer.await
    }

    pub(super) fn kind(&self, bound: &BoundStatement<'_>) -> StatementKind {
        let statement_kinds = &mut lock(&self.state).statement_kinds;
        if let Some(known) = statement_kinds.get(&*bound.text) {
            return known.of(bound);
        }
        let kind = StatementKind::read(bound);
        if bound.text.len() <= LONGEST_KEPT {
            // A program that puts its texts together may have more than fit: then all are forgotten and read again.
            if statement_kinds.len() >= self.shared.options.statements {
                statement_kinds.clear();
            }
            statement_kinds.insert((*bound.text).into(), kind);
        }
        kind.of(bound)
    }

    /// Forgets what is prepared on every connection that is not checked out, since a table was altered. Otherwise each
    /// statement for that table would fail once.
    pub(super) fn forget_prepared(&self) {
        lock(&self.state).open.iter().for_each(|connection| connection.forget_prepared());
        self.writes.each_idle(|connection| connection.forget_prepared());
        self.transactions.each_idle(|connection| connection.forget_prepared());
    }

    /// Waits as long as a statement may take.
    async fn in_time<T>(&self, waiting: impl Future<Output = Result<T>>) -> Result<T> {
        let waited = tokio::time::timeout(self.limit(), waiting).await;
        waited.unwrap_or_else(|_| Err(no_connection(self.limit())))
    }

    fn limit(&self) -> Duration {
        self.shared.options.statement_limit()
    }

    /// The one of the shared connections with the fewest statements in it. If it has any, another one is opened for
    /// later.
    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>> {
        loop {
            match self.checkout()? {
                Checkout::Ready(connection) => return Ok(connection),
                Checkout::Queued(opened) => {
                    let opened = async { opened.await.map_err(|_| Kind::Abandoned.into()) };
                    self.in_time(opened).await?.map_err(unreachable)?;
                }
            }
        }
    }

    fn checkout(self: &Arc<Self>) -> Result<Checkout> {
        let mut state = lock(&self.state);
        let is_opening = self.opening.load(Ordering::Relaxed) > 0;
        let Some((best, in_flight)) = state.best() else {
            if !is_opening {
                if let Some(reason) = state.unreachable_reason() {
                    return Err(unreachable(reason));
                }
                self.open_another();
            }
            let (sender, receiver) = oneshot::channel();
            state.waiters.push(sender);
            return Ok(Checkout::Queued(receiver));
        };
        if in_flight > 0 && !is_opening && state.open.len() < self.most() && state.unreachable_reason().is_none() {
            self.open_another();
        }
        Ok(Checkout::Ready(best))
    }

    /// How many connections are shared; those of writes are the others.
    fn most(&self) -> usize {
        self.shared.options.connections.div_ceil(2)
    }

    /// Whether a connection is open. If not, one is opened for later.
    pub(super) fn is_ready(self: &Arc<Self>) -> bool {
        matches!(self.checkout(), Ok(Checkout::Ready(_)))
    }

    /// In a task of its own, so that it comes about also if the request ends.
    fn open_another(self: &Arc<Self>) {
        self.opening.fetch_add(1, Ordering::Relaxed);
        let opening = Opening(Arc::clone(self));
        tokio::spawn(async move {
            let pool = Arc::clone(&opening.0);
            let opened = pool.open().await;
            drop(opening);
            let mut state = lock(&pool.state);
            let result = match opened {
                Ok(connection) => {
                    state.open.push(connection);
                    Ok(())
                }
                Err(error) => Err(error.reason()),
            };
            for waiting in state.waiters.drain(..) {
                _ = waiting.send(result.clone());
            }
        });
    }

    async fn open(&self) -> Result<Arc<Connection>> {
        let opened = Connection::open(&self.shared, self.shared.options.statement_timeout).await;
        let mut state = lock(&self.state);
        state.delay = match &opened {
            Ok(_) => None,
            Err(error) => Some(ReconnectDelay::after(state.delay.take(), error.reason())),
        };
        opened
    }

    /// Waits for a connection for a transaction.
    pub(super) async fn lease_for_transaction(self: &Arc<Self>) -> Result<Lease> {
        let leased = async {
            let mut lease = self.transactions.lease().await?;
            self.fill(&mut lease).await?;
            Ok(lease)
        };
        self.in_time(leased).await
    }

    /// A connection for a stream. Their number is limited for the process, and none waits: it is a client that decides
    /// how long one takes.
    pub(super) async fn lease_for_stream(self: &Arc<Self>) -> Result<Lease> {
        let mut lease = self.transactions.lease_with(self.shared.streams.acquire()?);
        self.in_time(self.fill(&mut lease)).await?;
        Ok(lease)
    }

    /// The same for a write. While no more can be opened, those that there are will do: none is held for long.
    async fn lease_for_write(self: &Arc<Self>) -> Result<Lease> {
        let leased = async {
            let mut lease = self.writes.lease().await?;
            let Err(error) = self.fill(&mut lease).await else { return Ok(lease) };
            drop(lease);
            let Some(mut lease) = self.writes.lease_open().await? else { return Err(error) };
            self.fill(&mut lease).await?;
            Ok(lease)
        };
        self.in_time(leased).await
    }

    /// Opens a connection for it, unless it has one.
    async fn fill(self: &Arc<Self>, lease: &mut Lease) -> Result<()> {
        if lease.get().is_some() {
            return Ok(());
        }
        let unreachable_reason = lock(&self.state).unreachable_reason();
        let opened = match unreachable_reason {
            Some(reason) => Err(unreachable(reason)),
            None => self.open_for(lease).await,
        };
        lease.fill(opened).map(drop)
    }

    /// In a task of its own, so that it comes about also if it takes longer than the request may wait.
    async fn open_for(self: &Arc<Self>, lease: &Lease) -> Result<Arc<Connection>> {
        let (pool, exclusive) = (Arc::clone(self), lease.pool().cloned());
        let (sender, opened) = oneshot::channel();
        tokio::spawn(async move {
            if let Err(Ok(connection)) = sender.send(pool.open().await)
                && let Some(exclusive) = exclusive
            {
                exclusive.adopt(connection);
            }
        });
        opened.await.map_err(|_| Kind::Abandoned)?
    }

    /// For the status.
    pub(super) fn usage(&self) -> Usage {
        let state = lock(&self.state);
        let open = || state.open.iter().filter(|connection| !connection.is_closed());
        let shared = Usage {
            connections: open().count(),
            busy: open().filter(|connection| connection.in_flight() > 0).count(),
            waiting: state.waiters.iter().filter(|waiting| !waiting.is_canceled()).count(),
        };
        shared.plus(self.writes.usage()).plus(self.transactions.usage())
    }
}

impl PerProcess {
    /// What was written on this connection is committed, or is `in_doubt`: then PostgreSQL may hang, and commit it when
    /// it goes on.
    pub(super) async fn announce_written(
        self: &Arc<Self>,
        on: Arc<Connection>,
        tables: Vec<&'static str>,
        in_doubt: bool,
    ) {
        if in_doubt && !tables.is_empty() && !on.is_closed() {
            let (shared, tables) = (Arc::clone(self), tables.clone());
            tokio::spawn(async move {
                on.settled().await;
                shared.announce(tables).await;
            });
        }
        self.announce(tables).await;
    }
}

impl State {
    /// The shared connection with the fewest statements in flight, and how many.
    fn best(&mut self) -> Option<(Arc<Connection>, usize)> {
        self.open.retain(|connection| !connection.is_retired());
        let all = self.open.iter().map(|connection| (connection, connection.in_flight()));
        all.min_by_key(|(_, in_flight)| *in_flight).map(|(best, in_flight)| (Arc::clone(best), in_flight))
    }

    /// Why no connection is attempted now.
    fn unreachable_reason(&self) -> Option<String> {
        ReconnectDelay::reason(self.delay.as_ref())
    }
}

impl ReconnectDelay {
    /// Why no connection is attempted now, if so.
    pub(super) fn reason(delay: Option<&Self>) -> Option<String> {
        delay.filter(|delay| Instant::now() < delay.until).map(|delay| delay.reason.clone())
    }

    /// Several attempts at once make it no longer.
    pub(super) fn after(last: Option<Self>, reason: String) -> Self {
        let last = match last {
            Some(last) if Instant::now() < last.until => return last,
            last => last,
        };
        let length = last.map_or(FIRST_DELAY, |last| (last.length * 2).min(LONGEST_DELAY));
        Self { until: Instant::now() + length, length, reason }
    }
}

/// A shared connection is being opened. If the runtime ends, it is not any more, and the thread may start another
/// runtime.
struct Opening(Arc<Pool>);

impl Drop for Opening {
    fn drop(&mut self) {
        // Not under the lock, which may be held where a runtime drops what it is given.
        self.0.opening.fetch_sub(1, Ordering::Relaxed);
    }
}

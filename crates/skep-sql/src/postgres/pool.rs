//! The connections of one thread: some that all its requests share, and some that one holder has for itself.
//!
//! Only reads share connections. A statement that may wait for locks has one for itself: who holds such a lock may be
//! about to read, and must not be behind it.
//!
//! They are opened when they are needed, so none is from before a fork. While PostgreSQL cannot be reached, statements
//! fail at once, and a connection is tried again after a while that grows.
//!
//! Start reading at [`Pool::ask`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use skep_sql_lock::text::Effect;
use skep_units::lock;

use super::super::dependencies::Writes;
use super::super::error::{Error, Kind, Result};
use super::super::value::Value;
use super::Shared;
use super::connection::{BEHIND_OTHERS, ByText, Connection, Job, Nature, Outcome};
use super::failure::{no_connection, unreachable};
use super::flight::Care;
use super::lease::{Lease, Places, StreamPlace};
use super::listen::{Listener, Notifications};
use super::replica::Written;
use super::status::Usage;
use super::verb::{Answer, Verb};
use crate::sqlite::connection::LONGEST_KEPT;

/// How long nothing is tried after a first failure to connect, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How often a statement is run again that was not at fault.
const TRIES: usize = 4;

pub(crate) struct Pool {
    pub(super) shared: Arc<Shared>,
    /// The connections of this thread to the replica.
    pub(crate) replica: Option<Arc<Self>>,
    state: Mutex<State>,
    /// How many more shared connections are on the way.
    opening: AtomicUsize,
    /// For statements that may wait, each of which is a transaction of its own.
    writes: Arc<Places>,
    /// For transactions of several statements, and for streams.
    transactions: Arc<Places>,
    listener: Arc<Listener>,
}

#[derive(Default)]
struct State {
    /// Those that all reads share.
    open: Vec<Arc<Connection>>,
    /// Who waits until the first one is open.
    hopeful: Vec<oneshot::Sender<Result<(), String>>>,
    pause: Option<Pause>,
    /// Of the statements that were asked before.
    natures: ByText<Box<str>, Nature>,
}

/// PostgreSQL could not be reached.
#[derive(Clone)]
pub(super) struct Pause {
    pub(super) until: Instant,
    length: Duration,
    reason: String,
}

enum Turn {
    Now(Arc<Connection>),
    Later(oneshot::Receiver<Result<(), String>>),
}

impl Pool {
    pub(super) fn new(shared: Arc<Shared>) -> Arc<Self> {
        let options = &shared.options;
        let writes = Places::new(options.connections / 2, options.waiting);
        let transactions = Places::new(options.transactions, options.waiting);
        let replica = shared.replica.as_ref().map(|replica| replica.shared.pool());
        let (state, opening, listener) = Default::default();
        Arc::new(Self { shared, replica, state, opening, writes, transactions, listener })
    }

    /// What is said on this channel from now on.
    pub(crate) async fn listen(&self, channel: &str) -> Result<Notifications> {
        self.listener.listen(&self.shared, channel).await
    }

    /// Runs a statement beside those of other requests. What it may have changed, `writes` says; how far the log is
    /// then, `written`.
    pub(crate) async fn ask<R: Send + 'static>(
        self: &Arc<Self>,
        mut job: Job<'_>,
        verb: Verb<R>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<R> {
        let nature = self.nature(&job);
        if nature.only_reads() {
            let answer = self.answer(&mut job, (verb.rows, verb.bytes)).await?;
            return (verb.finish)(answer).map_err(|error| error.of(&job.text));
        }
        // Values may be large, and are not copied for each try.
        let job = Arc::new(job.into_owned());
        let care = if nature.effect == Effect::Reads || job.is_of_guest { Care::Cancel } else { Care::Finish };
        // What makes rows of the answer is the application's. Should it panic, all is done that a write leads to.
        let unread = Verb { rows: verb.rows, bytes: verb.bytes, finish: Ok };
        let mut tries = 0;
        loop {
            tries += 1;
            // In a box, or each read would have room for it.
            match Box::pin(self.write(Arc::clone(&job), care, unread, writes, written.clone())).await {
                Err(error) if tries < TRIES && error.is_stale() => self.forget(),
                answer => return (verb.finish)(answer?).map_err(|error| error.of(&job.text)),
            }
        }
    }

    /// What PostgreSQL answers to a read, on a connection that all share. Only what it is asked goes on without the
    /// request, and is copied.
    async fn answer(self: &Arc<Self>, job: &mut Job<'_>, wants: (usize, usize)) -> Result<Answer> {
        let mut values: Vec<_> = std::mem::take(&mut job.values).into_iter().map(Value::into_owned).collect();
        let mut tries = 0;
        loop {
            tries += 1;
            let connection = self.connection().await?;
            let (used, statement) = (Arc::clone(&connection), connection.to_read(job));
            let work = connection.to_end(Care::Cancel, |sent| async move {
                let answer = used.read(statement, &values, wants).await;
                let was_hit = answer.as_ref().is_err_and(|error| error.is_timeout() && sent.may_be_hit());
                (answer, was_hit, values)
            });
            let done = tokio::time::timeout(self.limit().saturating_add(BEHIND_OTHERS), work).await;
            let (answer, was_hit, given_back) = done.map_err(|_| no_connection(self.limit()))?;
            values = given_back;
            let is_stale = answer.as_ref().is_err_and(Error::is_stale);
            if is_stale {
                self.forget();
            }
            if tries == TRIES || !(is_stale || was_hit) {
                return answer.map_err(|error| error.of(&job.text).with_values(values.len()));
            }
        }
    }

    /// Runs what may wait for locks, on a connection of its own.
    async fn write(
        self: &Arc<Self>,
        job: Arc<Job<'static>>,
        care: Care,
        verb: Verb<Answer>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<Answer> {
        let lease = self.lease_for_write().await?;
        let connection = Arc::clone(lease.connection()?);
        let (pool, used) = (Arc::clone(self), Arc::clone(&connection));
        let answer = connection.to_end(care, |sent| async move {
            let Outcome { value, has_changed } = used.run(&job, verb).await;
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

    pub(super) fn nature(&self, job: &Job<'_>) -> Nature {
        let natures = &mut lock(&self.state).natures;
        if let Some(known) = natures.get(&*job.text) {
            return known.of(job);
        }
        let nature = Nature::read(job);
        if job.text.len() <= LONGEST_KEPT {
            // A program that puts its texts together may have more than fit: then all are forgotten and read again.
            if natures.len() >= self.shared.options.statements {
                natures.clear();
            }
            natures.insert((*job.text).into(), nature);
        }
        nature.of(job)
    }

    /// What was prepared does not fit the tables any more. The other statements for these tables would find out one by
    /// one.
    pub(super) fn forget(&self) {
        lock(&self.state).open.iter().for_each(|connection| connection.forget());
        self.writes.forget();
        self.transactions.forget();
    }

    /// What `waiting` gives, unless it takes as long as no statement may.
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
            match self.turn()? {
                Turn::Now(connection) => return Ok(connection),
                Turn::Later(opened) => {
                    let opened = async { opened.await.map_err(|_| Kind::Abandoned.into()) };
                    self.in_time(opened).await?.map_err(unreachable)?;
                }
            }
        }
    }

    fn turn(self: &Arc<Self>) -> Result<Turn> {
        let mut state = lock(&self.state);
        let is_opening = self.opening.load(Ordering::Relaxed) > 0;
        let Some((best, in_flight)) = state.best() else {
            if !is_opening {
                if let Some(reason) = state.paused() {
                    return Err(unreachable(reason));
                }
                self.open_another();
            }
            let (sender, receiver) = oneshot::channel();
            state.hopeful.push(sender);
            return Ok(Turn::Later(receiver));
        };
        if in_flight > 0 && !is_opening && state.open.len() < self.most() && state.paused().is_none() {
            self.open_another();
        }
        Ok(Turn::Now(best))
    }

    /// How many connections are shared; those of writes are the others.
    fn most(&self) -> usize {
        self.shared.options.connections.div_ceil(2)
    }

    /// Whether a connection is open. If not, one is opened for later.
    pub(super) fn is_ready(self: &Arc<Self>) -> bool {
        matches!(self.turn(), Ok(Turn::Now(_)))
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
            for waiting in state.hopeful.drain(..) {
                _ = waiting.send(result.clone());
            }
        });
    }

    async fn open(&self) -> Result<Arc<Connection>> {
        let opened = Connection::open(&self.shared, self.shared.options.statement_timeout).await;
        let mut state = lock(&self.state);
        state.pause = match &opened {
            Ok(_) => None,
            Err(error) => Some(Pause::after(state.pause.take(), error.reason())),
        };
        opened
    }

    /// Waits for a connection for a transaction.
    pub(super) async fn lease_for_transaction(self: &Arc<Self>) -> Result<Lease> {
        let leased = async {
            let mut lease = self.transactions.take()?.get().await?;
            self.fill(&mut lease).await?;
            Ok(lease)
        };
        self.in_time(leased).await
    }

    /// A connection for a stream. Their number is limited for the process, and none waits: it is a client that decides
    /// how long one takes.
    pub(super) async fn lease_for_stream(self: &Arc<Self>) -> Result<Lease> {
        let mut lease = self.transactions.beside(StreamPlace::take(&self.shared)?);
        self.in_time(self.fill(&mut lease)).await?;
        Ok(lease)
    }

    /// The same for a write. While no more can be opened, those that there are will do: none is held for long.
    async fn lease_for_write(self: &Arc<Self>) -> Result<Lease> {
        let leased = async {
            let mut lease = self.writes.take()?.get().await?;
            let Err(error) = self.fill(&mut lease).await else { return Ok(lease) };
            drop(lease);
            let Some(place) = self.writes.take_open()? else { return Err(error) };
            let mut lease = place.get().await?;
            self.fill(&mut lease).await?;
            Ok(lease)
        };
        self.in_time(leased).await
    }

    /// Sees to a connection in it.
    async fn fill(self: &Arc<Self>, lease: &mut Lease) -> Result<()> {
        if !lease.is_empty() {
            return Ok(());
        }
        let paused = lock(&self.state).paused();
        lease.fill(match paused {
            Some(reason) => Err(unreachable(reason)),
            None => self.open_for(lease).await,
        })
    }

    /// In a task of its own, so that it comes about also if it takes longer than the request may wait.
    async fn open_for(self: &Arc<Self>, lease: &Lease) -> Result<Arc<Connection>> {
        let (pool, places) = (Arc::clone(self), lease.places());
        let (sender, opened) = oneshot::channel();
        tokio::spawn(async move {
            if let Err(Ok(connection)) = sender.send(pool.open().await)
                && let Some(places) = places
            {
                places.adopt(connection);
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
            waiting: state.hopeful.iter().filter(|waiting| !waiting.is_canceled()).count(),
        };
        shared.plus(self.writes.usage()).plus(self.transactions.usage())
    }
}

impl Shared {
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

    /// Why nothing is tried now.
    fn paused(&self) -> Option<String> {
        Pause::reason(self.pause.as_ref())
    }
}

impl Pause {
    /// Why nothing is tried now, if so.
    pub(super) fn reason(pause: Option<&Self>) -> Option<String> {
        pause.filter(|pause| Instant::now() < pause.until).map(|pause| pause.reason.clone())
    }

    /// Several that were tried at once make it no longer.
    pub(super) fn after(last: Option<Self>, reason: String) -> Self {
        let last = match last {
            Some(last) if Instant::now() < last.until => return last,
            last => last,
        };
        let length = last.map_or(FIRST_PAUSE, |last| (last.length * 2).min(LONGEST_PAUSE));
        Self { until: Instant::now() + length, length, reason }
    }
}

/// A shared connection is on the way. It is not any more if the runtime ends, which another one may follow on the
/// thread.
struct Opening(Arc<Pool>);

impl Drop for Opening {
    fn drop(&mut self) {
        // Not under the lock, which may be held where a runtime drops what it is given.
        self.0.opening.fetch_sub(1, Ordering::Relaxed);
    }
}

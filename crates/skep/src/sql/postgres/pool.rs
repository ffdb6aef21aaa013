//! The connections of one thread: some that all its requests share, and some that a transaction or a stream has for itself.
//!
//! Statements that may wait for locks share no connection with others: who holds such a lock may be about to read here. One connection is left
//! to reads.
//!
//! They are opened when they are needed, so none is from before a fork. While PostgreSQL cannot be reached, statements fail at once, and a
//! connection is tried again after a while that grows.
//!
//! Start reading at [`Pool::ask`].

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use skep_sql_lock::text::Effect;
use tokio::sync::Semaphore;

use super::super::dependencies::Writes;
use super::super::error::{Kind, Result};
use super::Shared;
use super::connection::{Connection, Job, Nature, Outcome};
use super::failure::{no_connection, unreachable};
use super::flight::Care;
use super::listen::{Listener, Notifications};
use super::replica::Written;
use super::status::Usage;
use super::verb::Verb;

/// How long nothing is tried after a first failure to connect, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How much longer a read may take than PostgreSQL allows it, which counts from its beginning: what is before it on its connection takes time,
/// too.
const BEHIND_OTHERS: Duration = Duration::from_millis(500);

/// How often a statement is run again that was not at fault.
const TRIES: usize = 4;

pub(in crate::sql) struct Pool {
    pub(super) shared: Arc<Shared>,
    /// The connections of this thread to the replica.
    pub(in crate::sql) replica: Option<Arc<Self>>,
    state: Mutex<State>,
    /// How many more shared connections are on the way.
    opening: AtomicUsize,
    /// For what may wait: one connection fewer than all share.
    may_wait: Arc<Semaphore>,
    listener: Arc<Listener>,
}

#[derive(Default)]
struct State {
    /// Those that all share.
    open: Vec<Arc<Connection>>,
    /// Who waits until one is opened, or a write on one of them has ended.
    hopeful: Vec<oneshot::Sender<Result<(), String>>>,
    /// Those for one holder each, and how many are held.
    idle: Vec<Arc<Connection>>,
    held: usize,
    waiting: VecDeque<oneshot::Sender<Lease>>,
    pause: Option<Pause>,
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

enum Place {
    Now(Lease),
    Later(oneshot::Receiver<Lease>),
}

impl Pool {
    pub(super) fn new(shared: Arc<Shared>) -> Arc<Self> {
        let may_wait = Arc::new(Semaphore::new(shared.options.connections.max(2) - 1));
        let replica = shared.replica.as_ref().map(|replica| replica.shared.pool());
        let (state, opening, listener) = Default::default();
        Arc::new(Self { shared, replica, state, opening, may_wait, listener })
    }

    /// What is said on this channel from now on.
    pub(in crate::sql) async fn listen(&self, channel: &str) -> Result<Notifications> {
        self.listener.listen(&self.shared, channel).await
    }

    /// Runs a statement beside those of other requests. What it may have changed, `writes` says; how far the log is then, `written`.
    pub(in crate::sql) async fn ask<R: Send + 'static>(
        self: &Arc<Self>,
        job: Job<'_>,
        verb: Verb<R>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<R> {
        let nature = self.nature(&job);
        // Values may be large, and are not copied for each try.
        let job = Arc::new(job.into_owned());
        let mut tries = 0;
        loop {
            tries += 1;
            let (result, may_be_hit) = self.run_to_end(Arc::clone(&job), nature, verb, writes, written.clone()).await?;
            match result {
                Err(error) if tries < TRIES && error.is_stale() => self.forget(),
                // Nothing of it was done, unless it commits on the way.
                Err(error) if tries < TRIES && may_be_hit && error.is_timeout() && nature.effect != Effect::Writes => {}
                result => return result,
            }
        }
    }

    /// Runs it once. True: a request to cancel may have hit it that was meant for another one.
    async fn run_to_end<R: Send + 'static>(
        self: &Arc<Self>,
        job: Arc<Job<'static>>,
        nature: Nature,
        verb: Verb<R>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<(Result<R>, bool)> {
        let care = Care { may_wait: nature.may_wait, is_cancelled: nature.effect == Effect::Reads || job.is_of_guest };
        let permit =
            if care.may_wait { Some(self.in_time(Arc::clone(&self.may_wait).acquire_owned()).await?) } else { None };
        let connection = self.connection().await?;
        let (pool, used) = (Arc::clone(self), Arc::clone(&connection));
        let answer = connection.to_end(care, |sent| async move {
            if care.may_wait {
                sent.first().await;
            }
            let Outcome { value, has_changed } = used.run(&job, verb).await;
            let may_be_hit = sent.may_be_hit();
            if let Some(written) = written.filter(|_| has_changed) {
                written.note(&used).await;
            }
            // Others need not wait for caches.
            drop(sent);
            if permit.is_some() {
                drop(permit);
                pool.state().wake(&Ok(()));
            }
            if has_changed {
                pool.shared.announce(writes.tables()).await;
            }
            (value, may_be_hit)
        });
        if care.is_cancelled {
            let answer = tokio::time::timeout(self.limit().saturating_add(BEHIND_OTHERS), answer);
            answer.await.map_err(|_| no_connection(self.limit()))
        } else {
            Ok(answer.await)
        }
    }

    pub(super) fn nature(&self, job: &Job<'_>) -> Nature {
        let known = self.state().open.iter().find_map(|connection| connection.known(job));
        known.unwrap_or_else(|| Nature::read(job))
    }

    /// What was prepared does not fit the tables any more. The other statements for these tables would find out one by one.
    pub(super) fn forget(&self) {
        let state = self.state();
        state.open.iter().chain(&state.idle).for_each(|connection| connection.forget());
    }

    /// What `waiting` gives, unless it takes as long as no statement may.
    async fn in_time<T, E>(&self, waiting: impl Future<Output = Result<T, E>>) -> Result<T> {
        let waited = tokio::time::timeout(self.limit(), waiting).await;
        waited.map_err(|_| no_connection(self.limit()))?.map_err(|_| Kind::Abandoned.into())
    }

    fn limit(&self) -> Duration {
        let limit = self.shared.options.statement_timeout;
        // Zero is no limit.
        if limit.is_zero() { Duration::MAX } else { limit }
    }

    /// The one of the shared connections with the fewest statements in it, none of which may wait. If it has any, another one is opened for
    /// later.
    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>> {
        loop {
            match self.turn()? {
                Turn::Now(connection) => return Ok(connection),
                Turn::Later(opened) => self.in_time(opened).await?.map_err(unreachable)?,
            }
        }
    }

    fn turn(self: &Arc<Self>) -> Result<Turn> {
        let mut state = self.state();
        let opening = self.opening.load(Ordering::Relaxed);
        let best = state.best();
        let has_room = state.open.len() + opening < self.shared.options.connections.max(2);
        let paused = state.paused();
        let Some((best, in_flight)) = best else {
            match paused {
                // A write ends.
                Some(_) if !state.open.is_empty() => {}
                Some(reason) if opening == 0 => return Err(unreachable(reason)),
                _ if opening == 0 => self.open_another(),
                _ => {}
            }
            let (sender, receiver) = oneshot::channel();
            state.hopeful.push(sender);
            return Ok(Turn::Later(receiver));
        };
        if in_flight > 0 && has_room && opening == 0 && paused.is_none() {
            self.open_another();
        }
        Ok(Turn::Now(best))
    }

    /// Whether a connection is open. If not, one is opened for later.
    pub(super) fn is_ready(self: &Arc<Self>) -> bool {
        let mut state = self.state();
        state.open.retain(|connection| !connection.is_retired());
        if state.open.is_empty() && self.opening.load(Ordering::Relaxed) == 0 && state.paused().is_none() {
            self.open_another();
        }
        !state.open.is_empty()
    }

    /// In a task of its own, so that it comes about also if the request ends.
    fn open_another(self: &Arc<Self>) {
        self.opening.fetch_add(1, Ordering::Relaxed);
        let opening = Opening(Arc::clone(self));
        tokio::spawn(async move {
            let pool = Arc::clone(&opening.0);
            let opened = pool.open().await;
            drop(opening);
            let mut state = pool.state();
            match opened {
                Ok(connection) => {
                    state.open.push(connection);
                    state.wake(&Ok(()));
                }
                // A write ends on another one.
                Err(_) if state.open.iter().any(|connection| !connection.is_retired()) => {}
                Err(error) => state.wake(&Err(error.reason())),
            }
        });
    }

    async fn open(&self) -> Result<Arc<Connection>> {
        let opened = Connection::open(&self.shared, self.shared.options.statement_timeout.as_millis()).await;
        let mut state = self.state();
        state.pause = match &opened {
            Ok(_) => None,
            Err(error) => Some(Pause::after(state.pause.take(), error.reason())),
        };
        opened
    }

    /// Waits for a connection that nobody else uses.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        let mut lease = match self.place()? {
            Place::Now(lease) => lease,
            Place::Later(freed) => self.in_time(freed).await?,
        };
        self.fill(&mut lease).await?;
        Ok(lease)
    }

    /// A connection for a stream. Their number is limited for the process, and none waits: it is a client that decides how long one takes.
    pub(super) async fn lease_for_stream(self: &Arc<Self>) -> Result<Lease> {
        let place = StreamPlace::take(&self.shared)?;
        let connection = self.state().idle.pop();
        let mut lease = Lease { connection, is_clean: true, pool: Some(Arc::clone(self)), stream: Some(place) };
        self.fill(&mut lease).await?;
        Ok(lease)
    }

    /// Sees to a connection in it.
    async fn fill(&self, lease: &mut Lease) -> Result<()> {
        if lease.connection.as_ref().is_none_or(|connection| connection.is_retired()) {
            let paused = self.state().paused();
            if let Some(reason) = paused {
                return Err(unreachable(reason));
            }
            lease.connection = Some(self.open().await?);
        }
        Ok(())
    }

    /// One of the places for connections that are not shared. There may be no connection in it yet.
    fn place(self: &Arc<Self>) -> Result<Place> {
        let mut state = self.state();
        if state.held >= self.shared.options.transactions {
            return state.wait(self.shared.options.waiting).map(Place::Later);
        }
        state.idle.retain(|connection| !connection.is_retired());
        state.held += 1;
        let connection = state.idle.pop();
        Ok(Place::Now(Lease { connection, is_clean: true, pool: Some(Arc::clone(self)), stream: None }))
    }

    /// Hands it to the one who waited longest, if anybody waits. That of a stream has no place that could be handed on.
    fn give_back(self: Arc<Self>, mut connection: Option<Arc<Connection>>, stream: Option<StreamPlace>) {
        if stream.is_some() {
            self.state().keep(connection, self.shared.options.transactions);
            return;
        }
        loop {
            let mut state = self.state();
            let Some(next) = state.waiting.pop_front() else {
                state.held -= 1;
                state.keep(connection, self.shared.options.transactions);
                return;
            };
            drop(state);
            match next.send(Lease { connection, is_clean: true, pool: Some(Arc::clone(&self)), stream: None }) {
                Ok(()) => return,
                // Who waited has left.
                Err(mut lease) => {
                    lease.pool = None;
                    connection = lease.connection.take();
                }
            }
        }
    }

    /// For the status.
    pub(super) fn usage(&self) -> Usage {
        let state = self.state();
        let is_open = |connection: &&Arc<Connection>| !connection.is_closed();
        let open = || state.open.iter().filter(is_open);
        let in_use = open().filter(|connection| connection.in_flight() > 0).count();
        let hopeful = state.hopeful.iter().filter(|waiting| !waiting.is_canceled()).count();
        let waiting = state.waiting.iter().filter(|waiting| !waiting.is_canceled()).count();
        Usage {
            connections: open().count() + state.idle.iter().filter(is_open).count() + state.held,
            busy: in_use + state.held,
            waiting: hopeful + waiting,
        }
    }

    // Nothing that is done under this lock can panic half-way.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The shared connection with the fewest statements in flight, and how many, of those in which none may wait.
    fn best(&mut self) -> Option<(Arc<Connection>, usize)> {
        self.open.retain(|connection| !connection.is_retired());
        let free = self.open.iter().filter_map(|connection| Some((connection, connection.in_flight_before_next()?)));
        free.min_by_key(|(_, in_flight)| *in_flight).map(|(best, in_flight)| (Arc::clone(best), in_flight))
    }

    /// Why nothing is tried now.
    fn paused(&self) -> Option<String> {
        Pause::reason(self.pause.as_ref())
    }

    /// There may be a connection now for those who wait for a shared one.
    fn wake(&mut self, result: &Result<(), String>) {
        for waiting in self.hopeful.drain(..) {
            _ = waiting.send(result.clone());
        }
    }

    /// Keeps it for the next one, unless there are as many as there may be.
    fn keep(&mut self, connection: Option<Arc<Connection>>, most: usize) {
        if self.idle.len() + self.held < most {
            self.idle.extend(connection);
        }
    }

    fn wait(&mut self, limit: usize) -> Result<oneshot::Receiver<Lease>> {
        if self.waiting.len() >= limit {
            self.waiting.retain(|waiting| !waiting.is_canceled());
        }
        if self.waiting.len() >= limit {
            return Err(Kind::QueueFull { limit }.into());
        }
        let (sender, receiver) = oneshot::channel();
        self.waiting.push_back(sender);
        Ok(receiver)
    }
}

impl Pause {
    /// Why nothing is tried now, if so.
    pub(super) fn reason(pause: Option<&Self>) -> Option<String> {
        pause.filter(|pause| Instant::now() < pause.until).map(|pause| pause.reason.clone())
    }

    pub(super) fn after(last: Option<Self>, reason: String) -> Self {
        let length = last.map_or(FIRST_PAUSE, |last| (last.length * 2).min(LONGEST_PAUSE));
        Self { until: Instant::now() + length, length, reason }
    }
}

/// A shared connection is on the way. It is not any more if the runtime ends, which another one may follow on the thread.
struct Opening(Arc<Pool>);

impl Drop for Opening {
    fn drop(&mut self) {
        // Not under the lock, which may be held where a runtime drops what it is given.
        self.0.opening.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that nobody else uses.
pub(super) struct Lease {
    connection: Option<Arc<Connection>>,
    /// No transaction is open on it.
    is_clean: bool,
    /// Nobody, if the connection went elsewhere.
    pool: Option<Arc<Pool>>,
    /// It is for a stream.
    stream: Option<StreamPlace>,
}

/// One of the streams that there may be.
struct StreamPlace(Arc<Shared>);

impl StreamPlace {
    fn take(shared: &Arc<Shared>) -> Result<Self> {
        let place = Self(Arc::clone(shared));
        let limit = shared.options.streams;
        if shared.streams.fetch_add(1, Ordering::Relaxed) >= limit {
            return Err(Kind::TooManyStreams { limit }.into());
        }
        Ok(place)
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lease {
    pub(super) fn connection(&self) -> Result<&Arc<Connection>> {
        self.connection.as_ref().ok_or_else(|| Kind::Abandoned.into())
    }

    /// Notes whether a transaction is open on it.
    pub(super) fn set_clean(&mut self, is_clean: bool) {
        self.is_clean = is_clean;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else { return };
        let connection = self.connection.take().filter(|connection| !connection.is_retired());
        let stream = self.stream.take();
        let runtime = tokio::runtime::Handle::try_current();
        match (connection, runtime) {
            (Some(connection), Ok(runtime)) if !self.is_clean => {
                // One that cannot be rolled back is closed, which does the same.
                _ = runtime.spawn(async move {
                    let undone = connection.batch("rollback").await;
                    connection.end_transaction();
                    pool.give_back(undone.is_ok().then_some(connection), stream);
                });
            }
            (connection, _) => pool.give_back(connection.filter(|_| self.is_clean), stream),
        }
    }
}

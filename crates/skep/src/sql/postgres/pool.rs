//! The connections of one thread: some that all its requests share, and some that a transaction or a stream has for itself.
//!
//! They are opened when they are needed, so none is from before a fork. While PostgreSQL cannot be reached, statements fail at once, and a
//! connection is tried again after a while that grows.
//!
//! Start reading at [`Pool::ask`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_channel::oneshot;

use super::super::error::{Kind, Result};
use super::Shared;
use super::connection::{Connection, Job, Outcome};
use super::failure::unreachable;
use super::status::Usage;
use super::verb::Verb;

/// How long nothing is tried after a first failure to connect, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How often a statement is run again that was not at fault.
const TRIES: usize = 4;

pub(in crate::sql) struct Pool {
    pub(super) shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Those that all share.
    open: Vec<Arc<Connection>>,
    /// How many more of them are on the way.
    opening: usize,
    /// Who waits for the first one.
    hopeful: Vec<oneshot::Sender<Result<(), String>>>,
    /// Those for one holder each, and how many are held.
    idle: Vec<Arc<Connection>>,
    held: usize,
    waiting: VecDeque<oneshot::Sender<Lease>>,
    pause: Option<Pause>,
}

/// PostgreSQL could not be reached.
#[derive(Clone)]
struct Pause {
    until: Instant,
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
        Arc::new(Self { shared, state: Mutex::default() })
    }

    /// Runs a statement beside those of other requests. What it may have changed are these tables.
    pub(in crate::sql) async fn ask<R: Send + 'static>(
        self: &Arc<Self>,
        job: Job,
        verb: Verb<R>,
        tables: Vec<&'static str>,
    ) -> Result<R> {
        let mut tries = 0;
        loop {
            tries += 1;
            let connection = self.connection().await?;
            let (shared, job, tables, used) =
                (Arc::clone(&self.shared), job.clone(), tables.clone(), Arc::clone(&connection));
            let text = Arc::clone(&job.text);
            let work = async move {
                let Outcome { value, has_changed } = used.run(&job, verb).await;
                if has_changed {
                    shared.announce(tables).await;
                }
                value
            };
            let (result, may_be_hit): (Result<R>, _) = connection.to_end(&text, work).await;
            match result {
                Err(error) if tries < TRIES && (error.is_stale() || may_be_hit && error.is_timeout()) => {}
                result => return result,
            }
        }
    }

    /// The one of the shared connections with the fewest statements in it. If it has any, another one is opened for later.
    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>> {
        loop {
            match self.turn()? {
                Turn::Now(connection) => return Ok(connection),
                Turn::Later(opened) => match opened.await {
                    Ok(Ok(())) => {}
                    Ok(Err(reason)) => return Err(unreachable(reason)),
                    Err(oneshot::Canceled) => return Err(Kind::Abandoned.into()),
                },
            }
        }
    }

    fn turn(self: &Arc<Self>) -> Result<Turn> {
        let mut state = self.state();
        state.open.retain(|connection| !connection.is_closed());
        let best = state.open.iter().min_by_key(|connection| connection.in_flight()).cloned();
        let is_busy = best.as_ref().is_none_or(|connection| connection.in_flight() > 0);
        let has_room = state.open.len() + state.opening < self.shared.options.connections;
        let paused = state.paused();
        let Some(best) = best else {
            if state.opening == 0 {
                if let Some(reason) = paused {
                    return Err(unreachable(reason));
                }
                self.open_another(&mut state);
            }
            let (sender, receiver) = oneshot::channel();
            state.hopeful.push(sender);
            return Ok(Turn::Later(receiver));
        };
        if is_busy && has_room && state.opening == 0 && paused.is_none() {
            self.open_another(&mut state);
        }
        Ok(Turn::Now(best))
    }

    /// In a task of its own, so that it comes about also if the request ends.
    fn open_another(self: &Arc<Self>, state: &mut State) {
        state.opening += 1;
        let pool = Arc::clone(self);
        tokio::spawn(async move {
            let opened = pool.open().await;
            let mut state = pool.state();
            state.opening -= 1;
            let result = match opened {
                Ok(connection) => {
                    state.open.push(connection);
                    Ok(())
                }
                Err(error) => Err(error.reason()),
            };
            let hopeful = std::mem::take(&mut state.hopeful);
            drop(state);
            for waiting in hopeful {
                _ = waiting.send(result.clone());
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
            Place::Later(freed) => freed.await.map_err(|oneshot::Canceled| Kind::Abandoned)?,
        };
        if lease.connection.as_ref().is_none_or(|connection| connection.is_closed()) {
            let paused = self.state().paused();
            if let Some(reason) = paused {
                return Err(unreachable(reason));
            }
            lease.connection = Some(self.open().await?);
        }
        Ok(lease)
    }

    /// One of the places for connections that are not shared. There may be no connection in it yet.
    fn place(self: &Arc<Self>) -> Result<Place> {
        let mut state = self.state();
        if state.held >= self.shared.options.transactions {
            return state.wait(self.shared.options.waiting).map(Place::Later);
        }
        state.idle.retain(|connection| !connection.is_closed());
        state.held += 1;
        let connection = state.idle.pop();
        Ok(Place::Now(Lease { connection, is_clean: true, pool: Some(Arc::clone(self)) }))
    }

    /// Hands it to the one who waited longest, if anybody waits.
    fn give_back(self: Arc<Self>, mut connection: Option<Arc<Connection>>) {
        loop {
            let mut state = self.state();
            let Some(next) = state.waiting.pop_front() else {
                state.held -= 1;
                state.idle.extend(connection);
                return;
            };
            drop(state);
            match next.send(Lease { connection, is_clean: true, pool: Some(Arc::clone(&self)) }) {
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
    /// Why nothing is tried now.
    fn paused(&self) -> Option<String> {
        let pause = self.pause.as_ref()?;
        (Instant::now() < pause.until).then(|| pause.reason.clone())
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
    fn after(last: Option<Self>, reason: String) -> Self {
        let length = last.map_or(FIRST_PAUSE, |last| (last.length * 2).min(LONGEST_PAUSE));
        Self { until: Instant::now() + length, length, reason }
    }
}

/// A connection that nobody else uses.
pub(super) struct Lease {
    connection: Option<Arc<Connection>>,
    /// No transaction is open on it.
    is_clean: bool,
    /// Nobody, if the connection went elsewhere.
    pool: Option<Arc<Pool>>,
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
        let connection = self.connection.take().filter(|connection| !connection.is_closed());
        let runtime = tokio::runtime::Handle::try_current();
        match (connection, runtime) {
            (Some(connection), Ok(runtime)) if !self.is_clean => {
                // One that cannot be rolled back is closed, which does the same.
                _ = runtime.spawn(async move {
                    let undone = connection.batch("rollback").await;
                    pool.give_back(undone.is_ok().then_some(connection));
                });
            }
            (connection, _) => pool.give_back(connection.filter(|_| self.is_clean)),
        }
    }
}

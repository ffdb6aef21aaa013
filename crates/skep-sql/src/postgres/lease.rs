//! Connections that one holder has for itself: a statement that may wait for locks, a transaction, a stream.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use skep_units::lock;

use super::super::error::{Kind, Result};
use super::Shared;
use super::connection::Connection;
use super::status::Usage;

/// As many connections as there may be, of those for one purpose, on one thread.
pub(super) struct Places {
    most: usize,
    /// How many may wait for one.
    most_waiting: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    idle: Vec<Arc<Connection>>,
    held: usize,
    /// In the order in which they came. If anybody waits, somebody holds one.
    waiting: VecDeque<oneshot::Sender<Lease>>,
}

pub(super) enum Place {
    Now(Lease),
    Later(oneshot::Receiver<Lease>),
}

impl Place {
    /// It, once it is free.
    pub(super) async fn get(self) -> Result<Lease> {
        match self {
            Self::Now(lease) => Ok(lease),
            Self::Later(freed) => freed.await.map_err(|_| Kind::Abandoned.into()),
        }
    }
}

impl Places {
    pub(super) fn new(most: usize, most_waiting: usize) -> Arc<Self> {
        Arc::new(Self { most, most_waiting, state: Mutex::default() })
    }

    /// One of them. There may be no connection in it yet.
    pub(super) fn take(self: &Arc<Self>) -> Result<Place> {
        let mut state = lock(&self.state);
        if state.held >= self.most {
            return state.wait(self.most_waiting).map(Place::Later);
        }
        Ok(Place::Now(self.hold(&mut state)))
    }

    /// One with a connection in it, now or once it is given back; none if there is none.
    pub(super) fn take_open(self: &Arc<Self>) -> Result<Option<Place>> {
        let mut state = lock(&self.state);
        state.idle.retain(|connection| !connection.is_retired());
        match (state.idle.is_empty(), state.held) {
            (false, _) => Ok(Some(Place::Now(self.hold(&mut state)))),
            (true, 0) => Ok(None),
            (true, _) => state.wait(self.most_waiting).map(|freed| Some(Place::Later(freed))),
        }
    }

    fn hold(self: &Arc<Self>, state: &mut State) -> Lease {
        state.idle.retain(|connection| !connection.is_retired());
        state.held += 1;
        Lease::of(self, state.idle.pop(), None)
    }

    /// One more than they are, for a stream.
    pub(super) fn beside(self: &Arc<Self>, stream: StreamPlace) -> Lease {
        let connection = lock(&self.state).idle.pop();
        Lease::of(self, connection, Some(stream))
    }

    /// Hands it to the one who waited longest, if anybody waits. That of a stream has no place that could be handed on,
    /// and one that was hopeless is of no use to anybody who may get another.
    fn give_back(
        self: Arc<Self>,
        mut connection: Option<Arc<Connection>>,
        stream: Option<StreamPlace>,
        is_hopeless: bool,
    ) {
        if stream.is_some() {
            return lock(&self.state).keep(connection, self.most);
        }
        loop {
            let mut state = lock(&self.state);
            let next = if is_hopeless && state.held > 1 { None } else { state.waiting.pop_front() };
            let Some(next) = next else {
                state.held -= 1;
                state.keep(connection, self.most);
                return;
            };
            drop(state);
            match next.send(Lease::of(&self, connection, None)) {
                Ok(()) => return,
                // Who waited has left.
                Err(mut lease) => {
                    lease.places = None;
                    connection = lease.connection.take();
                }
            }
        }
    }

    /// Keeps a connection that came too late for the one who wanted it.
    pub(super) fn adopt(&self, connection: Arc<Connection>) {
        lock(&self.state).keep(Some(connection), self.most);
    }

    /// Nothing is prepared any more on those that are idle.
    pub(super) fn forget(&self) {
        lock(&self.state).idle.iter().for_each(|connection| connection.forget());
    }

    pub(super) fn usage(&self) -> Usage {
        let state = lock(&self.state);
        let idle = state.idle.iter().filter(|connection| !connection.is_closed()).count();
        let waiting = state.waiting.iter().filter(|waiting| !waiting.is_canceled()).count();
        Usage { connections: idle + state.held, busy: state.held, waiting }
    }
}

impl State {
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

/// A connection that nobody else uses.
pub(super) struct Lease {
    connection: Option<Arc<Connection>>,
    /// No connection could be opened for it.
    is_hopeless: bool,
    /// A transaction is open on it.
    in_transaction: bool,
    /// Nobody, if the connection went elsewhere.
    places: Option<Arc<Places>>,
    /// It is for a stream.
    stream: Option<StreamPlace>,
}

impl Lease {
    fn of(places: &Arc<Places>, connection: Option<Arc<Connection>>, stream: Option<StreamPlace>) -> Self {
        Self { connection, is_hopeless: false, in_transaction: false, places: Some(Arc::clone(places)), stream }
    }

    pub(super) fn connection(&self) -> Result<&Arc<Connection>> {
        self.connection.as_ref().ok_or_else(|| Kind::Abandoned.into())
    }

    pub(super) fn places(&self) -> Option<Arc<Places>> {
        self.places.clone()
    }

    /// Whether there is no connection in it that could be used.
    pub(super) fn is_empty(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.is_retired())
    }

    /// Notes what came of opening a connection for it.
    pub(super) fn fill(&mut self, opened: Result<Arc<Connection>>) -> Result<()> {
        self.is_hopeless = opened.is_err();
        self.connection = Some(opened?);
        Ok(())
    }

    /// Notes whether a transaction is open on it.
    pub(super) fn set_in_transaction(&mut self, in_transaction: bool) {
        self.in_transaction = in_transaction;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(places) = self.places.take() else { return };
        let connection = self.connection.take().filter(|connection| !connection.is_retired());
        let stream = self.stream.take();
        let runtime = tokio::runtime::Handle::try_current();
        match (connection, runtime) {
            (Some(connection), Ok(runtime)) if self.in_transaction => {
                // One that cannot be rolled back is closed, which does the same.
                _ = runtime.spawn(async move {
                    // What it has set does not matter any more, such as how long statements may take.
                    connection.end_transaction();
                    let undone = connection.batch("rollback").await;
                    places.give_back(undone.is_ok().then_some(connection), stream, false);
                });
            }
            (connection, _) => places.give_back(connection.filter(|_| !self.in_transaction), stream, self.is_hopeless),
        }
    }
}

/// One of the streams that there may be in the process.
pub(super) struct StreamPlace(Arc<Shared>);

impl StreamPlace {
    pub(super) fn take(shared: &Arc<Shared>) -> Result<Self> {
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

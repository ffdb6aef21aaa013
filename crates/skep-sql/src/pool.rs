//! A limited number of connections, and a queue for them: those of SQLite, and those of PostgreSQL that one holder has
//! for itself.
//!
//! A checkout takes a permit, and with it an idle connection, if there is one; otherwise the holder opens it. Waiting
//! blocks no thread: the one who waits longest gets the connection that comes back. A [`Lease`] returns it however its
//! holder ends, with an open transaction rolled back.
//!
//! Start reading at [`Pool::lease`].

#![cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "PostgreSQL is the one that uses all of it"))]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use skep_units::lock;

use super::error::{Kind, Result};

/// A connection of a pool.
pub(crate) trait Pooled: Sized + Send + 'static {
    /// What opens one, if the pool can do that.
    type Opener: Send + Sync;

    /// Whether a next holder can use it.
    fn is_usable(&self) -> bool {
        true
    }

    /// Rolls back what its holder has left open. `then` is given it, unless that failed and it must be closed.
    fn reset(self, then: impl FnOnce(Option<Self>) + Send + 'static);
}

pub(crate) struct Pool<C: Pooled> {
    queue: Mutex<Queue<C>>,
    /// How many permits there are.
    max: usize,
    /// How many may wait for one.
    max_waiting: usize,
    opener: C::Opener,
}

struct Queue<C: Pooled> {
    idle: Vec<C>,
    /// How many permits are held.
    held: usize,
    /// In the order in which they came. While one waits, a permit is held.
    waiters: VecDeque<oneshot::Sender<Lease<C>>>,
}

enum Checkout<C: Pooled> {
    Ready(Lease<C>),
    Queued(oneshot::Receiver<Lease<C>>),
}

impl<C: Pooled> Checkout<C> {
    async fn wait(self) -> Result<Lease<C>> {
        match self {
            Self::Ready(lease) => Ok(lease),
            Self::Queued(lease) => lease.await.map_err(|oneshot::Canceled| Kind::Abandoned.into()),
        }
    }
}

impl<C: Pooled> Pool<C> {
    pub(crate) fn new(idle: Vec<C>, max: usize, max_waiting: usize, opener: C::Opener) -> Arc<Self> {
        let queue = Mutex::new(Queue { idle, held: 0, waiters: VecDeque::new() });
        Arc::new(Self { queue, max, max_waiting, opener })
    }

    /// Waits for a permit. There may be no connection with it yet.
    pub(crate) async fn lease(self: &Arc<Self>) -> Result<Lease<C>> {
        self.checkout()?.wait().await
    }

    /// Waits for an open connection; `None` if all are closed.
    pub(crate) async fn lease_open(self: &Arc<Self>) -> Result<Option<Lease<C>>> {
        match self.checkout_open()? {
            Some(checkout) => checkout.wait().await.map(Some),
            None => Ok(None),
        }
    }

    fn checkout(self: &Arc<Self>) -> Result<Checkout<C>> {
        let mut queue = lock(&self.queue);
        if queue.held >= self.max {
            return queue.wait(self.max_waiting).map(Checkout::Queued);
        }
        Ok(Checkout::Ready(self.hold(&mut queue)))
    }

    fn checkout_open(self: &Arc<Self>) -> Result<Option<Checkout<C>>> {
        let mut queue = lock(&self.queue);
        queue.idle.retain(C::is_usable);
        match (queue.idle.is_empty(), queue.held) {
            (false, _) => Ok(Some(Checkout::Ready(self.hold(&mut queue)))),
            (true, 0) => Ok(None),
            (true, _) => queue.wait(self.max_waiting).map(|lease| Some(Checkout::Queued(lease))),
        }
    }

    fn hold(self: &Arc<Self>, queue: &mut Queue<C>) -> Lease<C> {
        queue.idle.retain(C::is_usable);
        queue.held += 1;
        Lease::of(self, queue.idle.pop(), None)
    }

    /// One more than there are permits of this pool, for the holder of another one.
    pub(crate) fn lease_with(self: &Arc<Self>, permit: Permit) -> Lease<C> {
        let connection = lock(&self.queue).idle.pop();
        Lease::of(self, connection, Some(permit))
    }

    /// Hands a connection to the one who has waited longest. After a failed attempt to open one there is nothing to
    /// hand on: then those who wait get the next that comes back from another holder, if there is another.
    fn give_back(self: Arc<Self>, mut connection: Option<C>, permit: Option<Permit>, connect_failed: bool) {
        if permit.is_some() {
            return lock(&self.queue).keep(connection, self.max);
        }
        loop {
            let mut queue = lock(&self.queue);
            let next = if connect_failed && queue.held > 1 { None } else { queue.waiters.pop_front() };
            let Some(next) = next else {
                queue.held -= 1;
                queue.keep(connection, self.max);
                return;
            };
            drop(queue);
            match next.send(Lease::of(&self, connection, None)) {
                Ok(()) => return,
                // The waiter has left.
                Err(mut lease) => {
                    lease.pool = None;
                    connection = lease.connection.take();
                }
            }
        }
    }

    /// Keeps a connection that was opened too late for its holder.
    pub(crate) fn adopt(&self, connection: C) {
        lock(&self.queue).keep(Some(connection), self.max);
    }

    /// Closes connections that are not in use.
    pub(crate) fn close_idle(&self) {
        lock(&self.queue).idle.clear();
    }

    /// Does something with each connection that is not in use.
    pub(crate) fn each_idle(&self, work: impl FnMut(&C)) {
        lock(&self.queue).idle.iter().for_each(work);
    }

    pub(crate) fn max(&self) -> usize {
        self.max
    }

    pub(crate) fn usage(&self) -> Usage {
        let queue = lock(&self.queue);
        let idle = queue.idle.iter().filter(|connection| connection.is_usable()).count();
        let waiting = queue.waiters.iter().filter(|waiter| !waiter.is_canceled()).count();
        Usage { connections: idle + queue.held, busy: queue.held, waiting }
    }
}

impl<C: Pooled> Queue<C> {
    /// Keeps it for the next holder, unless there are as many as there may be.
    fn keep(&mut self, connection: Option<C>, max: usize) {
        if self.idle.len() + self.held < max {
            self.idle.extend(connection);
        }
    }

    fn wait(&mut self, limit: usize) -> Result<oneshot::Receiver<Lease<C>>> {
        if self.waiters.len() >= limit {
            self.waiters.retain(|waiter| !waiter.is_canceled());
        }
        if self.waiters.len() >= limit {
            return Err(Kind::QueueFull { limit }.into());
        }
        let (sender, receiver) = oneshot::channel();
        self.waiters.push_back(sender);
        Ok(receiver)
    }
}

/// A permit, and the connection that its holder has for itself.
pub(crate) struct Lease<C: Pooled> {
    connection: Option<C>,
    connect_failed: bool,
    /// None if the connection went elsewhere.
    pool: Option<Arc<Pool<C>>>,
    /// In the place of one of the pool.
    permit: Option<Permit>,
}

impl<C: Pooled> Lease<C> {
    fn of(pool: &Arc<Pool<C>>, connection: Option<C>, permit: Option<Permit>) -> Self {
        Self { connection, connect_failed: false, pool: Some(Arc::clone(pool)), permit }
    }

    pub(crate) fn pool(&self) -> Option<&Arc<Pool<C>>> {
        self.pool.as_ref()
    }

    /// The connection, if it is open and can be used.
    pub(crate) fn get(&self) -> Option<&C> {
        self.connection.as_ref().filter(|connection| connection.is_usable())
    }

    pub(crate) fn connection(&self) -> Result<&C> {
        self.connection.as_ref().ok_or_else(|| Kind::Abandoned.into())
    }

    /// Takes what came of opening a connection for it.
    pub(crate) fn fill(&mut self, opened: Result<C>) -> Result<&mut C> {
        self.connect_failed = opened.is_err();
        Ok(self.connection.insert(opened?))
    }

    /// The connection, opened now if it was not yet.
    pub(crate) fn open(&mut self) -> Result<&mut C>
    where
        C::Opener: Fn() -> Result<C>,
    {
        if self.connection.is_none() {
            let pool = self.pool.as_ref().ok_or(Kind::Abandoned)?;
            let opened = (pool.opener)();
            return self.fill(opened);
        }
        self.connection.as_mut().ok_or_else(|| Kind::Abandoned.into())
    }
}

impl<C: Pooled> Drop for Lease<C> {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else { return };
        let (permit, connect_failed) = (self.permit.take(), self.connect_failed);
        let mut ended = EndedLease { pool: Some(pool), permit, connect_failed };
        if let Some(connection) = self.connection.take().filter(C::is_usable) {
            connection.reset(move |connection| ended.give_back(connection));
        }
    }
}

/// What is given back once: without a connection if it is not reset, as where the runtime ends that was to do it.
struct EndedLease<C: Pooled> {
    pool: Option<Arc<Pool<C>>>,
    permit: Option<Permit>,
    connect_failed: bool,
}

impl<C: Pooled> EndedLease<C> {
    fn give_back(&mut self, connection: Option<C>) {
        if let Some(pool) = self.pool.take() {
            pool.give_back(connection, self.permit.take(), self.connect_failed);
        }
    }
}

impl<C: Pooled> Drop for EndedLease<C> {
    fn drop(&mut self) {
        self.give_back(None);
    }
}

/// How many connections a pool has, and who uses them.
#[derive(Default)]
pub(crate) struct Usage {
    /// Those that are open.
    pub(crate) connections: usize,
    /// Those with a holder, or with a statement in flight.
    pub(crate) busy: usize,
    /// How many wait for one.
    pub(crate) waiting: usize,
}

/// The streams that may be open at once in the process.
pub(crate) struct Streams {
    open: AtomicUsize,
    max: usize,
}

impl Streams {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { open: AtomicUsize::new(0), max })
    }

    /// One of them. None waits for it, since clients decide how long one takes.
    pub(crate) fn acquire(self: &Arc<Self>) -> Result<Permit> {
        let more = |open| (open < self.max).then(|| open + 1);
        match self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Permit(Arc::clone(self))),
            Err(_) => Err(Kind::TooManyStreams { limit: self.max }.into()),
        }
    }

    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

/// The right to one stream.
pub(crate) struct Permit(Arc<Streams>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

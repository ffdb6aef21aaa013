//! The connections to one server, pooled for each runtime, behind a circuit breaker.
//!
//! A connection belongs to the tokio runtime that opened it, since only that runtime drives its I/O. A program with a
//! runtime for each core therefore has a few connections for each core, and no request crosses threads.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skep_units::lock;
use tokio::runtime::{Handle, Id};

use crate::breaker::Breaker;
use crate::clock::Clock;

/// A connection that many tasks share.
pub(crate) trait Pooled: Send + Sync {
    /// Whether it can answer no more requests.
    fn is_closed(&self) -> bool;
}

/// How servers are used.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Of a request.
    pub(crate) timeout: Duration,
    pub(crate) connect_timeout: Duration,
    /// To each server from each runtime.
    pub(crate) connections: usize,
    /// The first and the longest pause after a failed attempt to connect.
    pub(crate) backoff: (Duration, Duration),
}

impl Limits {
    /// Which limit is invalid, and what is expected.
    pub(crate) fn check(&self) -> Result<(), String> {
        let &Self { timeout, connect_timeout, connections, backoff: (first, longest) } = self;
        let times =
            [("timeout", timeout), ("connect_timeout", connect_timeout), ("backoff", first), ("backoff", longest)];
        for (name, time) in times {
            if !(Duration::from_millis(1)..=Duration::from_hours(1)).contains(&time) {
                return Err(format!("{name} is {time:?}: expected 1 ms to 1 h"));
            }
        }
        if !(1..=64).contains(&connections) {
            return Err(format!("connections is {connections}: expected 1 to 64"));
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) enum ConnectError<E> {
    NoRuntime,
    BreakerOpen,
    Failed(E),
}

pub(crate) struct Connections<C> {
    /// For logs: "memcached at cache1:11211".
    server: String,
    for_each_runtime: usize,
    pools: Mutex<Vec<(Id, Arc<Pool<C>>)>>,
    breaker: Breaker,
}

struct Pool<C> {
    slots: Box<[Slot<C>]>,
    next: AtomicUsize,
}

struct Slot<C> {
    connection: Mutex<Option<Arc<C>>>,
    /// Held by the one caller that connects.
    connecting: tokio::sync::Mutex<()>,
}

impl<C: Pooled> Connections<C> {
    /// Connects to nothing yet.
    pub(crate) fn new(server: String, limits: &Limits) -> Self {
        let breaker = Breaker::new(1, limits.backoff.0, limits.backoff.1);
        Self { server, for_each_runtime: limits.connections, pools: Mutex::default(), breaker }
    }

    /// Whether the server could not be reached lately.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.breaker.is_open()
    }

    /// A connection believed to be open; `connect` opens one.
    pub(crate) async fn get<E: fmt::Display + Send>(
        &self,
        connect: impl Future<Output = Result<C, E>> + Send,
    ) -> Result<Arc<C>, ConnectError<E>> {
        let runtime = Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        let pool = self.pool(runtime.id());
        let next = if pool.slots.len() > 1 { pool.next.fetch_add(1, Ordering::Relaxed) % pool.slots.len() } else { 0 };
        let slot = &pool.slots[next];
        if let Some(connection) = slot.open() {
            return Ok(connection);
        }
        let _guard = slot.connecting.lock().await;
        if let Some(connection) = slot.open() {
            return Ok(connection);
        }
        let clock = Clock::system();
        if !self.breaker.allows(clock.now()) {
            return Err(ConnectError::BreakerOpen);
        }
        let connection = match connect.await {
            Ok(connection) => Arc::new(connection),
            Err(error) => {
                self.breaker.failed(clock.now());
                tracing::warn!(target: "skep_cache", server = self.server, %error, "server unreachable");
                return Err(ConnectError::Failed(error));
            }
        };
        if self.breaker.succeeded() {
            tracing::info!(target: "skep_cache", server = self.server, "server reachable again");
        }
        *lock(&slot.connection) = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn pool(&self, runtime: Id) -> Arc<Pool<C>> {
        let mut pools = lock(&self.pools);
        if let Some((_, pool)) = pools.iter().find(|(id, _)| *id == runtime) {
            return Arc::clone(pool);
        }
        // Forget the runtimes that stopped, which closed their connections.
        pools.retain(|(_, pool)| pool.slots.iter().any(|slot| slot.open().is_some()));
        let slot = || Slot { connection: Mutex::new(None), connecting: tokio::sync::Mutex::default() };
        let slots = (0..self.for_each_runtime).map(|_| slot()).collect();
        let pool = Arc::new(Pool { slots, next: AtomicUsize::new(0) });
        pools.push((runtime, Arc::clone(&pool)));
        pool
    }
}

impl<C: Pooled> Slot<C> {
    fn open(&self) -> Option<Arc<C>> {
        lock(&self.connection).as_ref().filter(|connection| !connection.is_closed()).map(Arc::clone)
    }
}

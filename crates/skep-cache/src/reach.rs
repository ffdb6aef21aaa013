//! Reaching a server: its connections, and whether it is worth asking.
//!
//! A connection belongs to the runtime that opened it, because only that one moves its bytes; a program with a runtime
//! per core so has a few connections per core, and no request crosses threads. A server that cannot be reached is left
//! out for a while, then one caller tries again for all; each failure doubles the while, up to a limit.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Id};

/// A connection.
pub(crate) trait Link: Send + Sync {
    /// Whether no request will be answered any more.
    fn is_ended(&self) -> bool;
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    /// Connections from each runtime.
    pub(crate) connections: usize,
    /// How long an attempt takes at most; nobody else tries meanwhile.
    pub(crate) attempt: Duration,
    /// How long it is left out after the first failure, and at most.
    pub(crate) left_out: (Duration, Duration),
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Missed<E> {
    NoRuntime,
    /// It was unreachable a moment ago.
    LeftOut,
    Failed(E),
}

/// The way to one server.
pub(crate) struct Reach<L> {
    /// For logs: "memcached at cache1:11211".
    name: String,
    policy: Policy,
    pools: Mutex<Vec<(Id, Arc<Pool<L>>)>>,
    health: Health,
}

/// The connections of one runtime.
struct Pool<L> {
    slots: Box<[Slot<L>]>,
    next: AtomicUsize,
}

struct Slot<L> {
    link: Mutex<Option<Arc<L>>>,
    /// Held by the one caller who connects.
    connecting: tokio::sync::Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<L: Link> Reach<L> {
    pub(crate) fn new(name: String, policy: Policy) -> Self {
        Self { name, policy, pools: Mutex::default(), health: Health::new() }
    }

    /// Whether it is left out at the moment.
    pub(crate) fn is_left_out(&self) -> bool {
        self.health.is_down()
    }

    /// A connection that works, as far as we know; `connect` makes one.
    pub(crate) async fn link<E: fmt::Display + Send>(
        &self,
        connect: impl Future<Output = Result<L, E>> + Send,
    ) -> Result<Arc<L>, Missed<E>> {
        let runtime = Handle::try_current().map_err(|_| Missed::NoRuntime)?;
        let pool = self.pool(runtime.id());
        let turn = if pool.slots.len() > 1 { pool.next.fetch_add(1, Ordering::Relaxed) % pool.slots.len() } else { 0 };
        let slot = &pool.slots[turn];
        if let Some(link) = slot.living() {
            return Ok(link);
        }
        let _alone = slot.connecting.lock().await;
        if let Some(link) = slot.living() {
            return Ok(link);
        }
        if !self.health.may_try(self.policy.attempt) {
            return Err(Missed::LeftOut);
        }
        let link = match connect.await {
            Ok(link) => Arc::new(link),
            Err(failure) => {
                let pause = self.health.failed(self.policy.left_out);
                tracing::warn!(target: "skep_cache", server = self.name, %failure, ?pause, "a server is left out");
                return Err(Missed::Failed(failure));
            }
        };
        if self.health.succeeded() {
            tracing::info!(target: "skep_cache", server = self.name, "a server is back");
        }
        *lock(&slot.link) = Some(Arc::clone(&link));
        Ok(link)
    }

    fn pool(&self, runtime: Id) -> Arc<Pool<L>> {
        let mut pools = lock(&self.pools);
        if let Some((_, pool)) = pools.iter().find(|(id, _)| *id == runtime) {
            return Arc::clone(pool);
        }
        // A runtime that has stopped ended its connections; a new one is a good moment to forget it.
        pools.retain(|(_, pool)| pool.slots.iter().any(|slot| slot.living().is_some()));
        let slot = || Slot { link: Mutex::new(None), connecting: tokio::sync::Mutex::default() };
        let slots = (0..self.policy.connections).map(|_| slot()).collect();
        let pool = Arc::new(Pool { slots, next: AtomicUsize::new(0) });
        pools.push((runtime, Arc::clone(&pool)));
        pool
    }
}

impl<L: Link> Slot<L> {
    fn living(&self) -> Option<Arc<L>> {
        lock(&self.link).as_ref().filter(|link| !link.is_ended()).map(Arc::clone)
    }
}

/// Whether a server is worth asking.
struct Health {
    /// Milliseconds after `start` before which it is left alone.
    down_until: AtomicU64,
    failures: AtomicU32,
    start: Instant,
}

impl Health {
    fn new() -> Self {
        Self { down_until: AtomicU64::new(0), failures: AtomicU32::new(0), start: Instant::now() }
    }

    fn now(&self) -> u64 {
        milliseconds(self.start.elapsed())
    }

    fn is_down(&self) -> bool {
        match self.down_until.load(Ordering::Relaxed) {
            0 => false,
            until => self.now() < until,
        }
    }

    /// Whether this caller may try. After a failure only one may at a time: its attempt keeps the others out for
    /// `attempt`.
    fn may_try(&self, attempt: Duration) -> bool {
        let until = self.down_until.load(Ordering::Relaxed);
        let now = self.now();
        if until == 0 {
            return true;
        }
        let next = now + milliseconds(attempt).max(1);
        now >= until && self.down_until.compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Gives how long it is left out now.
    fn failed(&self, (first, most): (Duration, Duration)) -> Duration {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed);
        let pause = first.saturating_mul(1 << failures.min(16)).min(most);
        self.down_until.store(self.now() + milliseconds(pause).max(1), Ordering::Relaxed);
        pause
    }

    /// Whether that is news.
    fn succeeded(&self) -> bool {
        self.down_until.store(0, Ordering::Relaxed);
        self.failures.swap(0, Ordering::Relaxed) > 0
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Duration = Duration::from_hours(1);

    #[test]
    fn a_server_that_fails_is_left_out_longer_and_longer() {
        let health = Health::new();
        assert!(health.may_try(NEVER) && !health.is_down());
        let limits = (Duration::from_secs(1), Duration::from_secs(5));
        assert_eq!([health.failed(limits), health.failed(limits)], [Duration::from_secs(1), Duration::from_secs(2)]);
        assert_eq!(health.failed(limits), Duration::from_secs(4));
        assert_eq!(health.failed(limits), Duration::from_secs(5));
        assert!(health.is_down() && !health.may_try(NEVER));
        assert!(health.succeeded());
        assert!(!health.is_down() && health.may_try(NEVER));
        assert!(!health.succeeded());
    }

    #[test]
    fn only_one_caller_tries_again() {
        let health = Health::new();
        health.failed((Duration::ZERO, Duration::ZERO));
        std::thread::sleep(Duration::from_millis(3));
        assert!(health.may_try(NEVER));
        assert!(!health.may_try(NEVER));
    }
}

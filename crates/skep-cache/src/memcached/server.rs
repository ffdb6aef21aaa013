//! One server: its connections, and whether it is worth asking.
//!
//! A connection belongs to the runtime that opened it, because only that one moves its bytes; a program with a runtime
//! per core so has a few connections per core, and no request crosses threads. A server that cannot be reached is left
//! out for a while, then one caller tries again for all; each failure doubles the while, up to a limit.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Id};

use super::address::Address;
use super::connection::{Connection, Settings};
use super::failure::Failure;
use super::protocol::{self, Code};

/// How a server is used.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) connections: usize,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) value_limit: usize,
    /// How long it is left out after the first failure, and at most.
    pub(super) left_out: (Duration, Duration),
}

/// One server.
pub(super) struct Server {
    pub(super) address: Address,
    pub(super) weight: u32,
    pub(super) name: Arc<str>,
    policy: Policy,
    pools: Mutex<Vec<(Id, Arc<Pool>)>>,
    health: Health,
}

/// The connections of one runtime.
struct Pool {
    slots: Box<[Slot]>,
    next: AtomicUsize,
}

#[derive(Default)]
struct Slot {
    connection: Mutex<Option<Arc<Connection>>>,
    /// Held by the one caller who connects.
    connecting: tokio::sync::Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    pub(super) fn new(address: Address, weight: u32, policy: Policy) -> Self {
        let name = address.to_string().into();
        Self { address, weight, name, policy, pools: Mutex::default(), health: Health::new() }
    }

    /// Whether it is left out at the moment.
    pub(super) fn is_left_out(&self) -> bool {
        self.health.is_down()
    }

    /// What it said, as an error.
    pub(super) fn refused(&self, said: &str) -> Failure {
        Failure::Refused { server: Arc::clone(&self.name), said: said.into() }
    }

    /// A connection that works, as far as we know.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, Failure> {
        let runtime = Handle::try_current().map_err(|_| Failure::NoRuntime)?;
        let pool = self.pool(runtime.id());
        let turn = if pool.slots.len() > 1 { pool.next.fetch_add(1, Ordering::Relaxed) % pool.slots.len() } else { 0 };
        let slot = &pool.slots[turn];
        if let Some(connection) = slot.living() {
            return Ok(connection);
        }
        let _alone = slot.connecting.lock().await;
        if let Some(connection) = slot.living() {
            return Ok(connection);
        }
        if !self.health.may_try(self.policy.connect_timeout) {
            return Err(Failure::LeftOut { server: Arc::clone(&self.name) });
        }
        let connection = match self.connect().await {
            Ok(connection) => Arc::new(connection),
            Err(failure) => {
                let pause = self.health.failed(self.policy.left_out);
                tracing::warn!(target: "skep_cache", server = %self.name, %failure, ?pause, "memcached is left out");
                return Err(failure);
            }
        };
        if self.health.succeeded() {
            tracing::info!(target: "skep_cache", server = %self.name, "memcached is back");
        }
        *lock(&slot.connection) = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn pool(&self, runtime: Id) -> Arc<Pool> {
        let mut pools = lock(&self.pools);
        if let Some((_, pool)) = pools.iter().find(|(id, _)| *id == runtime) {
            return Arc::clone(pool);
        }
        // A runtime that has stopped ended its connections; a new one is a good moment to forget it.
        pools.retain(|(_, pool)| pool.slots.iter().any(|slot| slot.living().is_some()));
        let slots = (0..self.policy.connections).map(|_| Slot::default()).collect();
        let pool = Arc::new(Pool { slots, next: AtomicUsize::new(0) });
        pools.push((runtime, Arc::clone(&pool)));
        pool
    }

    /// Connects, and finds out whether who answers is a memcached that understands us.
    async fn connect(&self) -> Result<Connection, Failure> {
        let unreachable = |why: String| Failure::Unreachable { server: Arc::clone(&self.name), why: why.into() };
        let limit = self.policy.connect_timeout;
        let (reader, writer) = match tokio::time::timeout(limit, self.address.connect()).await {
            Ok(Ok(halves)) => halves,
            Ok(Err(error)) => return Err(unreachable(error.to_string())),
            Err(_) => return Err(unreachable(format!("no connection within {limit:?}"))),
        };
        let Policy { timeout, value_limit, .. } = self.policy;
        let connection =
            Connection::new(reader, writer, Settings { server: Arc::clone(&self.name), timeout, value_limit });
        match tokio::time::timeout(limit, connection.call(protocol::version)?).await {
            Ok(Ok(reply)) => match reply.code {
                Code::Version(version) if speaks_meta(&version) => Ok(connection),
                Code::Version(version) => {
                    Err(unreachable(format!("it is memcached {version}, and the meta protocol came with 1.6")))
                }
                Code::Error(said) => Err(unreachable(format!("it says: {said}"))),
                other => Err(unreachable(format!("asked for its version, it answered {other:?}"))),
            },
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(unreachable(format!("no answer within {limit:?}"))),
        }
    }
}

impl Slot {
    fn living(&self) -> Option<Arc<Connection>> {
        lock(&self.connection).as_ref().filter(|connection| !connection.is_ended()).map(Arc::clone)
    }
}

fn speaks_meta(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    let major = numbers.next();
    let minor = numbers.next();
    (major, minor) >= (Some(1), Some(6))
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

    const NEVER: Duration = Duration::from_secs(3600);

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

    #[test]
    fn the_meta_protocol_came_with_1_6() {
        assert!(speaks_meta("1.6.18") && speaks_meta("2.0.1"));
        assert!(!speaks_meta("1.5.22") && !speaks_meta("unknown"));
    }
}

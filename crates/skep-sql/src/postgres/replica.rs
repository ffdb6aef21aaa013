//! Reads from a replica (a hot standby), which is a little behind: never behind what the user of the request has
//! written.
//!
//! How far PostgreSQL's log of writes was when that user wrote last, the request knows from its own writes
//! ([`Written`]) and from a cookie for those before it. A replica that has not replayed that much is passed over, and
//! so is one that cannot be reached, fails, or is further behind than the setting allows: then the primary is asked.
//!
//! Start reading at [`Pool::run_on_replica`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use skep_units::lock;

use super::super::dependencies::Writes;
use super::super::error::Result;
use super::PerProcess;
use super::connection::{BoundStatement, Connection};
use super::pool::Pool;
use super::verb::{self, Verb};

/// How often it is asked how far it is, for how long the answer is waited for, and how soon it is asked again if it was
/// not far enough.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const POLL_AGAIN: Duration = Duration::from_millis(20);

/// How much of the log is replayed, and for how many milliseconds it has been behind. One that has all that it
/// received, and is connected to the primary, is not behind, however long ago the last write was.
const STATE: &str = "select case when pg_is_in_recovery() then coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint end,
    case when exists (select from pg_stat_wal_receiver) and pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
    else greatest(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000, 0)::bigint end";

/// How far the log of the primary is, after what was written.
const WRITTEN: &str = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";

/// A position in the log of writes, behind all that a request has written; 0 before it writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written(Arc<AtomicU64>);

impl Written {
    pub(crate) fn position(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes that something was committed on this connection, which is asked how far the log is, unless it `hangs`.
    pub(super) async fn note(&self, connection: &Connection, hangs: bool) {
        let asked = (!hangs).then(|| BoundStatement::own(WRITTEN, Vec::new()));
        let position = match &asked {
            Some(bound) => connection.run(bound, verb::one::<u64>()).await.value.ok().flatten(),
            None => None,
        };
        // Where it is not known, no replica is far enough.
        self.0.fetch_max(position.unwrap_or(u64::MAX >> 1), Ordering::Relaxed);
    }
}

/// The replica, for all threads of the process.
pub(super) struct Replica {
    pub(super) shared: Arc<PerProcess>,
    /// How far behind it may be.
    lag: Duration,
    state: Mutex<ReplicaState>,
}

/// What was found when it was asked last.
#[derive(Clone, Copy, Default)]
struct ReplicaState {
    replayed: u64,
    is_recent: bool,
    polled: Option<Instant>,
    is_polling: bool,
}

impl Replica {
    pub(super) fn new(shared: Arc<PerProcess>, lag: Duration) -> Self {
        Self { shared, lag, state: Mutex::default() }
    }

    /// Whether it has replayed the log up to this position, and is not far behind.
    async fn has(&self, position: u64, pool: &Arc<Pool>) -> bool {
        let mut state = *lock(&self.state);
        let again = if state.replayed < position { POLL_AGAIN } else { POLL_INTERVAL };
        if state.polled.is_none_or(|polled| polled.elapsed() >= again) && self.begin_poll() {
            let asked = pool.run(
                BoundStatement::own(STATE, Vec::new()),
                verb::one::<(Option<u64>, Option<u64>)>(),
                Writes::Nothing,
                None,
            );
            let (replayed, behind) = match tokio::time::timeout(POLL_INTERVAL, asked).await {
                Ok(Ok(Some((Some(replayed), Some(behind))))) => (replayed, Duration::from_millis(behind)),
                // It cannot be reached, or is no replica any more: that of a primary which took over.
                _ => (0, Duration::MAX),
            };
            state = ReplicaState {
                replayed,
                is_recent: behind <= self.lag,
                polled: Some(Instant::now()),
                is_polling: false,
            };
            *lock(&self.state) = state;
        }
        state.is_recent && state.replayed >= position
    }

    /// One asks; the others do with what is known until the answer is there. Who asked and left is not waited for.
    fn begin_poll(&self) -> bool {
        let mut state = lock(&self.state);
        let is_late = state.polled.is_none_or(|polled| polled.elapsed() >= 2 * POLL_INTERVAL);
        if state.is_polling && !is_late {
            return false;
        }
        (state.is_polling, state.polled) = (true, Some(Instant::now()));
        true
    }

    /// Whether it was near when it was asked last, for the status.
    pub(super) fn is_recent(&self) -> bool {
        lock(&self.state).is_recent
    }
}

impl Pool {
    /// Runs a read on the replica, if there is one that has the log up to this position; otherwise, or if the replica
    /// fails, on the primary.
    pub(crate) async fn run_on_replica<R: Send + 'static>(
        self: &Arc<Self>,
        position: u64,
        bound: BoundStatement<'_>,
        verb: Verb<R>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<R> {
        if let (Some(replica), Some(pool)) = (&self.shared.replica, &self.replica) {
            // Locks are the primary's.
            let may = pool.kind(&bound).only_reads() && !bound.is_own;
            if may && pool.is_ready() && replica.has(position, pool).await {
                match pool.run(bound.clone(), verb, Writes::Nothing, None).await {
                    // It may lack a table of a new migration, be in the way of its own replay, or be asked for what
                    // writes.
                    Err(error) if error.is_of_postgres() && !error.is_timeout() => {}
                    result => return result,
                }
            }
        }
        self.run(bound, verb, writes, written).await
    }
}

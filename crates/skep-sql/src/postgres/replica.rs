//! Reads from a replica (a hot standby), which is a little behind: never behind what the user of the request has
//! written.
//!
//! How far PostgreSQL's log of writes was when that user wrote last, the request knows from its own writes
//! ([`Written`]) and from a cookie for those before it. A replica that has not replayed that much is passed over, and
//! so is one that cannot be reached, fails, or is further behind than the setting allows: then the primary is asked.
//!
//! Start reading at [`Pool::ask_replica`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use skep_units::lock;

use super::super::dependencies::Writes;
use super::super::error::Result;
use super::Shared;
use super::connection::{Connection, Job};
use super::pool::Pool;
use super::verb::{self, Verb};

/// How often it is asked how far it is, for how long the answer is waited for, and how soon it is asked again if it was
/// not far enough.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How much of the log is replayed, and for how many milliseconds it has been behind. One that has all that it
/// received, and is connected to the primary, is not behind, however long ago the last write was.
const STANDING: &str = "select case when pg_is_in_recovery() then coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint end,
    case when exists (select from pg_stat_wal_receiver) and pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
    else greatest(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000, 0)::bigint end";

/// How far the log of the primary is, after what was written.
const WRITTEN: &str = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";

/// A place in the log of writes, behind all that a request has written; 0 before it writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written(Arc<AtomicU64>);

impl Written {
    pub(crate) fn place(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes that something was committed on this connection, which is asked how far the log is, unless it `hangs`.
    pub(super) async fn note(&self, connection: &Connection, hangs: bool) {
        let asked = (!hangs).then(|| Job::own(WRITTEN, Vec::new()));
        let place = match &asked {
            Some(job) => connection.run(job, verb::one::<u64>()).await.value.ok().flatten(),
            None => None,
        };
        // Where it is not known, no replica is far enough.
        self.0.fetch_max(place.unwrap_or(u64::MAX >> 1), Ordering::Relaxed);
    }
}

/// The replica, for all threads of the process.
pub(super) struct Replica {
    pub(super) shared: Arc<Shared>,
    /// How far behind it may be.
    lag: Duration,
    standing: Mutex<Standing>,
}

/// What was found when it was asked last.
#[derive(Clone, Copy, Default)]
struct Standing {
    replayed: u64,
    is_near: bool,
    looked: Option<Instant>,
    is_looking: bool,
}

impl Replica {
    pub(super) fn new(shared: Arc<Shared>, lag: Duration) -> Self {
        Self { shared, lag, standing: Mutex::default() }
    }

    /// Whether it has replayed the log up to this place, and is not far behind.
    async fn has(&self, place: u64, pool: &Arc<Pool>) -> bool {
        let mut standing = *lock(&self.standing);
        let again = if standing.replayed < place { LOOK_AGAIN } else { LOOK };
        if standing.looked.is_none_or(|looked| looked.elapsed() >= again) && self.begin_to_look() {
            let asked = pool.ask(
                Job::own(STANDING, Vec::new()),
                verb::one::<(Option<u64>, Option<u64>)>(),
                Writes::Nothing,
                None,
            );
            let (replayed, behind) = match tokio::time::timeout(LOOK, asked).await {
                Ok(Ok(Some((Some(replayed), Some(behind))))) => (replayed, Duration::from_millis(behind)),
                // It cannot be reached, or is none: that of a primary which took over.
                _ => (0, Duration::MAX),
            };
            standing =
                Standing { replayed, is_near: behind <= self.lag, looked: Some(Instant::now()), is_looking: false };
            *lock(&self.standing) = standing;
        }
        standing.is_near && standing.replayed >= place
    }

    /// One asks; the others do with what is known until the answer is there. Who asked and left is not waited for.
    fn begin_to_look(&self) -> bool {
        let mut standing = lock(&self.standing);
        let is_late = standing.looked.is_none_or(|looked| looked.elapsed() >= 2 * LOOK);
        if standing.is_looking && !is_late {
            return false;
        }
        (standing.is_looking, standing.looked) = (true, Some(Instant::now()));
        true
    }

    /// Whether it was near when it was asked last, for the status.
    pub(super) fn is_near(&self) -> bool {
        lock(&self.standing).is_near
    }
}

impl Pool {
    /// Runs a read on the replica, if there is one that has the log up to this place; otherwise, or if the replica
    /// fails, on the primary.
    pub(crate) async fn ask_replica<R: Send + 'static>(
        self: &Arc<Self>,
        place: u64,
        job: Job<'_>,
        verb: Verb<R>,
        writes: Writes,
        written: Option<Written>,
    ) -> Result<R> {
        if let (Some(replica), Some(pool)) = (&self.shared.replica, &self.replica) {
            // Locks are the primary's.
            let may = pool.nature(&job).only_reads() && !job.is_own;
            if may && pool.is_ready() && replica.has(place, pool).await {
                match pool.ask(job.clone(), verb, Writes::Nothing, None).await {
                    // It may lack a table of a new migration, be in the way of its own replay, or be asked for what
                    // writes.
                    Err(error) if error.is_of_postgres() && !error.is_timeout() => {}
                    result => return result,
                }
            }
        }
        self.ask(job, verb, writes, written).await
    }
}

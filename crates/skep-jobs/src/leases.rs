//! Which other runners live.
//!
//! While a runner has jobs, its lease changes. It is dead if its lease has stayed the same for as long as that lasts,
//! by the clock of who looks that nobody sets: so a time of day that is set, here or on another machine, ends no lease
//! that is kept, and lets none go on that is not.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The leases of others, and since when they are as they are.
#[derive(Debug, Default)]
pub(crate) struct Leases(HashMap<i64, Lease>);

#[derive(Clone, Copy, Debug)]
struct Lease {
    until: i64,
    since: Instant,
    lasts: Duration,
}

impl Leases {
    /// Notes what the database has.
    pub(crate) fn note(&mut self, rows: Vec<(i64, i64, i64)>, now: Instant) {
        let known = std::mem::take(&mut self.0);
        self.0.extend(rows.into_iter().map(|(id, until, lasts)| {
            let since = known.get(&id).filter(|known| known.until == until).map_or(now, |known| known.since);
            (id, Lease { until, since, lasts: Duration::from_millis(lasts.max(0).cast_unsigned()) })
        }));
    }

    /// Those of the dead.
    pub(crate) fn dead(&self, now: Instant) -> Vec<(i64, i64)> {
        let dead = self.0.iter().filter(|(_, lease)| now.duration_since(lease.since) >= lease.lasts);
        dead.map(|(id, lease)| (*id, lease.until)).collect()
    }

    /// How long it takes until the next one is dead, unless it lives.
    pub(crate) fn next(&self, now: Instant) -> Option<Duration> {
        self.0.values().map(|lease| (lease.since + lease.lasts).saturating_duration_since(now)).min()
    }
}

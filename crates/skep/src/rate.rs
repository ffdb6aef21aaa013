//! How often one client, or one kind of request, may add to what is remembered for long: sessions, one-shot forms, cached pages.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::request::Peer;

/// The time in which a client may use up its limit, and gets it back.
const PERIOD: Duration = Duration::from_mins(1);

/// How many clients are remembered, at most.
const CLIENTS: usize = 1 << 16;

/// A limit for each client and minute: a token bucket.
#[derive(Debug)]
pub(crate) struct Rate {
    /// 0: no limit.
    limit: u32,
    clients: Mutex<HashMap<u128, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    as_of: Instant,
}

impl Rate {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, clients: Mutex::default() }
    }

    /// False if the client has done it too often. One whose address is unknown has no limit.
    pub(crate) fn allows(&self, peer: Peer) -> bool {
        self.allows_at(peer, Instant::now())
    }

    fn allows_at(&self, peer: Peer, now: Instant) -> bool {
        peer.network().is_none_or(|client| self.allows_one(client, now))
    }

    /// The same for whatever this number stands for.
    pub(crate) fn allows_number(&self, number: u128) -> bool {
        self.allows_one(number, Instant::now())
    }

    fn allows_one(&self, client: u128, now: Instant) -> bool {
        if self.limit == 0 {
            return true;
        }
        let full = f64::from(self.limit);
        let refilled = |bucket: &Bucket| {
            let share = now.saturating_duration_since(bucket.as_of).as_secs_f64() / PERIOD.as_secs_f64();
            (bucket.left + full * share).min(full)
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS && !clients.contains_key(&client) {
            clients.retain(|_, bucket| refilled(bucket) < full);
            // More clients than there is room for: all start again with a full quota.
            if clients.len() >= CLIENTS {
                clients.clear();
            }
            clients.shrink_to(CLIENTS / 16);
        }
        let bucket = clients.entry(client).or_insert(Bucket { left: full, as_of: now });
        let left = refilled(bucket);
        let allows = left >= 1.0;
        *bucket = Bucket { left: left - if allows { 1.0 } else { 0.0 }, as_of: now };
        allows
    }
}

#[cfg(test)]
#[path = "../tests/unit/rate.rs"]
mod tests;

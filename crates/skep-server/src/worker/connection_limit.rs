//! What all workers of a process share: how many connections are open, in all and for each address, and what waits in
//! them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use skep::Peer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::{Limits, UnsentLimit};

/// How many connections a process rejects with a response at a time. Beyond that it closes them without one.
pub(crate) const MAX_REJECTIONS: usize = 64;

/// Limits the connections of all workers of a process together.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimit(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    open: AtomicUsize,
    most: usize,
    rejections: Arc<Semaphore>,
    /// 0: no limit.
    per_address: usize,
    addresses: Mutex<HashMap<u128, usize>>,
    unsent: UnsentLimit,
}

/// Permits one connection; gives the permit back when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    counts: Arc<Counts>,
    address: Option<u128>,
}

impl ConnectionLimit {
    /// At most `most` connections. `limits` bounds those of one address, and the bytes that wait in them.
    pub(crate) fn new(most: usize, limits: &Limits) -> Self {
        let (per_address, unsent) = (limits.connections_per_address, UnsentLimit::new(limits.unsent));
        let (open, addresses) = Default::default();
        let rejections = Arc::new(Semaphore::new(MAX_REJECTIONS));
        Self(Arc::new(Counts { open, most, rejections, per_address, addresses, unsent }))
    }

    /// A permit for a connection of this client; `None` if there are too many.
    pub(crate) fn acquire(&self, peer: Peer) -> Option<ConnectionPermit> {
        let counts = &self.0;
        let before = counts.open.fetch_add(1, Ordering::Relaxed);
        let mut permit = ConnectionPermit { counts: Arc::clone(counts), address: None };
        if before >= counts.most {
            return None;
        }
        if let Some(network) = peer.network().filter(|_| counts.per_address > 0) {
            let mut addresses = counts.addresses();
            let count = addresses.entry(network).or_default();
            if *count >= counts.per_address {
                return None;
            }
            *count += 1;
            permit.address = Some(network);
        }
        Some(permit)
    }

    pub(crate) fn unsent(&self) -> UnsentLimit {
        self.0.unsent.clone()
    }

    /// A permit to reject a connection with a response.
    pub(crate) fn acquire_rejection(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.rejections).try_acquire_owned().ok()
    }
}

impl Counts {
    fn addresses(&self) -> std::sync::MutexGuard<'_, HashMap<u128, usize>> {
        skep_units::lock(&self.addresses)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
        let Some(network) = self.address else { return };
        let mut addresses = self.counts.addresses();
        if let Some(count) = addresses.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                addresses.remove(&network);
            }
        }
        // After a flood of addresses, the table gives its memory back.
        if addresses.is_empty() {
            addresses.shrink_to(64);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/worker/connection_limit.rs"]
mod tests;

//! How many requests go to one host at the same time (`limits.fetches_per_host`): a host that hangs holds no more than
//! these.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(super) struct PerHost {
    most: usize,
    /// Of hosts with requests in progress or waiting.
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// One request, from its turn to its end.
pub(super) struct Permit<'p> {
    hosts: &'p PerHost,
    place: String,
    held: Option<OwnedSemaphorePermit>,
}

impl PerHost {
    pub(super) fn new(most: usize) -> Self {
        Self { most, hosts: Mutex::default() }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Waits for a turn.
    pub(super) async fn enter(&self, place: &str) -> Permit<'_> {
        let semaphore = {
            let mut hosts = self.lock();
            Arc::clone(hosts.entry(place.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.most))))
        };
        // Made before the wait: a request that is given up meanwhile leaves nothing behind.
        let mut permit = Permit { hosts: self, place: place.to_owned(), held: None };
        permit.held = semaphore.acquire_owned().await.ok();
        permit
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Semaphore>>> {
        skep_units::lock(&self.hosts)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.held = None;
        let mut hosts = self.hosts.lock();
        // Those who wait and those whose turn it is each hold it, too.
        if hosts.get(&self.place).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            hosts.remove(&self.place);
        }
    }
}

#[cfg(test)]
impl PerHost {
    pub(super) fn known(&self) -> usize {
        self.lock().len()
    }
}

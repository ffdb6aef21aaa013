//! Single flight: of all callers in this process, on whatever threads and runtimes, one computes and the others wait.
//!
//! The first caller for a key is the leader; later ones follow. The leader publishes one outcome for all; if it is
//! dropped before, a follower becomes the leader.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::hash::BuildHasher;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use skep_units::lock;

/// Computations in flight, by key.
#[derive(Debug)]
pub(crate) struct SingleFlight<T> {
    hasher: crate::hash::Hashing,
    shards: Box<[Mutex<Shard<T>>]>,
    /// The number of computations, so that writes look for one only if there is any.
    in_flight: AtomicUsize,
}

type Shard<T> = HashMap<Box<[u8]>, Arc<Flight<T>>>;

type Flight<T> = Mutex<State<T>>;

#[derive(Debug)]
enum State<T> {
    InFlight(HashMap<u64, Waker>, u64),
    Published(T),
    Abandoned,
}

pub(crate) enum Role<'a, T> {
    Leader(Leader<'a, T>),
    Follower(Follower<T>),
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self {
            hasher: crate::hash::hashing(),
            shards: (0..16).map(|_| Mutex::default()).collect(),
            in_flight: AtomicUsize::new(0),
        }
    }
}

impl<T> SingleFlight<T> {
    pub(crate) fn join(&self, key: &[u8]) -> Role<'_, T> {
        match lock(self.shard(key)).entry(key.into()) {
            Entry::Occupied(found) => Role::Follower(Follower { flight: Arc::clone(found.get()), number: None }),
            Entry::Vacant(free) => {
                let flight = Arc::new(Mutex::new(State::InFlight(HashMap::new(), 0)));
                free.insert(Arc::clone(&flight));
                self.in_flight.fetch_add(1, Ordering::SeqCst);
                Role::Leader(Leader { single_flight: self, key: key.into(), flight })
            }
        }
    }

    /// Detaches the current leader: later callers start a new computation, since its result may be stale.
    pub(crate) fn detach(&self, key: &[u8]) {
        // A later leader reads the driver again before it computes.
        if self.in_flight.load(Ordering::SeqCst) > 0 && lock(self.shard(key)).remove(key).is_some() {
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
        }
    }

    pub(crate) fn is_in_flight(&self, key: &[u8]) -> bool {
        lock(self.shard(key)).contains_key(key)
    }

    fn shard(&self, key: &[u8]) -> &Mutex<Shard<T>> {
        let shards = self.shards.len();
        &self.shards[usize::try_from(self.hasher.hash_one(key) >> 40).unwrap_or_default() % shards]
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }
}

fn end<T>(flight: &Flight<T>, state: State<T>) {
    let before = std::mem::replace(&mut *lock(flight), state);
    if let State::InFlight(waiting, _) = before {
        waiting.into_values().for_each(Waker::wake);
    }
}

/// Computes for all. If it is dropped before it [publishes](Leader::publish), a follower becomes the leader.
pub(crate) struct Leader<'a, T> {
    single_flight: &'a SingleFlight<T>,
    key: Box<[u8]>,
    flight: Arc<Flight<T>>,
}

impl<T> Leader<'_, T> {
    pub(crate) fn publish(self, outcome: T) {
        self.leave();
        end(&self.flight, State::Published(outcome));
    }

    fn leave(&self) {
        let mut shard = lock(self.single_flight.shard(&self.key));
        if shard.get(&self.key).is_some_and(|found| Arc::ptr_eq(found, &self.flight)) {
            shard.remove(&self.key);
            self.single_flight.in_flight.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl<T> Drop for Leader<'_, T> {
    fn drop(&mut self) {
        self.leave();
        let is_unfinished = matches!(*lock(&self.flight), State::InFlight(..));
        if is_unfinished {
            end(&self.flight, State::Abandoned);
        }
    }
}

/// Waits for the leader. `None`: it was dropped, and another caller must lead.
pub(crate) struct Follower<T> {
    flight: Arc<Flight<T>>,
    number: Option<u64>,
}

impl<T: Clone> Future for Follower<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let flight = Arc::clone(&self.flight);
        match &mut *lock(&flight) {
            State::Published(outcome) => Poll::Ready(Some(outcome.clone())),
            State::Abandoned => Poll::Ready(None),
            State::InFlight(waiting, last) => {
                let number = *self.number.get_or_insert_with(|| {
                    *last += 1;
                    *last
                });
                waiting.entry(number).and_modify(|waker| waker.clone_from(cx.waker())).or_insert(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Follower<T> {
    fn drop(&mut self) {
        if let (Some(number), State::InFlight(waiting, _)) = (self.number, &mut *lock(&self.flight)) {
            waiting.remove(&number);
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/flight.rs"]
mod tests;

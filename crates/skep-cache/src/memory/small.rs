//! The map of a small cache: one lock, which readers share, around a [`Shelf`].

use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::store::Kept;
use crate::driver::{Entry, Record, Usage};

mod shelf;
mod slots;

use shelf::Shelf;

#[derive(Debug)]
pub(super) struct Small {
    shelf: RwLock<Shelf>,
    hasher: crate::hash::Hashing,
    room: u64,
}

impl Small {
    /// For so many entries, more or less.
    pub(super) fn new(room: u64, entries: u64) -> Self {
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        Self { shelf: RwLock::new(Shelf::new(room, entries)), hasher: crate::hash::hashing(), room }
    }

    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Record> {
        let hash = self.hasher.hash_one(key);
        self.read().get(hash, key).cloned()
    }

    pub(super) fn peek(&self, key: &[u8]) -> Option<Record> {
        let hash = self.hasher.hash_one(key);
        self.read().peek(hash, key).cloned()
    }

    /// One that weighs nothing is not evicted.
    pub(super) fn insert(&self, key: &[u8], kept: Kept) {
        let hash = self.hasher.hash_one(key);
        self.write().insert(hash, key, kept);
    }

    pub(super) fn remove_if(&self, key: &[u8], is_over: impl FnOnce(Entry<'_>) -> bool) {
        let hash = self.hasher.hash_one(key);
        let mut held = self.write();
        if held.peek(hash, key).is_some_and(|record| is_over(record.entry())) {
            held.remove(hash, key);
        }
    }

    pub(super) fn remove_prefix(&self, prefix: &[u8]) {
        let mut held = self.write();
        let keys: Vec<Box<[u8]>> =
            held.entries().filter(|(key, _)| key.starts_with(prefix)).map(|(key, _)| key.into()).collect();
        for key in keys {
            held.remove(self.hasher.hash_one(&*key), &key);
        }
    }

    /// The lock is not held while a caller looks: it may come back for more.
    pub(super) fn each(&self, mut each: impl FnMut(&[u8], Entry<'_>)) {
        let entries: Vec<(Box<[u8]>, Record)> =
            self.read().entries().map(|(key, record)| (key.into(), record.clone())).collect();
        for (key, record) in &entries {
            each(key, record.entry());
        }
    }

    pub(super) fn room(&self) -> u64 {
        self.room
    }

    pub(super) fn usage(&self) -> Usage {
        self.read().usage()
    }

    fn read(&self) -> RwLockReadGuard<'_, Shelf> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelf> {
        self.shelf.write().unwrap_or_else(PoisonError::into_inner)
    }
}

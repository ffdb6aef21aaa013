//! The map of a large cache.
//!
//! It is `quick_cache` (a variant of CLOCK-Pro with S3-FIFO's small queue and ghosts): reads take a shared lock and move nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use super::store::Kept;
use crate::driver::{Entry, Record, Usage};

#[derive(Debug)]
pub(super) struct Large {
    cache: Cache<Box<[u8]>, Kept, Weight, crate::hash::Hashing, Evictions>,
    evicted: Arc<AtomicU64>,
}

/// The part of the room for what was used again. Of a grid over 33 cells (11 public traces, three sizes) it is best in the mean.
const HOT: f64 = 0.8;
/// How many of the evicted are remembered, for each 352 bytes of room. Up to one they find no more in the mean of the large
/// caches (the traces `scarab` 0.5 to 1.2 points, `multi3` and `w106` 0.9 less), and each takes some 80 bytes that nobody counts.
const GHOSTS: f64 = 0.125;

impl Large {
    /// With so many parts for threads to share, and so many entries, more or less.
    pub(super) fn new(bytes: u64, entries: u64, shards: u64) -> Self {
        let options = OptionsBuilder::new()
            .shards(usize::try_from(shards).unwrap_or(1))
            .estimated_items_capacity(usize::try_from(entries).unwrap_or(usize::MAX))
            .weight_capacity(bytes)
            .hot_allocation(HOT)
            .ghost_allocation(GHOSTS)
            .build()
            .expect("all that is required is given");
        let evictions = Evictions::default();
        let evicted = Arc::clone(&evictions.0);
        Self { cache: Cache::with_options(options, Weight, crate::hash::hashing(), evictions), evicted }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Record> {
        self.cache.get(key).map(|kept| kept.record)
    }

    pub(super) fn peek(&self, key: &[u8]) -> Option<Record> {
        self.cache.peek(key).map(|kept| kept.record)
    }

    /// One that weighs nothing is not evicted.
    pub(super) fn insert(&self, key: &[u8], kept: Kept) {
        self.cache.insert(key.into(), kept);
    }

    pub(super) fn remove(&self, key: &[u8]) {
        self.cache.remove(key);
    }

    pub(super) fn remove_if(&self, key: &[u8], is_over: impl FnOnce(Entry<'_>) -> bool) {
        self.cache.remove_if(key, |kept| is_over(kept.record.entry()));
    }

    pub(super) fn remove_prefix(&self, prefix: &[u8]) {
        self.cache.retain(|key, _| !key.starts_with(prefix));
    }

    pub(super) fn each(&self, mut each: impl FnMut(&[u8], Entry<'_>)) {
        for (key, kept) in self.cache.iter() {
            each(&key, kept.record.entry());
        }
    }

    /// What a shard holds.
    pub(super) fn shard(&self) -> u64 {
        self.cache.shard_capacity()
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            entries: Some(self.cache.len() as u64),
            bytes: Some(self.cache.weight()),
            evicted: Some(self.evicted.load(Ordering::Relaxed)),
        }
    }
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<Box<[u8]>, Kept> for Weight {
    fn weight(&self, _: &Box<[u8]>, kept: &Kept) -> u64 {
        kept.weight
    }
}

/// Counts what had to go.
#[derive(Clone, Debug, Default)]
struct Evictions(Arc<AtomicU64>);

impl Lifecycle<Box<[u8]>, Kept> for Evictions {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: Box<[u8]>, _: Kept) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

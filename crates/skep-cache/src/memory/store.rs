//! The map behind `Memory`: bounded by weight, drops what is used least.
//!
//! It is `quick_cache` (a variant of CLOCK-Pro with S3-FIFO's small queue and ghosts): reads take a shared lock and move nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::clock::Time;
use crate::driver::{Entry, Record, Usage};

#[derive(Debug)]
pub(super) struct Store {
    cache: Cache<Box<[u8]>, Kept, Weight, crate::hash::Hashing, Evictions>,
    evicted: Arc<AtomicU64>,
    /// What an entry weighs at least: with a bound on their number, its share of the bytes.
    least: u64,
}

#[derive(Clone, Debug)]
struct Kept {
    record: Record,
    weight: u64,
}

/// What each entry costs beside its key and its bytes: slot, pointers, counts, and the allocator's share.
const OVERHEAD: u64 = 96;
/// The part of the room for what was used again, and how many of the evicted are remembered beside each entry. Of a grid over 33
/// cells (11 public traces, three sizes) these are best in the mean, and within a point of the best of moka's policies in 31.
const HOT: f64 = 0.8;
const GHOSTS: f64 = 1.0;
/// What a shard of a large cache holds at least.
const SHARD: u64 = 1 << 20;

impl Store {
    pub(super) fn new(bytes: u64, entries: u64) -> Self {
        let shards = (bytes / SHARD).clamp(1, 4 * cores()).next_power_of_two();
        // The estimate is for allocations and for the length of the memory of what was evicted.
        let estimate = entries.min(bytes / (OVERHEAD + 256)).max(1);
        let options = OptionsBuilder::new()
            .shards(usize::try_from(shards).unwrap_or(1))
            .estimated_items_capacity(usize::try_from(estimate).unwrap_or(usize::MAX))
            .weight_capacity(bytes)
            .hot_allocation(HOT)
            .ghost_allocation(GHOSTS)
            .build()
            .expect("all that is required is given");
        let hasher = crate::hash::hashing();
        let evictions = Evictions::default();
        let evicted = Arc::clone(&evictions.0);
        let cache = Cache::with_options(options, Weight, hasher, evictions);
        Self { cache, evicted, least: bytes.div_ceil(entries) }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Record> {
        self.cache.get(key).map(|kept| kept.record)
    }

    /// As `get`, but does not count as a use.
    pub(super) fn peek(&self, key: &[u8]) -> Option<Record> {
        self.cache.peek(key).map(|kept| kept.record)
    }

    /// Inserts; one that is `pinned` is not evicted. `Err`: its bytes, and the old one is gone.
    pub(super) fn insert(&self, key: &[u8], record: Record, pinned: bool) -> Result<(), usize> {
        let bytes = key.len() + record.bytes().len();
        let extra = u64::from(record.entry().weight());
        let weight = (bytes as u64 + OVERHEAD + extra).max(self.least);
        if weight > self.limit() as u64 {
            self.remove(key);
            return Err(bytes);
        }
        self.cache.insert(key.into(), Kept { record, weight: if pinned { 0 } else { weight } });
        Ok(())
    }

    pub(super) fn remove(&self, key: &[u8]) {
        self.cache.remove(key);
    }

    pub(super) fn remove_dead(&self, key: &[u8], now: Time) {
        self.cache.remove_if(key, |kept| !kept.record.entry().exists(now));
    }

    pub(super) fn remove_prefix(&self, prefix: &[u8]) {
        self.cache.retain(|key, _| !key.starts_with(prefix));
    }

    pub(super) fn each(&self, mut each: impl FnMut(&[u8], Entry<'_>)) {
        for (key, kept) in self.cache.iter() {
            each(&key, kept.record.entry());
        }
    }

    /// Largest weight that is kept: three quarters of a shard, as the rest is where newcomers stand.
    pub(super) fn limit(&self) -> usize {
        usize::try_from(self.cache.shard_capacity() / 4 * 3).unwrap_or(usize::MAX)
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            entries: Some(self.cache.len() as u64),
            bytes: Some(self.cache.weight()),
            evicted: Some(self.evicted.load(Ordering::Relaxed)),
        }
    }
}

/// Processor cores, for how finely to divide what threads share.
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
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

//! The map behind `Memory`: bounded by weight, evicts the least used entries.
//!
//! It is `quick_cache` (a variant of CLOCK-Pro with the small queue and the ghosts of S3-FIFO): reads take a shared
//! lock and move nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::driver::{Record, Usage};

#[derive(Debug)]
pub(super) struct Store {
    pub(super) cache: Cache<Box<[u8]>, Weighed, Weight, crate::hash::Hashing, Evictions>,
    evicted: Arc<AtomicU64>,
    /// The minimum weight of an entry: with a limit on their number, its share of the bytes.
    least: u64,
}

/// An entry and its weight. The weight is 0 if it must not be evicted.
#[derive(Clone, Debug)]
pub(super) struct Weighed {
    pub(super) record: Record,
    weight: u64,
}

/// Bytes of each entry beyond its key and value: slot, pointers, counts and the allocator's share.
const OVERHEAD: u64 = 96;
/// Bytes of a shard, at least.
const SHARD: u64 = 1 << 20;
/// The share of the capacity for entries that were used again. Best on average over 11 public traces at three sizes.
const HOT: f64 = 0.8;
/// Evicted keys to remember, for each 352 bytes of capacity. More find nothing more on average (`scarab` gains 0.5 to
/// 1.2 points, `multi3` and `w106` lose 0.9), and each takes about 80 bytes that no limit counts.
const GHOSTS: f64 = 0.125;

impl Store {
    pub(super) fn new(bytes: u64, entries: u64) -> Self {
        let shards = (1 << (bytes / SHARD).max(1).ilog2()).min((4 * cores()).next_power_of_two());
        // The estimate sizes allocations and the list of evicted keys.
        let estimate = entries.min(bytes / (OVERHEAD + 256)).max(1);
        let options = OptionsBuilder::new()
            .shards(shards)
            .estimated_items_capacity(usize::try_from(estimate).unwrap_or(usize::MAX))
            .weight_capacity(bytes)
            .hot_allocation(HOT)
            .ghost_allocation(GHOSTS)
            .build()
            .expect("all required options are set");
        let evictions = Evictions::default();
        let evicted = Arc::clone(&evictions.0);
        let cache = Cache::with_options(options, Weight, crate::hash::hashing(), evictions);
        Self { cache, evicted, least: bytes.div_ceil(entries) }
    }

    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Record> {
        self.cache.get(key).map(|found| found.record)
    }

    /// As `get`, but does not count as a use.
    pub(super) fn peek(&self, key: &[u8]) -> Option<Record> {
        self.cache.peek(key).map(|found| found.record)
    }

    /// Inserts an entry; a `pinned` one is never evicted. If it does not fit, the old entry is removed and the error is
    /// the size of the new one in bytes.
    pub(super) fn insert(&self, key: &[u8], record: Record, pinned: bool) -> Result<(), usize> {
        let bytes = key.len() + record.bytes().len();
        let extra = u64::from(record.entry().weight());
        let weight = (bytes as u64 + OVERHEAD + extra).max(self.least);
        if weight > self.limit() as u64 {
            self.cache.remove(key);
            return Err(bytes);
        }
        self.cache.insert(key.into(), Weighed { record, weight: if pinned { 0 } else { weight } });
        Ok(())
    }

    /// The largest weight of an entry: three quarters of a shard, since the rest is for new entries.
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

/// Processor cores: how many shards threads share.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[derive(Clone, Debug)]
pub(super) struct Weight;

impl Weighter<Box<[u8]>, Weighed> for Weight {
    fn weight(&self, _: &Box<[u8]>, entry: &Weighed) -> u64 {
        entry.weight
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Evictions(Arc<AtomicU64>);

impl Lifecycle<Box<[u8]>, Weighed> for Evictions {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: Box<[u8]>, _: Weighed) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

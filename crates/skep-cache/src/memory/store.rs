//! The map behind `Memory`: bounded by weight, drops what is used least.
//!
//! What suits a large cache, and is shared by many threads, is not what finds most in a small one: see [`Large`] and [`Small`].

use super::large::Large;
use super::small::Small;
use crate::clock::Time;
use crate::driver::{Entry, Record, Usage};

#[derive(Debug)]
pub(super) struct Store {
    map: Map,
    /// What an entry weighs at least: with a bound on their number, its share of the bytes.
    least: u64,
}

#[derive(Debug)]
enum Map {
    Large(Large),
    Small(Box<Small>),
}

/// What is kept, and what it weighs; nothing, if it must not be evicted.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) record: Record,
    pub(super) weight: u64,
}

/// What each entry costs beside its key and its bytes: slot, pointers, counts, and the allocator's share.
const OVERHEAD: u64 = 96;
/// What a shard of a large cache holds at least.
const SHARD: u64 = 1 << 20;
/// Up to so many entries a cache of one shard is a small one. In larger ones `Large` finds as much, or more.
const FEW: u64 = 1_500;

impl Store {
    pub(super) fn new(bytes: u64, entries: u64) -> Self {
        let shards = (1 << (bytes / SHARD).max(1).ilog2()).min((4 * cores()).next_power_of_two());
        // The estimate is for allocations and for the length of the memory of what was evicted.
        let estimate = entries.min(bytes / (OVERHEAD + 256)).max(1);
        let map = if shards == 1 && estimate <= FEW {
            Map::Small(Box::new(Small::new(bytes, estimate)))
        } else {
            Map::Large(Large::new(bytes, estimate, shards))
        };
        Self { map, least: bytes.div_ceil(entries) }
    }

    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Record> {
        match &self.map {
            Map::Large(map) => map.get(key),
            Map::Small(map) => map.get(key),
        }
    }

    /// As `get`, but does not count as a use.
    pub(super) fn peek(&self, key: &[u8]) -> Option<Record> {
        match &self.map {
            Map::Large(map) => map.peek(key),
            Map::Small(map) => map.peek(key),
        }
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
        let kept = Kept { record, weight: if pinned { 0 } else { weight } };
        match &self.map {
            Map::Large(map) => map.insert(key, kept),
            Map::Small(map) => map.insert(key, kept),
        }
        Ok(())
    }

    pub(super) fn remove(&self, key: &[u8]) {
        match &self.map {
            Map::Large(map) => map.remove(key),
            Map::Small(map) => map.remove_if(key, |_| true),
        }
    }

    pub(super) fn remove_dead(&self, key: &[u8], now: Time) {
        let is_over = |entry: Entry<'_>| !entry.exists(now);
        match &self.map {
            Map::Large(map) => map.remove_if(key, is_over),
            Map::Small(map) => map.remove_if(key, is_over),
        }
    }

    pub(super) fn remove_prefix(&self, prefix: &[u8]) {
        match &self.map {
            Map::Large(map) => map.remove_prefix(prefix),
            Map::Small(map) => map.remove_prefix(prefix),
        }
    }

    pub(super) fn each(&self, each: impl FnMut(&[u8], Entry<'_>)) {
        match &self.map {
            Map::Large(map) => map.each(each),
            Map::Small(map) => map.each(each),
        }
    }

    /// Largest weight that is kept: three quarters of a shard, as the rest is where newcomers stand.
    pub(super) fn limit(&self) -> usize {
        let shard = match &self.map {
            Map::Large(map) => map.shard(),
            Map::Small(map) => map.room(),
        };
        usize::try_from(shard / 4 * 3).unwrap_or(usize::MAX)
    }

    pub(super) fn usage(&self) -> Usage {
        match &self.map {
            Map::Large(map) => map.usage(),
            Map::Small(map) => map.usage(),
        }
    }
}

/// Processor cores, for how finely to divide what threads share.
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

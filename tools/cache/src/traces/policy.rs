//! The caches whose hit ratio is measured, behind one call.

use foyer_memory::{CacheBuilder, EvictionConfig, LfuConfig, LruConfig, S3FifoConfig, SieveConfig};
use moka::policy::EvictionPolicy;

use super::ours::Ours;
use super::source::Access;

/// A cache that is full at some weight.
pub(crate) trait Policy {
    /// Asks for the entry, and stores it if it is not there. Whether it was there.
    fn visit(&mut self, access: Access) -> bool;
}

/// How big, in entries and in weight; both say the same where every entry weighs 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) entries: usize,
    pub(crate) weight: u64,
}

/// A name in the table, and how to make the cache.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) make: fn(Size) -> Box<dyn Policy>,
}

/// The first is what the others are compared with.
pub(crate) const ROWS: [Row; 12] = [
    Row { name: "lru", make: |size| Box::new(Lru::new(size)) },
    Row { name: "memory", make: |size| Box::new(Ours::memory(size)) },
    Row { name: "shared", make: |size| Box::new(Ours::shared(size)) },
    Row { name: "moka", make: |size| Box::new(Moka::new(size, EvictionPolicy::tiny_lfu(), false)) },
    Row { name: "moka (settled)", make: |size| Box::new(Moka::new(size, EvictionPolicy::tiny_lfu(), true)) },
    Row { name: "moka lru", make: |size| Box::new(Moka::new(size, EvictionPolicy::lru(), true)) },
    Row { name: "quick_cache", make: |size| Box::new(Quick::new(size, None)) },
    Row { name: "quick_cache 1 shard", make: |size| Box::new(Quick::new(size, Some(1))) },
    Row { name: "foyer lru", make: |size| Box::new(Foyer::new(size, LruConfig::default().into())) },
    Row { name: "foyer lfu", make: |size| Box::new(Foyer::new(size, LfuConfig::default().into())) },
    Row { name: "foyer s3-fifo", make: |size| Box::new(Foyer::new(size, S3FifoConfig::default().into())) },
    Row { name: "foyer sieve", make: |size| Box::new(Foyer::new(size, SieveConfig.into())) },
];

/// Exact: the least recently used entry goes.
struct Lru {
    entries: lru::LruCache<u32, u32>,
    free: u64,
    weight: u64,
}

impl Lru {
    fn new(size: Size) -> Self {
        Self { entries: lru::LruCache::unbounded(), free: size.weight, weight: size.weight }
    }
}

impl Policy for Lru {
    fn visit(&mut self, access: Access) -> bool {
        if self.entries.get(&access.key).is_some() {
            return true;
        }
        let weight = u64::from(access.weight);
        if weight > self.weight {
            return false;
        }
        while self.free < weight {
            let (_, freed) = self.entries.pop_lru().expect("what is not free is held by entries");
            self.free += u64::from(freed);
        }
        self.free -= weight;
        self.entries.put(access.key, access.weight);
        false
    }
}

/// Its accesses are noted and applied later, in batches; settled, after each.
struct Moka {
    cache: moka::sync::Cache<u32, u32>,
    settled: bool,
}

impl Moka {
    fn new(size: Size, policy: EvictionPolicy, settled: bool) -> Self {
        let cache = moka::sync::Cache::builder().max_capacity(size.weight).eviction_policy(policy);
        Self { cache: cache.weigher(|_, weight| *weight).build(), settled }
    }
}

impl Policy for Moka {
    fn visit(&mut self, access: Access) -> bool {
        let hit = self.cache.get(&access.key).is_some();
        if !hit {
            self.cache.insert(access.key, access.weight);
        }
        if self.settled {
            self.cache.run_pending_tasks();
        }
        hit
    }
}

#[derive(Debug, Clone)]
struct ByValue;

impl quick_cache::Weighter<u32, u32> for ByValue {
    fn weight(&self, _: &u32, weight: &u32) -> u64 {
        u64::from(*weight)
    }
}

/// The one that threads share, in as many shards as it takes for this machine, or in one.
struct Quick(quick_cache::sync::Cache<u32, u32, ByValue>);

impl Quick {
    fn new(size: Size, shards: Option<usize>) -> Self {
        let mut options = quick_cache::OptionsBuilder::new();
        options.estimated_items_capacity(size.entries).weight_capacity(size.weight);
        if let Some(shards) = shards {
            options.shards(shards);
        }
        let options = options.build().expect("both capacities are said");
        Self(quick_cache::sync::Cache::with_options(
            options,
            ByValue,
            quick_cache::DefaultHashBuilder::default(),
            quick_cache::sync::DefaultLifecycle::default(),
        ))
    }
}

impl Policy for Quick {
    fn visit(&mut self, access: Access) -> bool {
        let hit = self.0.get(&access.key).is_some();
        if !hit {
            self.0.insert(access.key, access.weight);
        }
        hit
    }
}

/// With the eight shards it takes by itself.
struct Foyer(foyer_memory::Cache<u32, u32>);

impl Foyer {
    fn new(size: Size, policy: EvictionConfig) -> Self {
        let capacity = usize::try_from(size.weight).unwrap_or(usize::MAX);
        let cache = CacheBuilder::new(capacity).with_eviction_config(policy);
        Self(cache.with_weighter(|_: &u32, weight: &u32| *weight as usize).build())
    }
}

impl Policy for Foyer {
    fn visit(&mut self, access: Access) -> bool {
        let hit = self.0.get(&access.key).is_some();
        if !hit {
            self.0.insert(access.key, access.weight);
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { entries: 1000, weight: 1000 };

    /// A row whose cache held nothing, or all, would make a column of nonsense.
    #[test]
    fn every_policy_holds_what_fits_and_no_more() {
        for row in &ROWS {
            let mut fits = (row.make)(SIZE);
            let hits = (0..4000).filter(|at| fits.visit(Access { key: at % 400, weight: 1 })).count();
            assert!(hits >= 3500, "{}: {hits} of 3600 possible hits", row.name);
            let mut overflows = (row.make)(SIZE);
            let hits = (0..40_000).filter(|at| overflows.visit(Access { key: at % 4000, weight: 1 })).count();
            assert!(hits <= 12_000, "{}: {hits} hits with a quarter of the keys in memory", row.name);
        }
    }

    #[test]
    fn weights_count() {
        for row in &ROWS {
            let mut cache = (row.make)(SIZE);
            let hits = (0..4000).filter(|at| cache.visit(Access { key: at % 400, weight: 10 })).count();
            assert!(hits < 1400, "{}: {hits} hits with a quarter of the keys in memory", row.name);
        }
    }
}

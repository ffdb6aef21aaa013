//! Small files kept in memory, each for as long as it is the same on disk.
//!
//! Nothing here asks the disk: an [`Entry`] carries the stamps it was made under, and whoever uses it compares them
//! first. What is not there is never remembered.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use super::resource::{Content, Resource};
use super::root::{Place, Root};
use super::stamp::Stamp;

/// How long a compressed sibling that came to be later may go unseen.
const SIBLINGS_AGE: Duration = Duration::from_secs(1);

/// What a variant costs beside its bytes: names, stamps and ready-made header fields, roughly.
const VARIANT_OVERHEAD: usize = 2 << 10;

/// At most this many locks, so that threads seldom meet.
const MAX_SHARDS: usize = 16;

/// A resource in memory, and what proves that it is still right.
pub(super) struct Entry {
    pub(super) resource: Resource,
    origins: Vec<Origin>,
    /// When siblings were last looked for; `None` where there is no use in looking.
    looked: Option<Instant>,
    used: AtomicBool,
    weight: usize,
}

/// Where a variant was read, and what it was then.
pub(super) struct Origin {
    pub(super) place: Place,
    pub(super) stamp: Stamp,
}

impl Entry {
    /// `origins` are those of the variants, in their order.
    pub(super) fn new(resource: Resource, origins: Vec<Origin>, may_have_siblings: bool) -> Self {
        let bytes: usize = resource.variants.iter().map(|variant| held(&variant.content)).sum();
        let weight = bytes + resource.variants.len() * VARIANT_OVERHEAD;
        let looked = may_have_siblings.then(Instant::now);
        Self { resource, origins, looked, used: AtomicBool::new(true), weight }
    }

    /// Whether this variant is what the disk has: one look at the file, and one at the sibling if that was chosen.
    pub(super) fn is_current(&self, root: &Root, chosen: usize) -> bool {
        let is_same = |origin: &Origin| root.stamp(&origin.place) == Some(origin.stamp);
        let original = self.origins.len() - 1;
        self.looked.is_none_or(|looked| looked.elapsed() < SIBLINGS_AGE)
            && is_same(&self.origins[original])
            && (chosen == original || is_same(&self.origins[chosen]))
    }
}

fn held(content: &Content) -> usize {
    match content {
        Content::Held(bytes) => bytes.len(),
        Content::File(_) => 0,
    }
}

/// Entries by clean path, bounded in all.
pub(super) struct Memory {
    shards: Box<[RwLock<Shard>]>,
    hasher: RandomState,
    /// What one shard may weigh.
    budget: usize,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<Box<str>, Arc<Entry>>,
    weight: usize,
}

impl Memory {
    /// Holds `total` bytes at most, in files of `largest` bytes at most.
    pub(super) fn new(total: usize, largest: usize) -> Self {
        let shards = (total / (largest.max(1) * 4)).clamp(1, MAX_SHARDS);
        let make = || RwLock::new(Shard::default());
        Self {
            shards: std::iter::repeat_with(make).take(shards).collect(),
            hasher: RandomState::new(),
            budget: total / shards,
        }
    }

    /// Whether something of so many bytes would be kept.
    pub(super) fn has_room_for(&self, bytes: usize, variants: usize) -> bool {
        bytes + variants * VARIANT_OVERHEAD <= self.budget
    }

    /// What is held for `path`, current or not.
    pub(super) fn get(&self, path: &str) -> Option<Arc<Entry>> {
        let shard = self.shard(path).read().unwrap_or_else(PoisonError::into_inner);
        let entry = shard.entries.get(path)?;
        // Most hits find it set, and threads that only read do not take the cache line from each other.
        if !entry.used.load(Ordering::Relaxed) {
            entry.used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(entry))
    }

    /// Holds `entry` in place of what was held for `path`.
    pub(super) fn hold(&self, path: &str, entry: Arc<Entry>) {
        let mut shard = self.write(path);
        shard.forget(path);
        shard.weight += entry.weight;
        shard.entries.insert(path.into(), entry);
        shard.shrink(self.budget);
    }

    /// Holds nothing for `path`.
    pub(super) fn forget(&self, path: &str) {
        self.write(path).forget(path);
    }

    fn write(&self, path: &str) -> RwLockWriteGuard<'_, Shard> {
        self.shard(path).write().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard(&self, path: &str) -> &RwLock<Shard> {
        if let [only] = &*self.shards {
            return only;
        }
        let hash = usize::try_from(self.hasher.hash_one(path) >> 32).unwrap_or_default();
        &self.shards[hash % self.shards.len()]
    }
}

impl Shard {
    fn forget(&mut self, path: &str) {
        if let Some(entry) = self.entries.remove(path) {
            self.weight -= entry.weight;
        }
    }

    /// Lets go of what was not used since the last time; if that is not enough, of anything. Goes an eighth below
    /// the budget, so that not every newcomer has to do it.
    fn shrink(&mut self, budget: usize) {
        if self.weight <= budget {
            return;
        }
        let goal = budget - budget / 8;
        for spares_used in [true, false] {
            let weight = &mut self.weight;
            self.entries.retain(|_, entry| {
                let is_kept = *weight <= goal || (spares_used && entry.used.swap(false, Ordering::Relaxed));
                if !is_kept {
                    *weight -= entry.weight;
                }
                is_kept
            });
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} x {} bytes)", self.shards.len(), self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(weight: usize) -> Arc<Entry> {
        let resource = Resource { variants: Vec::new() };
        Arc::new(Entry { resource, origins: Vec::new(), looked: None, used: AtomicBool::new(true), weight })
    }

    fn weight(memory: &Memory) -> usize {
        memory.shards.iter().map(|shard| shard.read().unwrap().weight).sum()
    }

    #[test]
    fn the_total_stays_within_its_bound() {
        let memory = Memory::new(100_000, 1000);
        for at in 0..5000 {
            memory.hold(&format!("file-{at}"), entry(500 + at % 500));
            assert!(weight(&memory) <= 100_000);
        }
        assert!(weight(&memory) > 60_000, "what fits is kept");
    }

    #[test]
    fn what_is_used_outlives_what_is_not() {
        let memory = Memory::new(10_000, 10_000);
        memory.hold("hot", entry(100));
        let mut survived = 0;
        for at in 0..1000 {
            memory.hold(&format!("cold-{at}"), entry(1000));
            survived += usize::from(memory.get("hot").is_some());
            if memory.get("hot").is_none() {
                memory.hold("hot", entry(100));
            }
        }
        assert!(survived > 950, "{survived} of 1000");
    }

    #[test]
    fn holding_again_and_forgetting_keep_the_books() {
        let memory = Memory::new(10_000, 10_000);
        memory.hold("a", entry(100));
        memory.hold("a", entry(300));
        assert_eq!(weight(&memory), 300);
        memory.forget("a");
        memory.forget("a");
        assert_eq!(weight(&memory), 0);
        assert!(memory.get("a").is_none());
    }
}

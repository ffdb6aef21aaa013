//! Small files kept in memory, each for as long as it is the same on disk.
//!
//! An [`Entry`] carries the stamps it was made under, and is used only where the disk says the same once more. What is
//! not there is never remembered.
//!
//! Each thread has a lane of its own, so that threads neither wait for each other nor pass cache lines to and fro: that
//! costs more than the answer itself. What all of them want is held once for each.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use skep_units::{read_lock, write_lock};

use super::resource::{Content, Resource};
use super::root::{Root, RootPath};
use super::stamp::Stamp;

/// How long a compressed sibling that came to be later may go unseen.
const SIBLINGS_AGE: Duration = Duration::from_secs(1);

/// What a variant costs beside its bytes: names, stamps and ready-made header fields, roughly.
const VARIANT_OVERHEAD: usize = 2 << 10;

/// At most this many lanes: with more threads, some share one.
const MAX_LANES: usize = 16;

/// A lane has room for this many of the largest files at least, even if there is one lane only.
const LARGEST_IN_LANE: usize = 4;

thread_local! {
    /// Which lane this thread takes, before it is known how many there are.
    static LANE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

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
    pub(super) place: RootPath,
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
        Content::File(_) | Content::Elsewhere => 0,
    }
}

/// Entries by clean path, bounded in all.
pub(super) struct Memory {
    lanes: Box<[RwLock<Lane>]>,
    /// What one lane may weigh.
    budget: usize,
}

#[derive(Default)]
struct Lane {
    entries: HashMap<Box<str>, Arc<Entry>>,
    weight: usize,
}

impl Memory {
    /// Holds `total` bytes at most, in files of `largest` bytes at most.
    pub(super) fn new(total: usize, largest: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let roomy = total / (largest.max(1) * LARGEST_IN_LANE);
        let count = roomy.clamp(1, cores.min(MAX_LANES));
        let lanes = std::iter::repeat_with(|| RwLock::new(Lane::default())).take(count).collect();
        Self { lanes, budget: total / count }
    }

    /// Whether a file of this size would be cached.
    pub(super) fn has_room_for(&self, bytes: usize, variants: usize) -> bool {
        bytes + variants * VARIANT_OVERHEAD <= self.budget
    }

    /// What this thread holds for `path`, current or not.
    pub(super) fn get(&self, path: &str) -> Option<Arc<Entry>> {
        let lane = read_lock(self.lane());
        let entry = lane.entries.get(path)?;
        // Most hits find it set and write nothing.
        if !entry.used.load(Ordering::Relaxed) {
            entry.used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(entry))
    }

    /// Holds `entry` in place of what was held for `path`.
    pub(super) fn hold(&self, path: &str, entry: Arc<Entry>) {
        let mut lane = self.write();
        lane.forget(path);
        lane.weight += entry.weight;
        lane.entries.insert(path.into(), entry);
        lane.shrink(self.budget);
    }

    /// Holds nothing for `path`.
    pub(super) fn forget(&self, path: &str) {
        self.write().forget(path);
    }

    fn write(&self) -> RwLockWriteGuard<'_, Lane> {
        write_lock(self.lane())
    }

    fn lane(&self) -> &RwLock<Lane> {
        &self.lanes[LANE.with(|lane| *lane) % self.lanes.len()]
    }
}

impl Lane {
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
        write!(f, "Memory({} x {} bytes)", self.lanes.len(), self.budget)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/files/memory.rs"]
mod tests;

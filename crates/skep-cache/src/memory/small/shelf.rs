//! Which entries of a small cache stay.
//!
//! Newcomers wait in a queue of their own (S3-FIFO: Yang, Zhang, Qiu, Yue, Rashmi, 2023). At its end one is kept that was read
//! twice meanwhile, or was wanted more often lately than what would have to go for it (`TinyLFU`: [`Sketch`]). Of what is kept,
//! the oldest goes, but what was read since it was last looked at gets another round (CLOCK). Reads move nothing: they count.
//!
//! How much room newcomers have, those decide who come back. The keys of what went last are remembered: one that went when
//! it was new makes the room for newcomers larger, one that had been kept makes it smaller (as in ARC: Megiddo, Modha, 2003).
//!
//! The numbers are those of some 3 000 tried on public traces (`cargo xtask peers cache traces`).

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use hashbrown::HashTable;

use super::slots::{Place, Slot, Slots};
use crate::driver::{Record, Usage};
use crate::memory::store::Kept;
use crate::sketch::Sketch;

#[cfg(test)]
mod tests;

/// More reads of an entry than this are not counted.
const USES: u8 = 2;
/// A newcomer that was read so often is kept without comparing.
const ENOUGH: u8 = 2;

#[derive(Debug)]
pub(super) struct Shelf {
    /// The slots, by the hash of their keys.
    index: HashTable<usize>,
    slots: Slots,
    sketch: Box<[AtomicU64]>,
    /// How often something was counted since the sketch last faded.
    counted: usize,
    room: u64,
    for_new: u64,
    evicted: u64,
}

impl Shelf {
    pub(super) fn new(room: u64, entries: usize) -> Self {
        let words = (entries.clamp(16, 1 << 20) * 3).next_power_of_two();
        Self {
            index: HashTable::new(),
            slots: Slots::new(),
            sketch: (0..words).map(|_| AtomicU64::new(0)).collect(),
            counted: 0,
            room,
            for_new: room / 20,
            evicted: 0,
        }
    }

    /// Counts as a use.
    #[inline]
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<&Record> {
        let slot = &self.slots[self.find(hash, key)?];
        let uses = slot.uses.load(Relaxed);
        if uses < USES {
            // Another reader's count may get lost: a locked addition costs more than that is worth.
            slot.uses.store(uses + 1, Relaxed);
        }
        slot.record.as_ref()
    }

    pub(super) fn peek(&self, hash: u64, key: &[u8]) -> Option<&Record> {
        self.slots[self.find(hash, key)?].record.as_ref()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&[u8], &Record)> {
        self.slots.iter().filter_map(|slot| Some((&*slot.key, slot.record.as_ref()?)))
    }

    pub(super) fn usage(&self) -> Usage {
        let entries = self.entries().count() as u64;
        Usage { entries: Some(entries), bytes: Some(self.weight()), evicted: Some(self.evicted) }
    }

    /// Stores it over what has the same key. It weighs less than the room, and stays at least until the next one comes.
    pub(super) fn insert(&mut self, hash: u64, key: &[u8], kept: Kept) {
        let Kept { record, weight } = kept;
        let mut slot = Slot::new(hash, key, record, weight);
        let mut place = if weight == 0 { Place::Pinned } else { Place::New };
        if let Some(old) = self.find(hash, key) {
            if weight > 0 && self.slots[old].place() == Place::Kept {
                place = Place::Kept;
            }
            slot.uses = std::mem::take(&mut self.slots[old].uses);
            self.forget(old);
        } else {
            self.returned(hash, weight);
        }
        self.count(hash, 1);
        while self.weight() + weight > self.room && self.evict(weight) {}
        let at = self.slots.add(slot, place);
        self.index.insert_unique(hash, at, |&at| self.slots[at].hash);
    }

    pub(super) fn remove(&mut self, hash: u64, key: &[u8]) {
        if let Some(at) = self.find(hash, key) {
            self.forget(at);
        }
    }

    #[inline]
    fn find(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let is_it = |slot: &Slot| slot.hash == hash && slot.record.is_some() && *slot.key == *key;
        self.index.find(hash, |&at| is_it(&self.slots[at])).copied()
    }

    fn weight(&self) -> u64 {
        self.slots.queue(Place::New).weight + self.slots.queue(Place::Kept).weight
    }

    /// If the key is remembered, it would still be here with more room on the side where it was. That side gets some: the more,
    /// the less is remembered of it beside the other. The steps suit the lengths of the memories, which differ.
    fn returned(&mut self, hash: u64, weight: u64) {
        let is_it = |slot: &Slot| slot.hash == hash && slot.record.is_none();
        let Some(&at) = self.index.find(hash, |&at| is_it(&self.slots[at])) else { return };
        let remembered = [Place::GoneNew, Place::GoneKept].map(|place| self.slots.queue(place).len.max(1) as u64);
        let most = remembered[0].max(remembered[1]);
        self.for_new = match self.slots[at].place() {
            Place::GoneNew => (self.for_new + weight * most / remembered[0] / 10).min(self.room / 10 * 9),
            _ => self.for_new.saturating_sub(weight * most / remembered[1] * 7 / 40).max(self.room / 100),
        };
        self.forget(at);
    }

    /// Makes some room for a newcomer of this weight; `false` if there is nothing that could go.
    fn evict(&mut self, weight: u64) -> bool {
        let is_crowded = self.slots.queue(Place::New).weight + weight > self.for_new;
        match (self.slots.oldest(Place::New), self.slots.oldest(Place::Kept)) {
            (Some(newcomer), kept) if is_crowded || kept.is_none() => self.judge(newcomer),
            _ => match self.victim() {
                Some(victim) => self.expel(victim, Place::GoneKept),
                None => return false,
            },
        }
        true
    }

    /// The oldest newcomer is kept from now on, or goes.
    fn judge(&mut self, newcomer: usize) {
        let slot = &mut self.slots[newcomer];
        let (uses, hash, weight) = (std::mem::take(slot.uses.get_mut()), slot.hash, slot.weight);
        self.count(hash, uses);
        let fits = self.slots.queue(Place::Kept).weight + weight <= self.room - self.for_new;
        if uses < ENOUGH && !fits {
            let sketch = Sketch(&self.sketch);
            let wanted = sketch.uses(hash);
            match self.victim() {
                Some(victim) if wanted > Sketch(&self.sketch).uses(self.slots[victim].hash) => {
                    self.expel(victim, Place::GoneKept);
                }
                _ => return self.expel(newcomer, Place::GoneNew),
            }
        }
        self.slots.requeue(newcomer, Place::Kept);
    }

    /// The oldest of what is kept that was not read since it was last looked at.
    fn victim(&mut self) -> Option<usize> {
        loop {
            let at = self.slots.oldest(Place::Kept)?;
            let uses = self.slots[at].uses.get_mut();
            if *uses == 0 {
                return Some(at);
            }
            *uses -= 1;
            self.count(self.slots[at].hash, 1);
            self.slots.requeue(at, Place::Kept);
        }
    }

    /// Drops an entry, and remembers its key for a while.
    fn expel(&mut self, at: usize, place: Place) {
        self.evicted += 1;
        self.slots.requeue(at, place);
        let slot = &mut self.slots[at];
        (slot.key, slot.record) = (Box::default(), None);
        let most = if place == Place::GoneNew { self.len() * 3 / 10 } else { self.len() * 2 / 5 };
        while self.slots.queue(place).len > most {
            let Some(oldest) = self.slots.oldest(place) else { return };
            self.forget(oldest);
        }
    }

    fn forget(&mut self, at: usize) {
        if let Ok(found) = self.index.find_entry(self.slots[at].hash, |&found| found == at) {
            found.remove();
        }
        self.slots.release(at);
    }

    /// Counts uses of a key, and lets the past fade: it is halved after ten counts for each entry. All of it at once, a few
    /// thousand words at most: with a word at a time, what just faded would be compared with what did not yet.
    fn count(&mut self, hash: u64, uses: u8) {
        if uses == 0 {
            return;
        }
        let sketch = Sketch(&self.sketch);
        sketch.add(hash, u64::from(uses));
        self.counted += 1;
        if self.counted >= self.len().max(16) * 10 {
            self.counted = 0;
            (0..self.sketch.len()).for_each(|at| sketch.age(at));
        }
    }

    /// Entries that may have to go.
    fn len(&self) -> usize {
        self.slots.queue(Place::New).len + self.slots.queue(Place::Kept).len
    }
}

//! Slots in a row, each in one of four queues at most.

use std::ops::{Index, IndexMut};
use std::sync::atomic::AtomicU8;

use crate::driver::Record;

/// Stands where there is no slot.
const NONE: usize = usize::MAX;

/// An entry, or what is remembered of one.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) hash: u64,
    pub(super) key: Box<[u8]>,
    /// `None`: it had to go.
    pub(super) record: Option<Record>,
    pub(super) weight: u64,
    /// Reads since it was last looked at, up to a few.
    pub(super) uses: AtomicU8,
    place: Place,
    older: usize,
    newer: usize,
}

/// Where a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Came lately.
    New,
    /// Came long ago, and is wanted.
    Kept,
    /// Had to go when it was new.
    GoneNew,
    /// Had to go after it had been kept.
    GoneKept,
    /// In no queue: stays.
    Pinned,
    /// Is nothing at all.
    Free,
}

/// How many are in a queue, and what they weigh.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) len: usize,
    pub(super) weight: u64,
    oldest: usize,
    newest: usize,
}

#[derive(Debug)]
pub(super) struct Slots {
    all: Vec<Slot>,
    free: Vec<usize>,
    queues: [Queue; 4],
}

impl Slot {
    pub(super) fn new(hash: u64, key: &[u8], record: Record, weight: u64) -> Self {
        let (uses, place) = (AtomicU8::new(0), Place::Free);
        Self { hash, key: key.into(), record: Some(record), weight, uses, place, older: NONE, newer: NONE }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }
}

impl Slots {
    pub(super) fn new() -> Self {
        let empty = Queue { len: 0, weight: 0, oldest: NONE, newest: NONE };
        Self { all: Vec::new(), free: Vec::new(), queues: [empty; 4] }
    }

    pub(super) fn queue(&self, place: Place) -> Queue {
        self.queues[place as usize]
    }

    pub(super) fn oldest(&self, place: Place) -> Option<usize> {
        Some(self.queue(place).oldest).filter(|at| *at != NONE)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.all.iter()
    }

    /// Puts it behind all others of a queue, or aside.
    pub(super) fn add(&mut self, slot: Slot, place: Place) -> usize {
        let at = self.free.pop().unwrap_or(self.all.len());
        if at == self.all.len() {
            self.all.push(slot);
        } else {
            self.all[at] = slot;
        }
        self.link(at, place);
        at
    }

    /// Puts it behind all others of this queue.
    pub(super) fn requeue(&mut self, at: usize, place: Place) {
        self.unlink(at);
        self.link(at, place);
    }

    /// What it held is dropped.
    pub(super) fn release(&mut self, at: usize) {
        self.unlink(at);
        let slot = &mut self.all[at];
        (slot.key, slot.record, slot.place) = (Box::default(), None, Place::Free);
        self.free.push(at);
    }

    fn link(&mut self, at: usize, place: Place) {
        self.all[at].place = place;
        let Some(queue) = self.queues.get_mut(place as usize) else { return };
        let older = std::mem::replace(&mut queue.newest, at);
        queue.len += 1;
        queue.weight += self.all[at].weight;
        (self.all[at].older, self.all[at].newer) = (older, NONE);
        match self.all.get_mut(older) {
            Some(older) => older.newer = at,
            None => queue.oldest = at,
        }
    }

    fn unlink(&mut self, at: usize) {
        let Slot { place, older, newer, weight, .. } = self.all[at];
        let Some(queue) = self.queues.get_mut(place as usize) else { return };
        queue.len -= 1;
        queue.weight -= weight;
        match self.all.get_mut(older) {
            Some(older) => older.newer = newer,
            None => queue.oldest = newer,
        }
        match self.all.get_mut(newer) {
            Some(newer) => newer.older = older,
            None => queue.newest = older,
        }
    }
}

impl Index<usize> for Slots {
    type Output = Slot;

    fn index(&self, at: usize) -> &Slot {
        &self.all[at]
    }
}

impl IndexMut<usize> for Slots {
    fn index_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.all[at]
    }
}

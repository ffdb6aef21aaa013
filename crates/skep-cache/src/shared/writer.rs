//! Writing a shard: under its lock, so that every step leaves it consistent.
//!
//! 1. Space is freed: the slot of an old record is emptied, then the ring's tail moves over the record.
//! 2. The record is written after the ring's head, where no reader looks.
//! 3. The head moves over it.
//! 4. Its slot is set atomically, over the slot of the record that it replaces.
//!
//! A process killed between two steps loses its write and nothing else; the next one continues.
//!
//! A record of the same length is overwritten instead, while its slot is busy: replaced records then fill no ring, and
//! the words are in the processor's cache. A process killed then also loses the old value, so tombstones and epochs are
//! never overwritten.
//!
//! Eviction: new entries go to the small ring, three twentieths of the space. At its end, entries that were read move
//! to the main ring (S3-FIFO: Yang, Zhang, Qiu, Yue, Rashmi, 2023), and of the others those that were used more often
//! lately than the entries they would replace ([`Sketch`], `TinyLFU`). In the main ring, entries read since the last
//! round get another one (CLOCK). The work of one write is bounded, so a write takes constant time.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::fence;

use super::layout::{self, LINE};
use super::lease::Leases;
use super::lock::Held;
use super::record::{self, Head, New};
use super::ring::{Fault, Ring};
use super::shard::{Count, Shard};
use super::sketch::Sketch;
use super::slot::Slot;

/// The maximum number of records that one write moves to the start of the main ring.
const ROUNDS: u32 = 32;

#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) shard: Shard<'a>,
    held: Held<'a>,
    small: Ring,
    main: Ring,
    now: u64,
    generation: u8,
    rounds: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    at: usize,
    slot: Slot,
    pub(crate) head: Head,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(shard: Shard<'a>, held: Held<'a>, now: u64, generation: u64) -> Result<Self, Fault> {
        let small = Ring::load(&shard.words, &shard.map.small, layout::SMALL)?;
        let main = Ring::load(&shard.words, &shard.map.main, layout::MAIN)?;
        Ok(Self { shard, held, small, main, now, generation: generation as u8, rounds: ROUNDS })
    }

    pub(crate) fn check(shard: &Shard<'a>) -> Result<(), Fault> {
        let mut small = Ring::load(&shard.words, &shard.map.small, layout::SMALL)?;
        let mut main = Ring::load(&shard.words, &shard.map.main, layout::MAIN)?;
        small.walk(&shard.words)?;
        main.walk(&shard.words)
    }

    /// The record of a key, dead or alive.
    pub(crate) fn find(&self, hash: u64, key: &[u8]) -> Option<Location> {
        self.shard.places(hash).find_map(|at| {
            let slot = self.shard.slot(at);
            let is_readable = |slot: &Slot| slot.fits(hash) && !slot.is_busy();
            let (words, head) = Some(slot).filter(is_readable).and_then(|slot| self.shard.record(slot))?;
            let is_it = head.hash == hash && record::has_key(words, &head, key, self.shard.seeds);
            is_it.then_some(Location { at, slot, head })
        })
    }

    /// The value of a record, if its checksum is right.
    pub(crate) fn value(&self, place: &Location, key: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let (words, head) = self.shard.record(place.slot).ok_or(Fault::Damaged)?;
        let copied = record::read(words, &head, key, self.shard.seeds, out);
        if copied == record::CopyResult::Whole { Ok(()) } else { Err(Fault::Damaged) }
    }

    /// Stores a record, replacing the one that [`find`](Self::find) found.
    pub(crate) fn put(&mut self, place: Option<Location>, new: &New<'_>) -> Result<(), Fault> {
        let size = record::size(new.key.len(), new.value.len());
        if let Some(place) = place.filter(|place| place.head.words() == size && place.head.is_plain() && new.is_plain())
        {
            return self.overwrite(place, new, size);
        }
        let is_main = place.is_some_and(|place| place.slot.is_main()) || size * 4 > self.small.len();
        let evicted = (self.small.tail, self.main.head, self.main.tail);
        self.room(is_main, size)?;
        let has_moved = evicted != (self.small.tail, self.main.head, self.main.tail);
        let place = if has_moved { self.find(new.hash, new.key) } else { place };
        fence(Release);
        let ring = if is_main { &mut self.main } else { &mut self.small };
        let position = ring.begin(&self.shard.words, size);
        let (at, lap) = (ring.word(position), ring.lap(position));
        record::write(self.shard.words.part(at..at + size).ok_or(Fault::Damaged)?, self.shard.seeds, new);
        if !self.held.is_mine() {
            return Err(Fault::Busy);
        }
        ring.advance_head(&self.shard.words, size);
        self.sketch().add(new.hash, 1);
        self.age_sketch();
        let uses = place.map_or(0, |place| place.slot.uses());
        self.publish(place, Slot::new(new.hash, at, lap, is_main, uses), new.hash, size)
    }

    /// Overwrites a record of the same length.
    fn overwrite(&mut self, place: Location, new: &New<'_>, size: usize) -> Result<(), Fault> {
        let (at, busy) = (place.slot.at(), place.slot.busy());
        let words = self.shard.words.part(at..at + size).ok_or(Fault::Damaged)?;
        if !self.held.is_mine() {
            return Err(Fault::Busy);
        }
        self.replace(place.at, place.slot, busy)?;
        fence(Release);
        // The length does not change, so the ring stays walkable.
        record::write(words, self.shard.seeds, new);
        self.replace(place.at, busy, place.slot.rewritten())
    }

    pub(crate) fn remove(&mut self, place: Location) {
        self.vacate(place.at, &place.head);
    }

    pub(crate) fn leases(&self) -> Leases<'a> {
        let end = layout::LEASES + layout::MOST_LEASES * super::lease::WORDS;
        Leases { taken: self.shard.words.at(layout::LEASED), places: self.shard.part(&(layout::LEASES..end)) }
    }

    /// Changes the stamp of a key.
    pub(crate) fn tell(&self, hash: u64) {
        self.shard.words.count(changes(hash), 1);
    }

    fn publish(&mut self, place: Option<Location>, slot: Slot, hash: u64, size: usize) -> Result<(), Fault> {
        let (at, expected) = match place {
            Some(place) => (place.at, place.slot),
            None => self.vacancy(hash),
        };
        if expected.is_empty() {
            self.shard.words.count(layout::LIVE, 1);
        } else {
            let old = self.shard.record(expected).map_or(0, |(_, head)| head.words());
            self.subtract(layout::FILLED, old as u64);
        }
        if place.is_none() && !expected.is_empty() {
            self.shard.count(Count::Evicted);
        }
        self.shard.words.count(layout::FILLED, size as u64);
        self.replace(at, expected, slot)
    }

    /// Sets a slot, unless another process did: then our lock was taken.
    fn replace(&self, at: usize, expected: Slot, slot: Slot) -> Result<(), Fault> {
        let word = self.shard.words.at(at);
        let swap = |now| {
            let is_expected = Slot(now).same(expected) || expected.is_empty() && Slot(now).is_empty();
            is_expected.then_some(slot.0)
        };
        word.fetch_update(Release, Relaxed, swap).map(drop).map_err(|_| Fault::Busy)
    }

    /// A slot for a new key: an empty one, or the least used.
    fn vacancy(&self, hash: u64) -> (usize, Slot) {
        let slots = self.shard.places(hash).map(|at| (at, self.shard.slot(at)));
        let least = |(_, slot): &(usize, Slot)| if slot.is_empty() { 0 } else { slot.uses() + 1 };
        slots.min_by_key(least).unwrap_or((self.shard.map.index.start, Slot::EMPTY))
    }

    fn room(&mut self, is_main: bool, size: usize) -> Result<(), Fault> {
        while is_main && !self.main.fits(size, self.reserve()) {
            self.evict_from_main(size)?;
        }
        while !is_main && !self.small.fits(size, 0) {
            self.evict_from_small()?;
        }
        Ok(())
    }

    /// Words to keep free in the main ring, so that a record can move from its end to its start.
    fn reserve(&self) -> usize {
        self.main.len() / 32 / LINE * LINE
    }

    /// Drops or moves on the oldest record of the small ring.
    fn evict_from_small(&mut self) -> Result<(), Fault> {
        let Some(head) = self.small.oldest(&self.shard.words)? else { return Ok(()) };
        let (from, size) = (self.small.word(self.small.tail), head.words());
        if let Some(at) = self.slot_of(&head, from) {
            let uses = self.shard.slot(at).uses();
            self.sketch().add(head.hash, uses);
            let stays = !self.is_over(&head) && self.deserves_main(&head, size, uses)?;
            if stays {
                self.room(true, size)?;
                self.relocate(at, from, size, 0)?;
            } else {
                self.drop_record(at, &head);
            }
        }
        self.small.advance_tail(&self.shard.words, size);
        Ok(())
    }

    fn deserves_main(&mut self, head: &Head, size: usize, uses: u64) -> Result<bool, Fault> {
        if uses > 0 || head.is_epoch() || self.is_sparse() || self.main.fits(size, self.reserve()) {
            return Ok(true);
        }
        let Some(victim) = self.victim(size)? else { return Ok(true) };
        let sketch = self.sketch();
        Ok(sketch.uses(head.hash) > sketch.uses(victim))
    }

    /// The hash of the next record to evict from the main ring; `None` if there is space for a record of this size.
    fn victim(&mut self, size: usize) -> Result<Option<u64>, Fault> {
        while !self.main.fits(size, self.reserve()) {
            let Some(head) = self.main.oldest(&self.shard.words)? else { return Ok(None) };
            let from = self.main.word(self.main.tail);
            match self.slot_of(&head, from) {
                Some(at) if self.is_over(&head) => self.drop_record(at, &head),
                Some(at) if !self.another_round(at, from, &head)? => return Ok(Some(head.hash)),
                _ => {}
            }
            self.main.advance_tail(&self.shard.words, head.words());
        }
        Ok(None)
    }

    fn evict_from_main(&mut self, size: usize) -> Result<(), Fault> {
        if self.victim(size)?.is_none() {
            return Ok(());
        }
        let Some(head) = self.main.oldest(&self.shard.words)? else { return Ok(()) };
        let from = self.main.word(self.main.tail);
        if let Some(at) = self.slot_of(&head, from) {
            self.drop_record(at, &head);
        }
        self.main.advance_tail(&self.shard.words, head.words());
        Ok(())
    }

    /// Copies the oldest record of the main ring to its start, if it was used and the limit for this write is not
    /// reached.
    fn another_round(&mut self, at: usize, from: usize, head: &Head) -> Result<bool, Fault> {
        let uses = self.shard.slot(at).uses();
        let is_wanted = uses > 0 || head.is_epoch() || self.is_sparse();
        if !is_wanted || self.rounds == 0 || !self.main.fits(head.words(), 0) {
            return Ok(false);
        }
        self.rounds -= 1;
        self.sketch().add(head.hash, uses.min(1));
        self.relocate(at, from, head.words(), uses.saturating_sub(1))?;
        Ok(true)
    }

    /// Copies a record to the start of the main ring, where it fits, and has its slot point there.
    fn relocate(&mut self, at: usize, from: usize, size: usize, uses: u64) -> Result<(), Fault> {
        fence(Release);
        let words = self.shard.words;
        let position = self.main.begin(&words, size);
        let (to, lap) = (self.main.word(position), self.main.lap(position));
        let (source, target) = words.part(from..from + size).zip(words.part(to..to + size)).ok_or(Fault::Damaged)?;
        source.iter().zip(target).for_each(|(from, to)| to.store(from.load(Relaxed), Relaxed));
        self.main.advance_head(&words, size);
        let old = self.shard.slot(at);
        let slot = Slot::new(source[0].load(Relaxed), to, lap, true, uses);
        // If a reader emptied the slot, or our lock was taken, the copy is unused.
        let _ = self.replace(at, old, slot);
        Ok(())
    }

    /// The slot of a record in a ring; `None` if it was replaced or removed.
    fn slot_of(&self, head: &Head, from: usize) -> Option<usize> {
        let points_here = |slot: Slot| !slot.is_empty() && slot.at() == from;
        self.shard.places(head.hash).find(|at| points_here(self.shard.slot(*at)))
    }

    fn is_over(&self, head: &Head) -> bool {
        head.expires <= self.now || head.generation != self.generation
    }

    fn drop_record(&mut self, at: usize, head: &Head) {
        if !self.is_over(head) {
            self.shard.count(Count::Evicted);
        }
        self.vacate(at, head);
    }

    fn vacate(&mut self, at: usize, head: &Head) {
        self.shard.words.at(at).store(Slot::EMPTY.0, Release);
        self.subtract(layout::LIVE, 1);
        self.subtract(layout::FILLED, head.words() as u64);
    }

    fn subtract(&self, at: usize, by: u64) {
        let word = self.shard.words.at(at);
        word.store(word.load(Relaxed).saturating_sub(by), Relaxed);
    }

    /// Whether replaced and removed records take much of the rings. Then moving live records is better than evicting
    /// them.
    fn is_sparse(&self) -> bool {
        let room = (self.small.len() + self.main.len()) as u64;
        self.shard.words.load(layout::FILLED) < room / 4 * 3
    }

    fn sketch(&self) -> Sketch<'a> {
        Sketch(self.shard.part(&self.shard.map.sketch))
    }

    /// Ages part of the sketch: all of it within ten writes for each entry, as in `TinyLFU`.
    fn age_sketch(&mut self) {
        let words = self.shard.words;
        let step = words.load(layout::LIVE).clamp(16, 1 << 32) * 10;
        let mut due = words.load(layout::ADDITIONS).min(step * 2) + self.sketch().0.len() as u64;
        for _ in 0..LINE {
            if due < step {
                break;
            }
            due -= step;
            self.sketch().age(words.load(layout::HAND) as usize);
            words.count(layout::HAND, 1);
        }
        words.at(layout::ADDITIONS).store(due, Relaxed);
    }
}

/// The counter for the stamp of a key.
pub(crate) fn changes(hash: u64) -> usize {
    layout::CHANGES + (hash >> 40) as usize % layout::MOST_CHANGES
}

/// Empties a damaged shard. Requires the lock, or exclusive access.
pub(crate) fn reset(shard: &Shard<'_>) {
    shard.part(&shard.map.index).iter().for_each(|slot| slot.store(Slot::EMPTY.0, Relaxed));
    fence(Release);
    shard.count(Count::Reset);
    let laps = shard.counted(Count::Reset);
    Ring::reset(&shard.words, &shard.map.small, layout::SMALL, laps);
    Ring::reset(&shard.words, &shard.map.main, layout::MAIN, laps);
    shard.words.at(layout::LIVE).store(0, Relaxed);
    shard.words.at(layout::FILLED).store(0, Relaxed);
}

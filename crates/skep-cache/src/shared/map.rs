//! The map: the contract of drivers on shared words. Files and system calls are in its [`Backing`].

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::fence;

use super::hash::Seeds;
use super::hints::Hints;
use super::layout::{self, Geometry};
use super::lock::{self, Acquired};
use super::record::{self, New};
use super::ring::Fault;
use super::shard::{Count, Found, Shard};
use super::slot::Slot;
use super::words::{Backing, Words};
use super::writer::{self, Location, Writer};
use crate::clock::Time;
use crate::driver::{Claim, Entry, Record, Removal, Token, Usage, When};
use crate::error::{Error, Result};

/// Attempts of a write, each after resetting a damaged shard.
const ATTEMPTS: u32 = 3;

#[derive(Debug)]
pub(crate) struct Map<G> {
    pub(crate) backing: G,
    geometry: Geometry,
    seeds: Seeds,
    hints: Hints,
}

#[derive(Clone, Copy, Debug)]
struct Key<'a> {
    bytes: &'a [u8],
    hash: u64,
    generation: u64,
}

impl<G: Backing> Map<G> {
    pub(crate) fn new(backing: G, geometry: Geometry, seeds: Seeds) -> Self {
        let hints = Hints::new(&geometry);
        Self { backing, geometry, seeds, hints }
    }

    /// Copies the live entry of a key into the buffer.
    #[inline]
    pub(crate) fn get(&self, key: &[u8], now: Time, out: &mut Vec<u8>) -> bool {
        let key = self.key(key);
        let shard = self.shard(key.hash);
        match shard.get(key.hash, key.bytes, now.millis(), out) {
            Found::Hit => true,
            Found::Miss => false,
            Found::Unclear => self.get_alone(key, now, out),
        }
    }

    /// Reads under the lock, when no write is in progress.
    #[cold]
    fn get_alone(&self, key: Key<'_>, now: Time, out: &mut Vec<u8>) -> bool {
        let shard = self.shard(key.hash);
        let Ok((_held, how)) = lock::lock(shard.words, &self.backing) else { return false };
        if how != Acquired::Free {
            self.take_over(&shard, how);
        }
        shard.get_alone(key.hash, key.bytes, now.millis(), out).unwrap_or_else(|_| {
            self.distrust(key.generation, "damaged entry");
            false
        })
    }

    pub(crate) fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let entry = record.entry();
        self.write(key, now, |writer, key| {
            let place = writer.find(key.hash, key.bytes);
            if !may(writer, place.as_ref(), key, &entry, when, now) {
                return Ok(Ok(false));
            }
            self.put(writer, place, key, &entry).map(|stored| stored.map(|()| true))
        })
    }

    pub(crate) fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        self.write(key, now, |writer, key| {
            let place = writer.find(key.hash, key.bytes);
            let old = place.filter(|place| exists(place, key, now));
            let was_live = old.is_some_and(|old| !old.head.is_tombstone());
            if removal.until > now {
                let version = old.map_or(0, |old| old.head.version).max(removal.version.to_u64());
                let version = crate::Version::from_u64(version);
                let mark = Record::tombstone(Removal { version, ..removal });
                return self.put(writer, place, key, &mark.entry()).map(|stored| stored.map(|()| was_live));
            }
            writer.leases().end(key.hash, None);
            if let Some(place) = place {
                writer.remove(place);
                writer.tell(key.hash);
            }
            Ok(Ok(was_live))
        })
    }

    /// Changes an entry atomically; `change` must be fast. Returns its result.
    pub(crate) fn update<R>(
        &self,
        key: &[u8],
        now: Time,
        mut change: impl FnMut(Option<&Record>) -> Result<(Option<Record>, R)>,
    ) -> Result<R> {
        let mut bytes = Vec::new();
        self.write(key, now, |writer, key| {
            let place = writer.find(key.hash, key.bytes);
            let old = match place.filter(|place| exists(place, key, now) && !place.head.is_tombstone()) {
                None => None,
                Some(place) => {
                    writer.value(&place, key.bytes, &mut bytes)?;
                    Some(Entry::parse(&bytes).map_err(|_| Fault::Damaged)?.to_record())
                }
            };
            match change(old.as_ref()) {
                Err(error) => Ok(Err(error)),
                Ok((None, result)) => Ok(Ok(result)),
                Ok((Some(new), result)) => {
                    self.put(writer, place, key, &new.entry()).map(|stored| stored.map(|()| result))
                }
            }
        })
    }

    pub(crate) fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        self.write(key, now, |writer, key| {
            let is_taken = writer.leases().take(key.hash, claim, now.millis(), &self.backing);
            Ok(Ok(is_taken.then_some(claim.token)))
        })
    }

    pub(crate) fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.write(key, now, |writer, key| {
            writer.leases().end(key.hash, Some(token.0));
            Ok(Ok(()))
        })
    }

    /// Invalidates everything at once; the space is freed gradually.
    pub(crate) fn invalidate_all(&self) {
        self.head().at(layout::INVALIDATIONS).fetch_add(1, AcqRel);
    }

    pub(crate) fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let mut keys = Vec::new();
        self.keys(prefix, now, |key| keys.push(key.to_vec()));
        let removal = Removal { version: crate::Version::ZERO, until: now };
        keys.iter().try_for_each(|key| self.remove(key, removal, now).map(drop))
    }

    /// Lists the keys with a prefix that have a live entry.
    pub(crate) fn keys(&self, prefix: &[u8], now: Time, mut each: impl FnMut(&[u8])) {
        let generation = self.generation();
        for shard in self.shards() {
            for word in shard.part(&self.geometry.index) {
                let slot = Slot(word.load(Acquire));
                let is_readable = |slot: &Slot| !slot.is_empty() && !slot.is_busy();
                let Some((words, head)) = Some(slot).filter(is_readable).and_then(|slot| shard.record(slot)) else {
                    continue;
                };
                let key = record::key_of(words, &head, self.seeds);
                fence(Acquire);
                let is_same = Slot(word.load(Relaxed)).same(slot);
                let is_live = !head.is_tombstone() && head.expires > now.millis();
                match key.filter(|key| is_same && is_live && self.seeds.hash(generation, key) == head.hash) {
                    Some(key) if key.starts_with(prefix) => each(&key),
                    _ => {}
                }
            }
        }
    }

    /// Changes with each write of this key.
    #[inline]
    pub(crate) fn stamp(&self, key: &[u8]) -> u64 {
        let key = self.key(key);
        let changes = self.shard(key.hash).words.at(writer::changes(key.hash)).load(Acquire);
        // A generation is a large step, to differ from a few writes.
        changes.wrapping_add(key.generation << 48)
    }

    /// Changes with each write of an epoch.
    #[inline]
    pub(crate) fn epochs(&self) -> u64 {
        let head = self.head();
        head.at(layout::EPOCHS).load(Acquire).wrapping_add(self.generation() << 48)
    }

    pub(crate) fn usage(&self) -> Usage {
        let filled = |shard: &Shard<'_>, at| shard.words.load(at).saturating_sub(shard.words.load(at + 1));
        let bytes = |shard: Shard<'_>| {
            filled(&shard, layout::SMALL).saturating_add(filled(&shard, layout::MAIN)).saturating_mul(8)
        };
        Usage {
            entries: Some(self.shards().map(|shard| shard.words.load(layout::LIVE)).fold(0, u64::saturating_add)),
            bytes: Some(self.shards().map(bytes).fold(0, u64::saturating_add)),
            evicted: Some(self.counted(Count::Evicted)),
        }
    }

    pub(crate) fn counted(&self, what: Count) -> u64 {
        self.shards().map(|shard| shard.counted(what)).fold(0, u64::saturating_add)
    }

    fn put(&self, writer: &mut Writer<'_>, place: Option<Location>, key: Key<'_>, entry: &Entry<'_>) -> Outcome<()> {
        let value = entry.as_bytes();
        if value.len() > self.geometry.max_value {
            return Ok(Err(Error::too_large(value.len(), self.geometry.max_value)));
        }
        let [flags, version, expires] = [u64::from(value[1]), entry.version().to_u64(), entry.dead_at().millis()];
        let new = New {
            hash: key.hash,
            flags: flags as u8,
            generation: key.generation as u8,
            key: key.bytes,
            value,
            version,
            expires,
        };
        writer.put(place, &new)?;
        writer.leases().end(key.hash, None);
        writer.tell(key.hash);
        if new.flags & record::EPOCH != 0 {
            self.head().at(layout::EPOCHS).fetch_add(1, Release);
        }
        Ok(Ok(()))
    }

    /// Works on a shard under its lock. A damaged shard is reset, and the work repeated.
    fn write<R>(
        &self,
        key: &[u8],
        now: Time,
        mut work: impl FnMut(&mut Writer<'_>, Key<'_>) -> Outcome<R>,
    ) -> Result<R> {
        if key.len() > crate::driver::MAX_KEY {
            return Err(Error::too_large(key.len(), crate::driver::MAX_KEY));
        }
        for _ in 0..ATTEMPTS {
            let key = self.key(key);
            let shard = self.shard(key.hash);
            shard.fetch(key.hash);
            let (held, how) = lock::lock(shard.words, &self.backing).map_err(busy)?;
            if how != Acquired::Free {
                self.take_over(&shard, how);
            }
            let writer = Writer::new(shard, held, now.millis(), key.generation);
            match writer.and_then(|mut writer| work(&mut writer, key)) {
                Ok(result) => return result,
                Err(Fault::Busy) => return Err(busy(Fault::Busy)),
                Err(Fault::Damaged) => self.reset(&shard, key.generation)?,
            }
        }
        Err(Error::corrupt("the shard is damaged again after each reset"))
    }

    /// Takes over from a dead or hanging process. Every step leaves a shard consistent; its unfinished steps and an
    /// overwritten value are lost.
    #[cold]
    fn take_over(&self, shard: &Shard<'_>, how: Acquired) {
        shard.count(Count::Inherited);
        shard.free_busy(self.geometry.index.clone());
        let changes = layout::CHANGES..layout::CHANGES + layout::MOST_CHANGES;
        changes.for_each(|at| shard.words.count(at, 1));
        self.head().at(layout::EPOCHS).fetch_add(1, Release);
        match how {
            Acquired::Taken => {
                tracing::warn!(target: "skep_cache", "a process hung while writing: its lock is taken over");
            }
            _ => tracing::warn!(target: "skep_cache", "a process died while writing: that write is lost"),
        }
    }

    #[cold]
    fn reset(&self, shard: &Shard<'_>, generation: u64) -> Result<()> {
        let (_held, _) = lock::lock(shard.words, &self.backing).map_err(busy)?;
        // Another process may have reset it.
        if Writer::check(shard).is_err() {
            writer::reset(shard);
        }
        self.distrust(generation, "damaged shard");
        Ok(())
    }

    /// Invalidates everything: a tombstone or an epoch may have been damaged, and without it outdated entries would
    /// return.
    #[cold]
    fn distrust(&self, generation: u64, why: &'static str) {
        let invalidations = self.head().at(layout::INVALIDATIONS);
        if invalidations.compare_exchange(generation, generation.wrapping_add(1), AcqRel, Relaxed).is_ok() {
            tracing::warn!(target: "skep_cache", why, "shared map damaged: all entries invalidated");
        }
    }

    fn head(&self) -> Words<'_> {
        Words(self.backing.words())
    }

    fn generation(&self) -> u64 {
        self.head().at(layout::INVALIDATIONS).load(Acquire)
    }

    #[inline]
    fn key<'a>(&self, bytes: &'a [u8]) -> Key<'a> {
        let generation = self.generation();
        Key { bytes, hash: self.seeds.hash(generation, bytes), generation }
    }

    #[inline]
    fn shard(&self, hash: u64) -> Shard<'_> {
        self.number((hash >> 32) as usize & (self.geometry.shards - 1))
    }

    fn shards(&self) -> impl Iterator<Item = Shard<'_>> {
        (0..self.geometry.shards).map(|number| self.number(number))
    }

    #[inline]
    fn number(&self, number: usize) -> Shard<'_> {
        let start = layout::HEAD + number * self.geometry.shard;
        let words = self.backing.words().get(start..start + self.geometry.shard).unwrap_or_default();
        Shard { words: Words(words), map: &self.geometry, seeds: self.seeds, hints: &self.hints }
    }
}

/// The result of work under a lock: a fault of the map, or the result for the caller.
type Outcome<R> = std::result::Result<Result<R>, Fault>;

fn busy(_: Fault) -> Error {
    Error::unreachable("waiting for another process that writes to the shared map")
}

fn exists(place: &Location, key: Key<'_>, now: Time) -> bool {
    place.head.expires > now.millis() && place.head.generation == key.generation as u8
}

fn may(writer: &Writer<'_>, place: Option<&Location>, key: Key<'_>, new: &Entry<'_>, when: When, now: Time) -> bool {
    let old = place.filter(|place| exists(place, key, now));
    let live = old.filter(|old| !old.head.is_tombstone());
    match when {
        When::Always => true,
        When::Absent => live.is_none(),
        When::Version(version) => live.is_some_and(|live| live.head.version == version.to_u64()),
        When::Newer => old.is_none_or(|old| old.head.version < new.version().to_u64()),
        When::Leased(token) => writer.leases().holds(key.hash, token.0, now.millis()),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/shared/map.rs"]
mod tests;

//! A near driver in front of a far one; a tier of tiers has three.
//!
//! The far tier holds the truth: leases, conditions and counters are its own. The near one holds copies, and these rules keep them true:
//!
//! - A copy is stored under a lease of the near tier that was taken before the far one was asked. Whoever writes the key,
//!   here or elsewhere, ends that lease, so a copy of what was true before is refused.
//! - What others change reaches the near tier in one of three ways, the first that the far driver can: by
//!   [`stamp`](Driver::stamp), compared with every hit: nothing stale is ever read; by [`watch`](Driver::watch): as long as a message takes, and
//!   never longer than [`bound`](Tiered::bound); or by that bound alone. Of three tiers, the middle one may be shared by the processes of a
//!   machine: its stamps ([`stamp_here`](Driver::stamp_here)) tell the first at once what these write, whatever the last one can.
//! - Epochs of tags are asked of the far tier; `Cache` keeps them.
//!
//! While the far tier fails, the near one serves what it has. What was to be removed meanwhile is removed when it answers again.

use std::sync::Arc;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::clock::{Time, Version};
use crate::driver::{
    Change, Claim, Driver, Entry, Flags, Header, Listener, Ready, Record, Removal, Token, Usage, When, ready,
};
use crate::error::{Error, Result};

mod back;
mod missed;
mod seal;
mod worth;
mod writes;

use back::Back;
use missed::Missed;
use seal::{Seal, sum};
use worth::Worth;
pub use writes::Writes;

/// A driver made of two.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Cache, Memory, Tiered, Writes};
///
/// let far = Memory::new(64 << 20); // in earnest: shared memory, memcached, Redis
/// let tiers = Tiered::new(Memory::new(1 << 20), far)
///     .writes("sessions", Writes::Around)
///     .bound(Duration::from_millis(500));
/// let cache = Cache::<str, u32, _>::new("answers", tiers)?;
/// cache.now().set("life", &42)?;
/// assert_eq!(cache.now().get("life")?, Some(42));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct Tiered<N, F> {
    near: Arc<N>,
    far: F,
    policies: Vec<(Box<[u8]>, Writes)>,
    otherwise: Writes,
    bound: Duration,
    /// Whether the far driver tells what others change.
    told: bool,
    breaker: Breaker,
    missed: Missed,
    back: Back,
    worth: Worth,
}

/// How long a copy may be on its way from the far to the near tier.
const FILL: Duration = Duration::from_secs(5);
/// How old a copy may become where nobody tells of changes, and where messages do, if one is lost.
const UNTOLD: Duration = Duration::from_secs(1);
const TOLD: Duration = Duration::from_mins(1);

impl<N: Ready, F: Driver> Tiered<N, F> {
    /// Puts `near` in front of `far`.
    #[must_use]
    pub fn new(near: N, far: F) -> Self {
        let near = Arc::new(near);
        let copies = Arc::clone(&near);
        let told = far.watch(Arc::new(move |change| void(&*copies, change)));
        Self {
            near,
            far,
            policies: Vec::new(),
            otherwise: Writes::default(),
            bound: if told { TOLD } else { UNTOLD },
            told,
            breaker: Breaker::default(),
            missed: Missed::default(),
            back: Back::default(),
            worth: Worth::default(),
        }
    }

    /// How writes of a namespace reach the near tier ([`Writes::Through`]).
    #[must_use]
    pub fn writes(mut self, namespace: &str, writes: Writes) -> Self {
        self.policies.push(([namespace.as_bytes(), &[0]].concat().into(), writes));
        self
    }

    /// How writes of the namespaces that [`writes`](Tiered::writes) does not name reach the near tier ([`Writes::Through`]).
    #[must_use]
    pub fn otherwise(mut self, writes: Writes) -> Self {
        self.otherwise = writes;
        self
    }

    /// How old a copy in the near tier may become: the longest time for which a change by others is not seen. 1 s where the
    /// far driver does not tell of changes, 60 s where it does (that is how long a lost message can matter); without
    /// meaning where it has stamps, as nothing stale is read then.
    #[must_use]
    pub fn bound(mut self, bound: Duration) -> Self {
        self.bound = bound;
        self
    }

    /// The near tier.
    pub fn near(&self) -> &N {
        &self.near
    }

    /// The far tier.
    pub fn far(&self) -> &F {
        &self.far
    }

    /// Whether the far driver tells what others change.
    pub fn is_told(&self) -> bool {
        self.told
    }

    /// Whether the near tier is in use: it is not while it costs more time than it saves.
    pub fn is_near_used(&self) -> bool {
        self.worth.is_on()
    }

    /// Stores in the far tier what [`Writes::Back`] has kept for later. Call it before the program ends.
    pub async fn flush(&self, now: Time) -> Result<()> {
        let entries = self.back.take();
        if entries.is_empty() {
            return Ok(());
        }
        let borrowed: Vec<(&[u8], Record)> = entries.iter().map(|(key, record)| (&**key, record.clone())).collect();
        let stored = self.ask(now, self.far.set_many(&borrowed, now)).await;
        if stored.is_err() {
            self.back.restore(entries);
        } else {
            // Others may have read what was there before, and share the near tier.
            for (key, _) in &entries {
                self.forget(key, now);
            }
        }
        stored
    }

    fn policy(&self, key: &[u8]) -> Writes {
        self.policies.iter().find(|(prefix, _)| key.starts_with(prefix)).map_or(self.otherwise, |(_, writes)| *writes)
    }

    /// Asks the far tier, unless it does not answer at the moment.
    async fn ask<T>(&self, now: Time, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        if !self.breaker.allows(now) {
            return Err(Error::degraded());
        }
        match call.await {
            Ok(answer) => {
                self.breaker.succeeded();
                Ok(answer)
            }
            Err(error) if error.is_unreachable() => {
                if self.breaker.failed(now) {
                    tracing::error!(target: "skep_cache", driver = self.far.name(), "the far tier does not answer");
                }
                Err(Error::degraded().because(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes what was to be removed while the far tier did not answer.
    async fn make_up(&self, now: Time) -> Result<()> {
        while let Some(key) = self.missed.next() {
            let removed = self.ask(now, self.far.remove(&key, unmarked(now), now)).await;
            if let Err(error) = removed {
                self.missed.note(&key);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Before something is changed: nobody reads the copy, and none that is on its way arrives.
    fn forget(&self, key: &[u8], now: Time) {
        if let Err(error) = ready(self.near.remove(key, unmarked(now), now)) {
            tracing::warn!(target: "skep_cache", %error, "the near tier failed");
        }
    }

    /// The right to store a copy, until somebody writes the key.
    fn expect(&self, key: &[u8], now: Time, token: u64) -> Option<Token> {
        ready(self.near.lease(key, Claim { token: Token(token), until: now.plus(FILL) }, now)).ok().flatten()
    }

    /// Stores a copy. Whether nobody wrote the key since it was expected.
    fn fill(&self, key: &[u8], entry: Entry<'_>, token: Token, seal: Seal, now: Time) -> bool {
        // The end of the entry itself stays as it is: what readers do with it must not depend on the tier.
        let record = entry.with_header(&Header { mark: seal.mark(now, self.bound), ..entry.header() });
        let start = self.worth.fill();
        let filled = ready(self.near.set(key, &record, When::Leased(token), now)).unwrap_or(false);
        self.worth.filled(start);
        filled
    }

    /// Writes to the far tier, and stores a copy if the policy says so.
    async fn write(
        &self,
        key: &[u8],
        now: Time,
        copy: Option<&Record>,
        call: impl Future<Output = Result<bool>> + Send,
    ) -> Result<bool> {
        self.make_up(now).await?;
        self.back.forget(key);
        self.forget(key, now);
        // With stamps a copy would need the stamp of this very write, which nobody knows.
        let copy = copy.filter(|_| self.worth.is_on() && Seal::of(&self.far, key) == Seal::Time);
        let token = copy.and_then(|_| self.expect(key, now, self.worth.token()));
        let start = self.worth.ask();
        let written = self.ask(now, call).await;
        self.worth.answered(start);
        match (&written, copy, token) {
            (Ok(true), Some(record), Some(token)) if self.fill(key, record.entry(), token, Seal::Time, now) => {}
            (Ok(false), _, Some(token)) => drop(ready(self.near.release(key, token, now))),
            (Ok(_), _, _) => self.forget(key, now),
            (Err(_), _, _) => {
                self.forget(key, now);
                self.missed.note(key);
            }
        }
        written
    }

    /// Whether this key is kept in the near tier at all: epochs are not.
    fn is_copied(&self, key: &[u8]) -> bool {
        key.first() != Some(&0) && self.worth.is_on()
    }

    /// Shows the copy, if it is one of what is true now.
    fn copy<R: Send, G: FnOnce(Entry<'_>) -> R + Send>(
        &self,
        key: &[u8],
        now: Time,
        read: &mut Option<G>,
    ) -> Option<R> {
        let seal = Seal::of(&self.far, key);
        let start = self.worth.look();
        let found = ready(self.near.get(key, now, |entry| {
            if seal.holds(entry.mark(), now, self.bound) { read.take().map(|read| read(entry)) } else { None }
        }));
        let found = found.ok().flatten().flatten();
        self.worth.looked(found.is_some(), start);
        found
    }
}

/// A removal that leaves no mark.
fn unmarked(now: Time) -> Removal {
    Removal { version: Version::ZERO, until: now }
}

/// What others changed is no longer true in the near tier.
fn void<N: Ready>(near: &N, change: Change<'_>) {
    let start = Time::from_millis(0);
    let voided = match change {
        Change::Key(key) => ready(near.remove(key, unmarked(start), start)).map(drop),
        Change::Everything => ready(near.clear(b"", start)),
    };
    if let Err(error) = voided {
        tracing::error!(target: "skep_cache", driver = near.name(), %error, "the near tier may be stale for its bound");
    }
}

impl<N: Ready, F: Driver> Driver for Tiered<N, F> {
    fn name(&self) -> &'static str {
        "tiered"
    }

    async fn get<R, G>(&self, key: &[u8], now: Time, read: G) -> Result<Option<R>>
    where
        R: Send,
        G: FnOnce(Entry<'_>) -> R + Send,
    {
        let mut read = Some(read);
        if let Some(record) = self.back.get(key, now) {
            return Ok(read.take().map(|read| read(record.entry())));
        }
        let copied = self.is_copied(key);
        if copied && let Some(found) = self.copy(key, now, &mut read) {
            return Ok(Some(found));
        }
        if self.missed.has(key) {
            self.make_up(now).await?;
        }
        let seal = Seal::of(&self.far, key);
        let token = if copied { self.expect(key, now, self.worth.token()) } else { None };
        let start = self.worth.ask();
        let found = self.ask(
            now,
            self.far.get(key, now, |entry| {
                let filled = token.is_some_and(|token| self.fill(key, entry, token, seal, now));
                (filled, read.take().map(|read| read(entry)))
            }),
        );
        let found = found.await;
        self.worth.asked(start);
        if let Some(token) = token
            && !matches!(found, Ok(Some((true, _))))
        {
            drop(ready(self.near.release(key, token, now)));
        }
        Ok(found?.and_then(|(_, found)| found))
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        self.worth.wrote();
        if record.entry().flags().has(Flags::EPOCH) {
            let stored = self.ask(now, self.far.set(key, record, when, now)).await?;
            if stored && self.far.generation().is_none() {
                // It is read from the far tier; this changes the near one's generation, for all who share that.
                let _ = ready(self.near.set(key, record, When::Newer, now));
            }
            return Ok(stored);
        }
        match self.policy(key) {
            Writes::Back if when == When::Always => {
                self.forget(key, now);
                if self.back.put(key, record.clone(), now) {
                    self.flush(now).await?;
                }
                Ok(true)
            }
            Writes::Through => self.write(key, now, Some(record), self.far.set(key, record, when, now)).await,
            Writes::Around | Writes::Back => {
                self.settle_back(key, now).await?;
                self.write(key, now, None, self.far.set(key, record, when, now)).await
            }
        }
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        let kept = self.back.get(key, now).is_some();
        let removed = self.write(key, now, None, self.far.remove(key, removal, now)).await?;
        Ok(removed || kept)
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        self.ask(now, self.far.lease(key, claim, now)).await
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.ask(now, self.far.release(key, token, now)).await
    }

    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        self.far.abandon(key, token, now);
    }

    async fn get_many<G>(&self, keys: &[&[u8]], now: Time, mut read: G) -> Result<()>
    where
        G: FnMut(usize, Entry<'_>) + Send,
    {
        let mut left = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            if let Some(record) = self.back.get(key, now) {
                read(place, record.entry());
                continue;
            }
            let copied = self.is_copied(key);
            let mut once = Some(|entry: Entry<'_>| read(place, entry));
            if copied && self.copy(key, now, &mut once).is_some() {
                continue;
            }
            let token = if copied { self.expect(key, now, self.worth.token()) } else { None };
            left.push((place, token, Seal::of(&self.far, key)));
        }
        if left.is_empty() {
            return Ok(());
        }
        self.make_up(now).await?;
        let asked: Vec<&[u8]> = left.iter().map(|&(place, ..)| keys[place]).collect();
        let got = self.ask(
            now,
            self.far.get_many(&asked, now, |at, entry| {
                let (place, token, seal) = left[at];
                if let Some(token) = token {
                    self.fill(keys[place], entry, token, seal, now);
                }
                read(place, entry);
            }),
        );
        let got = got.await;
        for (place, token, _) in left {
            if let Some(token) = token {
                drop(ready(self.near.release(keys[place], token, now)));
            }
        }
        got
    }

    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        self.make_up(now).await?;
        for (key, _) in entries {
            self.back.forget(key);
            self.forget(key, now);
        }
        let stored = self.ask(now, self.far.set_many(entries, now)).await;
        for (key, _) in entries {
            self.forget(key, now);
            if stored.is_err() {
                self.missed.note(key);
            }
        }
        stored
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        self.settle_back(key, now).await?;
        self.make_up(now).await?;
        self.forget(key, now);
        let sum = self.ask(now, self.far.increment(key, by, fresh, now)).await;
        self.forget(key, now);
        sum
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        self.settle_back(key, now).await?;
        self.write(key, now, None, self.far.touch(key, fresh_until, dead_at, now)).await
    }

    async fn keys<G>(&self, prefix: &[u8], now: Time, each: G) -> Result<()>
    where
        G: FnMut(&[u8]) + Send,
    {
        self.flush(now).await?;
        self.ask(now, self.far.keys(prefix, now, each)).await
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        self.back.clear(prefix);
        let far = self.ask(now, self.far.clear(prefix, now)).await;
        match self.near.clear(prefix, now).await {
            Err(error) if !error.is_unsupported() => Err(error),
            _ => far,
        }
    }

    fn generation(&self) -> Option<u64> {
        self.far.generation()
    }

    fn stamp(&self, key: &[u8]) -> Option<u64> {
        self.far.stamp(key)
    }

    fn generation_here(&self) -> Option<u64> {
        sum(self.near.generation(), self.far.generation_here())
    }

    /// Every write goes through the near tier, so where others share that, it knows of theirs.
    fn stamp_here(&self, key: &[u8]) -> Option<u64> {
        sum(self.near.stamp(key), self.far.stamp_here(key))
    }

    fn watch(&self, listener: Listener) -> bool {
        self.far.watch(listener)
    }

    fn usage(&self) -> Usage {
        self.far.usage()
    }
}

impl<N: Ready, F: Driver> Tiered<N, F> {
    /// What is kept for later under this key is stored now: what comes next has a condition, or changes it.
    async fn settle_back(&self, key: &[u8], now: Time) -> Result<()> {
        match self.back.get(key, now) {
            Some(_) => self.flush(now).await,
            None => Ok(()),
        }
    }
}

impl<N: Ready, F: Ready> Ready for Tiered<N, F> {}

#[cfg(all(test, feature = "memory"))]
mod tests;

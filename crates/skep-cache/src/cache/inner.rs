//! Access to the driver: checks freshness and invalidation, and handles failures.
//!
//! Rare paths are separate boxed futures: one future for everything is large, and moving it costs more than the hit.

use std::cell::Cell;
use std::time::Duration;

use bytes::BytesMut;
use serde::de::DeserializeOwned;

use crate::breaker::Breaker;
use crate::clock::{Clock, Time, Version};
use crate::codec::Codec;
use crate::driver::{Driver, Entry, Flags, Header, Record, Removal, Token, When};
use crate::error::{Error, Result};
use crate::flight::SingleFlight;
use crate::key::{Key, Prefix};
use crate::policy::EntryPolicy;
use crate::stats::{Count, Counters};
use crate::tags::{Epochs, Verdict};

use super::REMOVAL;
use super::builder::Rules;
use super::value::{self, Value};

/// A cache without the types of its keys and values.
pub(crate) struct Inner<D, C> {
    pub(crate) driver: D,
    pub(crate) codec: C,
    pub(crate) prefix: Prefix,
    pub(crate) clock: Clock,
    pub(crate) policy: EntryPolicy,
    pub(crate) rules: Rules,
    pub(crate) epochs: Epochs,
    pub(crate) single_flight: SingleFlight<Result<Record>>,
    pub(crate) breaker: Breaker,
    pub(crate) counters: Counters,
}

/// The freshness of an entry. The module `compute` has the diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Fresh,
    /// Fresh, and this caller was drawn to refresh it early.
    Early,
    /// May be served while one caller computes.
    Stale,
    /// May be served only if computing fails.
    StaleIfError,
}

pub(crate) enum Found<T> {
    Nothing,
    /// `None` is a negative entry.
    Entry(Freshness, Option<T>),
}

impl<T> Found<T> {
    #[inline]
    fn fresh(self) -> Option<T> {
        if let Self::Entry(Freshness::Fresh | Freshness::Early, value) = self { value } else { None }
    }

    fn is_fresh(&self) -> bool {
        matches!(self, Self::Entry(Freshness::Fresh | Freshness::Early, _))
    }
}

/// What remains to be done after the driver's callback.
enum Todo {
    Nothing,
    /// Extend its idle time: it was used.
    Touch(Time, Time),
    /// Check it again after reading the epochs.
    Judge(Record),
}

impl<D: Driver, C: Send + Sync + 'static> Inner<D, C> {
    #[inline]
    pub(crate) async fn fresh<T: Send>(
        &self,
        key: &[u8],
        decode: impl FnOnce(Value<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        let mut found = Found::Nothing;
        self.look_up(key, self.clock.now(), decode, &mut found).await?;
        self.counters.count(if found.is_fresh() { Count::Hit } else { Count::Miss });
        Ok(found.fresh())
    }

    pub(crate) async fn fresh_header(&self, key: &[u8]) -> Result<Option<Header>> {
        self.fresh(key, |value| Ok(value.0.header())).await
    }

    /// Looks up an entry; counts failures only.
    ///
    /// Writes the result to `found`: returning it through the layers between would move it several times, which takes
    /// longer than the lookup.
    #[inline]
    pub(crate) async fn look_up<T: Send>(
        &self,
        key: &[u8],
        now: Time,
        decode: impl FnOnce(Value<'_>) -> Result<T> + Send,
        found: &mut Found<T>,
    ) -> Result<()> {
        if !self.breaker.allows(now) {
            return self.breaker_open(());
        }
        let generation = self.epochs.generation(&self.driver, now);
        let (mut decode, mut todo) = (Some(decode), Todo::Nothing);
        let asked = self.driver.get(key, now, |entry| match self.epochs.judge(&entry, generation) {
            Verdict::Valid => {
                if let Some(decode) = decode.take() {
                    self.open(entry, now, decode, found, &mut todo);
                }
            }
            Verdict::Invalid => {}
            Verdict::Unknown => todo = Todo::Judge(entry.to_record()),
        });
        match asked.await {
            Ok(_) => {
                self.breaker.succeeded();
            }
            Err(error) => return self.tolerate(Err(error), now, ()),
        }
        match todo {
            Todo::Nothing => Ok(()),
            todo => Box::pin(self.finish_lookup(key, now, todo, decode, found)).await,
        }
    }

    /// Does what is impossible inside the driver's callback.
    async fn finish_lookup<T: Send>(
        &self,
        key: &[u8],
        now: Time,
        mut todo: Todo,
        decode: Option<impl FnOnce(Value<'_>) -> Result<T> + Send>,
        found: &mut Found<T>,
    ) -> Result<()> {
        if let (Todo::Judge(record), Some(decode)) = (&todo, decode) {
            let mut next = Todo::Nothing;
            let verdict = self.epochs.judge_now(&self.driver, &self.clock, record.entry(), now).await;
            if self.tolerate(verdict, now, Verdict::Invalid)? == Verdict::Valid {
                self.open(record.entry(), now, decode, found, &mut next);
            }
            todo = next;
        }
        if let Todo::Touch(fresh_until, dead_at) = todo {
            let touched = self.driver.touch(key, fresh_until, dead_at, now).await;
            self.tolerate(touched, now, false)?;
        }
        Ok(())
    }

    #[inline]
    fn open<T>(
        &self,
        entry: Entry<'_>,
        now: Time,
        decode: impl FnOnce(Value<'_>) -> Result<T>,
        found: &mut Found<T>,
        todo: &mut Todo,
    ) {
        let Some(state) = self.state(&entry, now) else { return };
        let is_negative = entry.flags().has(Flags::NEGATIVE);
        let value = match (!is_negative).then(|| decode(Value(entry))).transpose() {
            Ok(value) => value,
            Err(error) => return self.undecodable(&error),
        };
        *found = Found::Entry(state, value);
        if let Some(dead_at) = self.used(&entry, now) {
            *todo = Todo::Touch(entry.fresh_until(), dead_at);
        }
    }

    #[inline]
    fn state(&self, entry: &Entry<'_>, now: Time) -> Option<Freshness> {
        let until = entry.fresh_until();
        if now < until {
            let early = entry.cost() > 0 && self.is_drawn(entry.cost(), until.since(now));
            return Some(if early { Freshness::Early } else { Freshness::Fresh });
        }
        if now < until.plus(self.rules.stale) {
            return Some(Freshness::Stale);
        }
        (now < until.plus(self.rules.stale_if_error)).then_some(Freshness::StaleIfError)
    }

    /// `XFetch`: whether this caller refreshes a value that took `cost` microseconds and expires after `left`.
    fn is_drawn(&self, cost: u32, left: Duration) -> bool {
        let window = f64::from(cost) / 1e6 * self.rules.early;
        // The logarithm of a draw rarely exceeds 23; this spares most hits the draw.
        let left = left.as_secs_f64();
        left < window * 23.0 && left <= window * -(1.0 - fastrand::f64()).ln()
    }

    /// The new end of an entry with an idle time, if an eighth of that passed since the last extension.
    #[inline]
    fn used(&self, entry: &Entry<'_>, now: Time) -> Option<Time> {
        let idle = Duration::from_millis(u64::from(entry.idle()));
        if idle.is_zero() {
            return None;
        }
        let dead_at = now.plus(idle).min(entry.fresh_until().plus(self.rules.grace()));
        (dead_at.since(entry.dead_at()) > idle / 8).then_some(dead_at)
    }

    #[cold]
    fn undecodable(&self, error: &Error) {
        self.counters.count(Count::Undecodable);
        tracing::debug!(target: "skep_cache", driver = self.driver.name(), %error, "undecodable entry: a miss");
    }

    pub(crate) async fn fresh_many<T: Send>(
        &self,
        keys: &[Key],
        decode: impl Fn(Value<'_>) -> Result<T> + Send + Sync,
    ) -> Result<Vec<Option<T>>> {
        let now = self.clock.now();
        let mut found: Vec<Option<Record>> = keys.iter().map(|_| None).collect();
        if self.breaker.allows(now) {
            let keys: Vec<&[u8]> = keys.iter().map(|key| &**key).collect();
            let got = self.driver.get_many(&keys, now, |index, entry| found[index] = Some(entry.to_record())).await;
            self.tolerate(got, now, ())?;
        }
        let mut values = Vec::with_capacity(keys.len());
        for (record, key) in found.iter().zip(keys) {
            let mut found = Found::Nothing;
            if let Some(record) = record {
                self.finish_lookup(key, now, Todo::Judge(record.clone()), Some(&decode), &mut found).await?;
            }
            let value = found.fresh();
            self.counters.count(if value.is_some() { Count::Hit } else { Count::Miss });
            values.push(value);
        }
        Ok(values)
    }

    /// The version for a write, higher than all epochs that may invalidate it. `None`: the driver fails.
    #[inline]
    pub(crate) async fn ready_to_write(&self, tags: &[u64], now: Time) -> Result<Option<Version>> {
        if !self.breaker.is_open() && self.epochs.are_known(tags, self.epochs.generation(&self.driver, now)) {
            return Ok(Some(self.clock.version_at(now)));
        }
        Box::pin(self.get_ready_to_write(tags, now)).await
    }

    async fn get_ready_to_write(&self, tags: &[u64], now: Time) -> Result<Option<Version>> {
        if !self.breaker.allows(now) {
            return self.breaker_open(None);
        }
        let ready = async {
            self.epochs.prepare(&self.driver, &self.clock, now).await?;
            let version = self.clock.version_at(now);
            if tags.is_empty() {
                return Ok(Some(version));
            }
            self.epochs.ensure(&self.driver, &self.clock, tags, version).await?;
            // The epochs just read may be higher than the version drawn before.
            Ok(Some(self.clock.version_at(now)))
        };
        let ready = ready.await;
        self.tolerate(ready, now, None)
    }

    #[inline]
    pub(crate) async fn store(&self, key: &[u8], record: &Record, now: Time) -> Result<bool> {
        self.single_flight.detach(key);
        let stored = self.driver.set(key, record, When::Always, now).await;
        let stored = self.tolerate(stored, now, false)?;
        if stored {
            self.counters.count(Count::Set);
        }
        Ok(stored)
    }

    pub(crate) async fn store_many(&self, records: &[(Key, Record)], now: Time) -> Result<bool> {
        for (key, _) in records {
            self.single_flight.detach(key);
        }
        let entries: Vec<(&[u8], Record)> = records.iter().map(|(key, record)| (&**key, record.clone())).collect();
        let stored = self.driver.set_many(&entries, now).await.map(|()| true);
        let stored = self.tolerate(stored, now, false)?;
        if stored {
            for _ in records {
                self.counters.count(Count::Set);
            }
        }
        Ok(stored)
    }

    pub(crate) async fn remove(&self, key: &[u8]) -> Result<bool> {
        let now = self.clock.now();
        self.single_flight.detach(key);
        self.counters.count(Count::Removal);
        let removal = Removal { version: self.clock.version_at(now), until: now.plus(REMOVAL) };
        let removed = self.driver.remove(key, removal, now).await;
        self.require(removed, now)
    }

    /// The current value, and the condition that it is unchanged. A failure of the driver is an error.
    pub(crate) async fn for_update<T: Send>(
        &self,
        key: &[u8],
        decode: impl FnOnce(Value<'_>) -> Result<T> + Send,
    ) -> Result<(Option<T>, When)> {
        let now = self.clock.now();
        let found = self.driver.get(key, now, |entry| entry.to_record()).await?;
        let Some(record) = found else { return Ok((None, When::Absent)) };
        let when = When::Version(record.entry().version());
        let mut found = Found::Nothing;
        self.finish_lookup(key, now, Todo::Judge(record), Some(decode), &mut found).await?;
        Ok((found.fresh(), when))
    }

    pub(crate) async fn replace<V>(&self, key: &[u8], value: &V, policy: &EntryPolicy, when: When) -> Result<bool>
    where
        C: Codec<V>,
    {
        let now = self.clock.now();
        self.epochs.prepare(&self.driver, &self.clock, now).await?;
        if !policy.tags.is_empty() {
            self.epochs.ensure(&self.driver, &self.clock, &policy.tags, self.clock.version_at(now)).await?;
        }
        if let When::Version(old) = when {
            // Another process, whose clock is ahead, may have written a higher version; ours must be higher still.
            self.clock.observe(old);
        }
        let header = policy.header(false, self.clock.version_at(now), now, self.rules.grace());
        let record = self.encode(&header, &policy.tags, Some(value))?;
        self.single_flight.detach(key);
        let stored = self.driver.set(key, &record, when, now).await?;
        self.counters.count(if stored { Count::Set } else { Count::Refused });
        Ok(stored)
    }

    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's name is not general enough for rustc")]
    pub(crate) async fn increment(&self, key: &[u8], by: i64) -> Result<i64> {
        let now = self.clock.now();
        self.epochs.prepare(&self.driver, &self.clock, now).await?;
        // An invalidated or expired counter restarts at 0.
        if let (None, When::Version(_)) = self.for_update(key, |value| value.number()).await? {
            let removal = Removal { version: self.clock.version_at(now), until: now };
            self.driver.remove(key, removal, now).await?;
        }
        let version = self.clock.version_at(now);
        let header = self.policy.header(false, version, now, Duration::ZERO);
        let fresh = Record::new(&Header { flags: Flags::COUNTER, ..header }, &[], &0_i64.to_le_bytes());
        let sum = self.driver.increment(key, by, &fresh, now).await?;
        self.counters.count(Count::Set);
        Ok(sum)
    }

    pub(crate) async fn touch(&self, key: &[u8], ttl: Duration) -> Result<bool> {
        let now = self.clock.now();
        if self.fresh_header(key).await?.is_none() {
            return Ok(false);
        }
        let fresh_until = now.plus(ttl);
        let touched = self.driver.touch(key, fresh_until, fresh_until.plus(self.rules.grace()), now).await;
        self.tolerate(touched, now, false)
    }

    // A failed write is a later miss, which is harmless. A failed invalidation leaves outdated entries in use, so it is
    // always an error, and it is tried even while the circuit breaker is open.
    pub(crate) async fn clear(&self) -> Result<()> {
        let now = self.clock.now();
        self.invalidate(self.epochs.namespace).await?;
        // Everything is invalid by now; freeing the space is optional.
        match self.driver.clear(self.prefix.as_bytes(), now).await {
            Err(error) if error.is_unsupported() => Ok(()),
            cleared => self.tolerate(cleared, now, ()),
        }
    }

    pub(crate) async fn invalidate(&self, tag: u64) -> Result<()> {
        let now = self.clock.now();
        let invalidated = self.epochs.invalidate(&self.driver, &self.clock, tag, self.rules.clock_skew).await;
        self.require(invalidated, now)
    }

    /// Whether a tag of this record was invalidated, as far as the driver knows.
    pub(crate) async fn is_invalidated(&self, record: &Record) -> Result<bool> {
        let now = self.clock.now();
        if !self.breaker.allows(now) {
            return self.breaker_open(false);
        }
        let invalidated = self.epochs.is_invalidated(&self.driver, &self.clock, record.entry(), now).await;
        self.tolerate(invalidated, now, false)
    }

    pub(crate) async fn keys<O: DeserializeOwned + Send>(&self) -> Result<Vec<O>> {
        let now = self.clock.now();
        let mut keys = Vec::new();
        let note = |key: &[u8]| keys.extend(self.prefix.decode::<O>(key));
        let listed = self.driver.keys(self.prefix.as_bytes(), now, note).await;
        self.tolerate(listed, now, ())?;
        Ok(keys)
    }

    pub(crate) fn encode<V>(&self, header: &Header, tags: &[u64], value: Option<&V>) -> Result<Record>
    where
        C: Codec<V>,
    {
        thread_local! {
            /// A buffer for values whose length is unknown. Taken while in use: encoding may itself use a cache.
            static SCRATCH: Cell<BytesMut> = Cell::new(BytesMut::new());
        }
        let Some(value) = value else { return Ok(Record::new(header, tags, &[])) };
        if let Some(length) =
            self.codec.encoded_len(value).filter(|length| self.rules.compress.is_none_or(|least| *length < least))
        {
            let mut bytes = Record::begin(header, tags, length);
            self.codec.encode(value, &mut bytes)?;
            return Ok(Record::end(bytes));
        }
        let mut scratch = SCRATCH.take();
        scratch.clear();
        self.codec.encode(value, &mut scratch)?;
        let record = match self.rules.compress {
            Some(threshold) if scratch.len() >= threshold => value::compressed(header, tags, &scratch),
            _ => Record::new(header, tags, &scratch),
        };
        if scratch.capacity() <= 64 << 10 {
            SCRATCH.set(scratch);
        }
        Ok(record)
    }

    /// The driver's result; `instead` if it failed, unless failures are errors
    /// ([`Builder::errors`](super::Builder::errors)).
    #[inline]
    pub(crate) fn tolerate<T>(&self, result: Result<T>, now: Time, instead: T) -> Result<T> {
        match self.require(result, now) {
            Err(error) if !self.rules.errors && !error.is_unsupported() => Ok(instead),
            result => result,
        }
    }

    /// The driver's result, where a failure is always an error.
    #[inline]
    pub(crate) fn require<T>(&self, result: Result<T>, now: Time) -> Result<T> {
        match &result {
            Ok(_) => drop(self.breaker.succeeded()),
            Err(error) if error.is_unsupported() => {}
            Err(error) => self.failed(error, now),
        }
        result
    }

    #[cold]
    fn failed(&self, error: &Error, now: Time) {
        self.counters.count(Count::Failure);
        let driver = self.driver.name();
        tracing::warn!(target: "skep_cache", driver, %error, "cache driver failed");
        if error.is_unreachable() && self.breaker.failed(now) {
            tracing::error!(target: "skep_cache", driver, "circuit breaker opened: the cache driver is unreachable");
        }
    }

    #[cold]
    pub(crate) fn breaker_open<T>(&self, instead: T) -> Result<T> {
        if self.rules.errors {
            Err(Error::unreachable("waiting for the circuit breaker to close"))
        } else {
            Ok(instead)
        }
    }

    pub(crate) async fn release(&self, key: &[u8], token: Token) -> Result<()> {
        let now = self.clock.now();
        let released = self.driver.release(key, token, now).await;
        self.tolerate(released, now, ())
    }
}

//! The way to the driver: what is fresh, what is void, and what happens when it fails.
//!
//! What a hit and a plain write never do is in futures of its own, in boxes: a future that holds all that might happen is
//! large, and moving it about costs more than the hit.

use std::cell::Cell;
use std::time::Duration;

use bytes::BytesMut;
use serde::de::DeserializeOwned;

use crate::breaker::Breaker;
use crate::chance;
use crate::clock::{Clock, Time, Version};
use crate::codec::Codec;
use crate::driver::{Driver, Entry, Flags, Header, Record, Removal, Token, When};
use crate::error::{Error, Result};
use crate::flight::Flights;
use crate::key::{Key, Prefix};
use crate::life::Life;
use crate::stats::{Count, Counters};
use crate::tags::{Epochs, Verdict};

use super::REMOVAL;
use super::builder::Rules;
use super::packed;
use super::value::Value;

/// All of a cache but the types of its keys and values.
pub(crate) struct Inner<D, C> {
    pub(crate) driver: D,
    pub(crate) codec: C,
    pub(crate) prefix: Prefix,
    pub(crate) clock: Clock,
    pub(crate) life: Life,
    pub(crate) rules: Rules,
    pub(crate) epochs: Epochs,
    pub(crate) flights: Flights<Result<Record>>,
    pub(crate) breaker: Breaker,
    pub(crate) counters: Counters,
}

/// How good an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Fresh,
    /// Fresh, and this caller was drawn to compute it anew ahead of time.
    Early,
    /// To be given while one computes anew.
    Stale,
    /// To be given only if that fails.
    Spare,
}

/// What a look at the driver showed.
pub(crate) enum Seen<T> {
    Nothing,
    /// `None` is the answer "there is none".
    There(State, Option<T>),
}

impl<T> Seen<T> {
    /// The fresh value.
    #[inline]
    fn fresh(self) -> Option<T> {
        match self {
            Self::There(State::Fresh | State::Early, value) => value,
            Self::There(State::Stale | State::Spare, _) | Self::Nothing => None,
        }
    }

    fn is_fresh(&self) -> bool {
        matches!(self, Self::There(State::Fresh | State::Early, _))
    }
}

/// What is left to do when the driver has its entry back.
enum Then {
    Nothing,
    /// Move its end: it was used.
    Touch(Time, Time),
    /// Look at it again, when the epochs are known.
    Judge(Record),
}

impl<D: Driver, C: Send + Sync + 'static> Inner<D, C> {
    /// The fresh value, or nothing.
    #[inline]
    pub(crate) async fn fresh<T: Send>(
        &self,
        key: &[u8],
        decode: impl FnOnce(Value<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        let mut seen = Seen::Nothing;
        self.look(key, self.clock.now(), decode, &mut seen).await?;
        self.counters.count(if seen.is_fresh() { Count::Hit } else { Count::Miss });
        Ok(seen.fresh())
    }

    pub(crate) async fn fresh_header(&self, key: &[u8]) -> Result<Option<Header>> {
        self.fresh(key, |value| Ok(value.header())).await
    }

    /// Looks whether there is an entry that may be given; counts nothing but failures.
    ///
    /// What it saw is written where the caller wants it: returned through the driver and all that stands between, it would be
    /// moved by each, and to move some words that were just written takes longer than to find them.
    #[inline]
    pub(crate) async fn look<T: Send>(
        &self,
        key: &[u8],
        now: Time,
        decode: impl FnOnce(Value<'_>) -> Result<T> + Send,
        seen: &mut Seen<T>,
    ) -> Result<()> {
        if !self.breaker.allows(now) {
            return self.resting(());
        }
        let generation = self.epochs.generation(&self.driver, now);
        let (mut decode, mut then) = (Some(decode), Then::Nothing);
        let asked = self.driver.get(key, now, |entry| match self.epochs.judge(&entry, generation) {
            Verdict::Valid => {
                if let Some(decode) = decode.take() {
                    self.open(entry, now, decode, seen, &mut then);
                }
            }
            Verdict::Void => {}
            Verdict::Unknown => then = Then::Judge(entry.to_record()),
        });
        match asked.await {
            Ok(_) => self.breaker.succeeded(),
            Err(error) => return self.settle(Err(error), now, ()),
        }
        match then {
            Then::Nothing => Ok(()),
            then => Box::pin(self.look_closer(key, now, then, decode, seen)).await,
        }
    }

    /// What cannot be done while the driver lends its entry.
    async fn look_closer<T: Send>(
        &self,
        key: &[u8],
        now: Time,
        then: Then,
        decode: Option<impl FnOnce(Value<'_>) -> Result<T> + Send>,
        seen: &mut Seen<T>,
    ) -> Result<()> {
        let mut then = then;
        if let (Then::Judge(record), Some(decode)) = (&then, decode) {
            let mut next = Then::Nothing;
            let verdict = self.epochs.judge_now(&self.driver, &self.clock, record.entry(), now).await;
            if self.settle(verdict, now, Verdict::Void)? == Verdict::Valid {
                self.open(record.entry(), now, decode, seen, &mut next);
            }
            then = next;
        }
        if let Then::Touch(fresh_until, dead_at) = then {
            let touched = self.driver.touch(key, fresh_until, dead_at, now).await;
            self.settle(touched, now, false)?;
        }
        Ok(())
    }

    #[inline]
    fn open<T>(
        &self,
        entry: Entry<'_>,
        now: Time,
        decode: impl FnOnce(Value<'_>) -> Result<T>,
        seen: &mut Seen<T>,
        then: &mut Then,
    ) {
        let Some(state) = self.state(&entry, now) else { return };
        let value = if entry.flags().has(Flags::NEGATIVE) {
            None
        } else {
            match decode(Value::of(entry)) {
                Ok(value) => Some(value),
                Err(error) => return self.undecodable(&error),
            }
        };
        *seen = Seen::There(state, value);
        if let Some(dead_at) = self.used(&entry, now) {
            *then = Then::Touch(entry.fresh_until(), dead_at);
        }
    }

    #[inline]
    fn state(&self, entry: &Entry<'_>, now: Time) -> Option<State> {
        let until = entry.fresh_until();
        if now < until {
            let early = entry.cost() > 0 && self.is_drawn(entry.cost(), until.since(now));
            return Some(if early { State::Early } else { State::Fresh });
        }
        if now < until.plus(self.rules.stale) {
            return Some(State::Stale);
        }
        (now < until.plus(self.rules.stale_if_error)).then_some(State::Spare)
    }

    /// `XFetch`: whether a value that took `cost` microseconds, and has so much left, is computed anew by this caller.
    fn is_drawn(&self, cost: u32, left: Duration) -> bool {
        let reach = f64::from(cost) / 1e6 * self.rules.early;
        // A draw of 32 bits is never beyond 23 times; most hits are spared it.
        let left = left.as_secs_f64();
        left < reach * 23.0 && left <= reach * -(1.0 - chance::draw()).ln()
    }

    /// The new end of an entry with an idle time, if an eighth of that has passed since it was last moved.
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
        tracing::debug!(target: "skep_cache", driver = self.driver.name(), %error, "an entry is a miss");
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
            let got = self.driver.get_many(&keys, now, |place, entry| found[place] = Some(entry.to_record())).await;
            self.settle(got, now, ())?;
        }
        let mut values = Vec::with_capacity(keys.len());
        for (record, key) in found.iter().zip(keys) {
            let mut seen = Seen::Nothing;
            if let Some(record) = record {
                self.look_closer(key, now, Then::Judge(record.clone()), Some(&decode), &mut seen).await?;
            }
            let value = seen.fresh();
            self.counters.count(if value.is_some() { Count::Hit } else { Count::Miss });
            values.push(value);
        }
        Ok(values)
    }

    /// The version for what is about to be stored, after all epochs that may void it. `None`: the driver fails.
    #[inline]
    pub(crate) async fn ready_to_write(&self, tags: &[u64], now: Time) -> Result<Option<Version>> {
        if !self.breaker.is_open() && self.epochs.are_known(tags, self.epochs.generation(&self.driver, now)) {
            return Ok(Some(self.clock.version_at(now)));
        }
        Box::pin(self.get_ready_to_write(tags, now)).await
    }

    async fn get_ready_to_write(&self, tags: &[u64], now: Time) -> Result<Option<Version>> {
        if !self.breaker.allows(now) {
            return self.resting(None);
        }
        let prepared = self.epochs.prepare(&self.driver, &self.clock, now).await.map(Some);
        if self.settle(prepared, now, None)?.is_none() {
            return Ok(None);
        }
        let version = self.clock.version_at(now);
        if !tags.is_empty() {
            let ensured = self.epochs.ensure(&self.driver, &self.clock, tags, version).await.map(Some);
            if self.settle(ensured, now, None)?.is_none() {
                return Ok(None);
            }
            // Epochs just read may be newer than what was drawn before.
            return Ok(Some(self.clock.version_at(now)));
        }
        Ok(Some(version))
    }

    #[inline]
    pub(crate) async fn store(&self, key: &[u8], record: &Record, now: Time) -> Result<bool> {
        self.flights.detach(key);
        let stored = self.driver.set(key, record, When::Always, now).await;
        let stored = self.settle(stored, now, false)?;
        if stored {
            self.counters.count(Count::Set);
        }
        Ok(stored)
    }

    pub(crate) async fn store_many(&self, records: &[(Key, Record)], now: Time) -> Result<bool> {
        for (key, _) in records {
            self.flights.detach(key);
        }
        let entries: Vec<(&[u8], Record)> = records.iter().map(|(key, record)| (&**key, record.clone())).collect();
        let stored = self.driver.set_many(&entries, now).await.map(|()| true);
        let stored = self.settle(stored, now, false)?;
        if stored {
            for _ in records {
                self.counters.count(Count::Set);
            }
        }
        Ok(stored)
    }

    pub(crate) async fn remove(&self, key: &[u8]) -> Result<bool> {
        let now = self.clock.now();
        self.flights.detach(key);
        self.counters.count(Count::Removal);
        let removal = Removal { version: self.clock.version_at(now), until: now.plus(REMOVAL) };
        let removed = self.driver.remove(key, removal, now).await;
        self.insist(removed, now)
    }

    /// What is there, and the condition that it still is. The driver's failure is an error.
    pub(crate) async fn for_update<T: Send>(
        &self,
        key: &[u8],
        decode: impl FnOnce(Value<'_>) -> Result<T> + Send,
    ) -> Result<(Option<T>, When)> {
        let now = self.clock.now();
        let found = self.driver.get(key, now, |entry| entry.to_record()).await?;
        let Some(record) = found else { return Ok((None, When::Absent)) };
        let when = When::Version(record.entry().version());
        let mut seen = Seen::Nothing;
        self.look_closer(key, now, Then::Judge(record), Some(decode), &mut seen).await?;
        Ok((seen.fresh(), when))
    }

    pub(crate) async fn replace<V>(&self, key: &[u8], value: &V, life: &Life, when: When) -> Result<bool>
    where
        C: Codec<V>,
    {
        let now = self.clock.now();
        self.epochs.prepare(&self.driver, &self.clock, now).await?;
        if !life.tags.is_empty() {
            self.epochs.ensure(&self.driver, &self.clock, &life.tags, self.clock.version_at(now)).await?;
        }
        if let When::Version(old) = when {
            // What another process, whose clock is ahead, wrote has a higher version; ours must not be the same again.
            self.clock.observe(old);
        }
        let header = life.header(false, self.clock.version_at(now), now, self.rules.grace());
        let record = self.encode(&header, &life.tags, Some(value))?;
        self.flights.detach(key);
        let stored = self.driver.set(key, &record, when, now).await?;
        self.counters.count(if stored { Count::Set } else { Count::Refused });
        Ok(stored)
    }

    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's name is not general enough for rustc")]
    pub(crate) async fn increment(&self, key: &[u8], by: i64) -> Result<i64> {
        let now = self.clock.now();
        self.epochs.prepare(&self.driver, &self.clock, now).await?;
        // A counter that is void or stale must begin anew.
        if let (None, When::Version(_)) = self.for_update(key, |value| value.number()).await? {
            let removal = Removal { version: self.clock.version_at(now), until: now };
            self.driver.remove(key, removal, now).await?;
        }
        let version = self.clock.version_at(now);
        let header = self.life.header(false, version, now, Duration::ZERO);
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
        self.settle(touched, now, false)
    }

    pub(crate) async fn keys<O: DeserializeOwned + Send>(&self) -> Result<Vec<O>> {
        let now = self.clock.now();
        let mut keys = Vec::new();
        let note = |key: &[u8]| keys.extend(self.prefix.decode::<O>(key));
        let listed = self.driver.keys(self.prefix.as_bytes(), now, note).await;
        self.settle(listed, now, ())?;
        Ok(keys)
    }

    /// Encodes a value, or that there is none.
    pub(crate) fn encode<V>(&self, header: &Header, tags: &[u64], value: Option<&V>) -> Result<Record>
    where
        C: Codec<V>,
    {
        thread_local! {
            /// Where values are encoded before their length is known. Taken while in use: encoding may itself use a cache.
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
            Some(threshold) if scratch.len() >= threshold => packed::record(header, tags, &scratch),
            _ => Record::new(header, tags, &scratch),
        };
        if scratch.capacity() <= 64 << 10 {
            SCRATCH.set(scratch);
        }
        Ok(record)
    }

    /// The driver's answer; or, if it failed, `instead`, unless failures are to be errors.
    #[inline]
    pub(crate) fn settle<T>(&self, answer: Result<T>, now: Time, instead: T) -> Result<T> {
        match answer {
            Ok(answer) => {
                self.breaker.succeeded();
                Ok(answer)
            }
            Err(error) if error.is_unsupported() => Err(error),
            Err(error) => {
                self.failed(&error, now);
                if self.rules.errors { Err(error) } else { Ok(instead) }
            }
        }
    }

    /// The driver's answer to what must not fail unnoticed.
    pub(crate) fn insist<T>(&self, answer: Result<T>, now: Time) -> Result<T> {
        match &answer {
            Ok(_) => self.breaker.succeeded(),
            Err(error) if error.is_unsupported() => {}
            Err(error) => self.failed(error, now),
        }
        answer
    }

    #[cold]
    fn failed(&self, error: &Error, now: Time) {
        self.counters.count(Count::Failure);
        let driver = self.driver.name();
        tracing::warn!(target: "skep_cache", driver, %error, "the driver failed");
        if error.is_unreachable() && self.breaker.failed(now) {
            tracing::error!(target: "skep_cache", driver, "the driver is not asked for a while: it does not answer");
        }
    }

    /// What holds while the driver is not asked.
    #[cold]
    pub(crate) fn resting<T>(&self, instead: T) -> Result<T> {
        if self.rules.errors { Err(Error::unreachable("resting: it did not answer lately")) } else { Ok(instead) }
    }

    /// Gives a lease back.
    pub(crate) async fn release(&self, key: &[u8], token: Token) -> Result<()> {
        let now = self.clock.now();
        let released = self.driver.release(key, token, now).await;
        self.settle(released, now, ())
    }
}

//! A miss: one caller computes, the others wait or get the stale value.
//!
//! Within this process a flight decides who computes; between processes, the driver's lease. The lease also keeps
//! outdated results out: setting or removing the key ends it, and the result of a computation that began before is
//! refused.
//!
//! Four checks decide whether a stored entry may be used, each against another kind of change:
//!
//! | check | question | stored where | compared with | if it fails |
//! |---|---|---|---|---|
//! | expiry | Is the entry old? | `fresh_until`, `dead_at` of the entry | the clock | stale, then a miss |
//! | epoch | Was one of its tags, or the namespace, invalidated? | an entry for each tag; the version of each entry | each other | a miss |
//! | generation | Are the epochs in memory up to date? | with the epochs in memory | [`Driver::generation`] | read the epochs again |
//! | stamp | Is the copy in a near tier up to date? | `mark` of the copy | [`Driver::stamp`] of the far tier, or a time limit | read from the far tier |
//!
//! Expiry and epochs are the contract; generation and stamp only say when memory and near tiers must look again. An
//! entry moves through these states (`Freshness`):
//!
//! ```text
//! set ─> Fresh ─ (drawn shortly before its end) ─> Early ─ fresh_until ─> Stale ─> StaleIfError ─ dead_at ─> miss
//!          └───────────── removed, or a tag invalidated: at once ──────────────────────────────────────────────^
//! ```
//!
//! Start reading at `Inner::obtain`.

use std::any::Any;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::inner::{Found, Freshness, Inner};
use super::value::Value;
use super::{Cache, Codec, Count, Driver, Error, Result, Serialize};
use crate::clock::{Time, Version};
use crate::driver::{Claim, Flags, Record, Token, When};
use crate::flight::{Leader, Role};
use crate::key::Key;
use crate::policy::Computed;

type Cause = Box<dyn StdError + Send + Sync>;

impl<K: Serialize + ?Sized, V: Send, D: Driver, C: Codec<V>> Cache<K, V, D, C> {
    /// Returns the value; on a miss, runs `compute` and stores its result.
    ///
    /// Of all callers in all threads, runtimes and processes, one computes; the others wait, or get a stale value if
    /// there is one (see `stale`, `stale_if_error`, `early` and the timeouts of [`Builder`](super::Builder)). `compute`
    /// runs inside this future; if that is dropped, a waiting caller computes. All waiting callers get an error, which
    /// is not stored; a panic continues here and is an error for the others. `compute` returns a value, or a
    /// [`Computed`] with a policy of its own.
    ///
    /// See [the crate](crate) for an example.
    ///
    /// # Errors
    ///
    /// If the computation fails, panics or takes too long and there is nothing stale to give:
    /// [`Error::is_computation`], [`Error::is_timeout`].
    pub async fn get_or<F, A, E>(&self, key: &K, compute: impl FnOnce() -> F) -> Result<V>
    where
        F: Future<Output = Result<A, E>>,
        A: Into<Computed<V>>,
        E: Into<Cause>,
    {
        let mut encoded = Key::empty();
        self.inner.prefix.write(key, &mut encoded)?;
        let key = &encoded;
        let compute = || async { compute().await.map(|value| some(value.into())).map_err(Error::computation) };
        match self.inner.obtain(key, self.inner.rules.soft_timeout, compute).await? {
            Some(value) => Ok(value),
            // Stored by `set_none` or `get_or_none`.
            None => Err(Error::misused("a negative entry is stored under this key: use `get_or_none`")),
        }
    }

    /// As [`get_or`](Cache::get_or), but there may be no value: a negative entry is stored then, with the TTL
    /// `negative`.
    ///
    /// ```
    /// # skep_cache::driver::block_on(async {
    /// use skep_cache::{Cache, Memory};
    ///
    /// let users = Cache::<u64, String>::new("users", Memory::new(1 << 20))?;
    /// assert_eq!(users.get_or_none(&1, || async { Ok::<_, std::io::Error>(None::<String>) }).await?, None);
    /// let again = users.get_or_none(&1, || async { Ok::<_, std::io::Error>(Some("Ada".to_owned())) }).await?;
    /// assert_eq!(again, None, "the negative entry is fresh for a minute");
    /// # Ok::<(), skep_cache::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn get_or_none<F, A, E>(&self, key: &K, compute: impl FnOnce() -> F) -> Result<Option<V>>
    where
        F: Future<Output = Result<Option<A>, E>>,
        A: Into<Computed<V>>,
        E: Into<Cause>,
    {
        let key = self.inner.prefix.key(key)?;
        let compute = || async {
            match compute().await {
                Ok(Some(value)) => Ok(some(value.into())),
                Ok(None) => Ok(Computed::new(None)),
                Err(error) => Err(Error::computation(error)),
            }
        };
        self.inner.obtain(&key, self.inner.rules.soft_timeout, compute).await
    }

    /// As [`get_or`](Cache::get_or), but returns a stale value at once and refreshes it in the background, on the
    /// [`spawner`](super::Builder::spawner) (stale-while-revalidate). Without a spawner it is `get_or`.
    pub async fn get_or_in_background<F, A, E>(
        &self,
        key: &K,
        compute: impl FnOnce() -> F + Send + 'static,
    ) -> Result<V>
    where
        F: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Computed<V>> + Send,
        E: Into<Cause>,
        V: Send + 'static,
    {
        let Some(spawn) = &self.inner.rules.spawner else { return self.get_or(key, compute).await };
        let encoded = self.inner.prefix.key(key)?;
        let mut found = Found::Nothing;
        let now = self.inner.clock.now();
        self.inner.look_up(&encoded, now, |value| value.decode(&self.inner.codec), &mut found).await?;
        let Found::Entry(state @ (Freshness::Fresh | Freshness::Early | Freshness::Stale), Some(value)) = found else {
            return self.get_or(key, compute).await;
        };
        self.inner.count_hit(state);
        if state != Freshness::Fresh && !self.inner.single_flight.is_in_flight(&encoded) {
            let inner = Arc::clone(&self.inner);
            spawn(Box::pin(async move {
                let compute = || async { compute().await.map(|value| some(value.into())).map_err(Error::computation) };
                if let Err(error) = inner.obtain::<V, _>(&encoded, None, compute).await {
                    tracing::warn!(target: "skep_cache", %error, "background refresh failed");
                }
            }));
        }
        Ok(value)
    }
}

fn some<V>(computed: Computed<V>) -> Computed<Option<V>> {
    Computed { value: Some(computed.value), policy: computed.policy, store: computed.store }
}

enum Ended<V> {
    Done(Result<Computed<Option<V>>>),
    /// The soft timeout passed: the caller takes the stale value.
    SoftTimeout,
    Panicked(Box<dyn Any + Send>),
}

enum Turn<'a, V, D: Driver, C: Send + Sync + 'static> {
    /// Compute. Without a lease if the driver fails: every process computes then, and a result is stored only if it is
    /// newer.
    Compute(Option<Lease<'a, D, C>>),
    /// Return the stale value: another process computes.
    ServeStale,
    /// Return this value: another process has just stored it.
    Done(Option<V>),
}

/// A lease, released on drop.
struct Lease<'a, D: Driver, C: Send + Sync + 'static> {
    inner: &'a Inner<D, C>,
    key: &'a [u8],
    token: Token,
    until: Time,
}

impl<D: Driver, C: Send + Sync + 'static> Lease<'_, D, C> {
    /// A write ended it: nothing to release.
    fn ended(self) {
        std::mem::forget(self);
    }

    async fn release(lease: Option<Self>) -> Result<()> {
        let Some(lease) = lease else { return Ok(()) };
        lease.inner.release(lease.key, lease.token).await?;
        lease.ended();
        Ok(())
    }
}

impl<D: Driver, C: Send + Sync + 'static> Drop for Lease<'_, D, C> {
    fn drop(&mut self) {
        self.inner.driver.abandon(self.key, self.token, self.inner.clock.now());
    }
}

/// A stored value that may replace a computed one.
struct StaleValue<V> {
    state: Freshness,
    version: Version,
    value: Option<V>,
}

impl<D: Driver, C: Send + Sync + 'static> Inner<D, C> {
    /// The stored or computed value of a key. `None` is a negative entry.
    async fn obtain<V, F>(&self, key: &Key, soft: Option<Duration>, compute: impl FnOnce() -> F) -> Result<Option<V>>
    where
        F: Future<Output = Result<Computed<Option<V>>>>,
        V: Send,
        C: Codec<V>,
    {
        loop {
            let stale = match self.stored(key).await? {
                Some(StaleValue { state: Freshness::Fresh, value, .. }) => {
                    self.count_hit(Freshness::Fresh);
                    return Ok(value);
                }
                stale => stale,
            };
            let asked = self.clock.version();
            let follower = match self.single_flight.join(key) {
                Role::Leader(leader) => {
                    return Box::pin(self.compute_as_leader(key, leader, stale, soft, compute)).await;
                }
                Role::Follower(follower) => follower,
            };
            if let Some(StaleValue { state: state @ (Freshness::Early | Freshness::Stale), value, .. }) = stale {
                self.count_hit(state);
                return Ok(value);
            }
            match follower.await {
                Some(Ok(record)) if record.entry().version() > asked || !self.is_invalidated(&record).await? => {
                    self.counters.count(Count::Coalesced);
                    return self.value(&record);
                }
                Some(Err(error)) => return self.fall_back(stale, error),
                // The leader was dropped, or its result was invalidated since its computation began, perhaps before
                // this call. The next computation begins later than that.
                Some(Ok(_)) | None => {}
            }
        }
    }

    async fn stored<V: Send>(&self, key: &Key) -> Result<Option<StaleValue<V>>>
    where
        C: Codec<V>,
    {
        let decode = |value: Value<'_>| {
            let version = value.0.version();
            value.decode(&self.codec).map(|value| (version, value))
        };
        let mut found = Found::Nothing;
        self.look_up(key, self.clock.now(), decode, &mut found).await?;
        Ok(match found {
            Found::Nothing => None,
            Found::Entry(state, Some((version, value))) => Some(StaleValue { state, version, value: Some(value) }),
            Found::Entry(state, None) => Some(StaleValue { state, version: Version::ZERO, value: None }),
        })
    }

    async fn compute_as_leader<V, F>(
        &self,
        key: &Key,
        leader: Leader<'_, Result<Record>>,
        stale: Option<StaleValue<V>>,
        soft: Option<Duration>,
        compute: impl FnOnce() -> F,
    ) -> Result<Option<V>>
    where
        F: Future<Output = Result<Computed<Option<V>>>>,
        V: Send,
        C: Codec<V>,
    {
        let lease = match self.turn(key, stale.as_ref().map(|stale| (stale.state, stale.version))).await? {
            Turn::Compute(lease) => lease,
            Turn::ServeStale => return Ok(self.serve(stale)),
            Turn::Done(value) => return Ok(value),
        };
        if stale.is_none() {
            self.counters.count(Count::Miss);
        }
        let prepared = self.ready_to_write(&self.policy.tags, self.clock.now()).await?;
        let version = prepared.unwrap_or_else(|| self.clock.version());
        let began = self.clock.micros();
        let ran = self.run(compute, soft.filter(|_| stale.is_some())).await;
        self.counters.count(Count::Computation);
        match ran {
            Ended::Done(Ok(computed)) => {
                let policy = computed.policy.as_ref().unwrap_or(&self.policy);
                let mut header = policy.header(computed.value.is_none(), version, self.clock.now(), self.rules.grace());
                header.cost = u32::try_from(self.clock.micros() - began).unwrap_or(u32::MAX);
                let record = self.encode(&header, &policy.tags, computed.value.as_ref())?;
                self.publish(key, leader, lease, computed.store.then_some(&*policy.tags), record).await?;
                Ok(computed.value)
            }
            Ended::Done(Err(error)) => {
                self.counters.count(Count::FailedComputation);
                Lease::release(lease).await?;
                self.postpone(key, stale.as_ref().map(|stale| stale.state)).await?;
                leader.publish(Err(error.clone()));
                self.fall_back(stale, error)
            }
            Ended::SoftTimeout => Ok(self.serve(stale)),
            Ended::Panicked(panic) => {
                self.counters.count(Count::FailedComputation);
                leader.publish(Err(Error::panicked(message(&*panic))));
                drop(lease);
                resume_unwind(panic)
            }
        }
    }

    /// Takes the lease. If another process has it, waits until that has stored a value or the lease ends.
    async fn turn<'a, V: Send>(&'a self, key: &'a Key, stale: Option<(Freshness, Version)>) -> Result<Turn<'a, V, D, C>>
    where
        C: Codec<V>,
    {
        let servable = stale.is_some_and(|(state, _)| state != Freshness::StaleIfError);
        let mut pause = Duration::from_millis(1);
        loop {
            let now = self.clock.now();
            if !self.breaker.allows(now) {
                return Ok(Turn::Compute(None));
            }
            let until = now.plus(self.rules.lease);
            let claim = Claim { token: Token(self.clock.version_at(now).to_u64()), until };
            let leased = self.driver.lease(key, claim, now).await.map(Some);
            let lease = match self.tolerate(leased, now, None)? {
                None => return Ok(Turn::Compute(None)),
                Some(Some(token)) => Some(Lease { inner: self, key, token, until }),
                Some(None) if servable => return Ok(Turn::ServeStale),
                Some(None) => None,
            };
            // Another caller, here or elsewhere, may have finished between the read and the lease.
            if let Some(found) = self.stored(key).await?
                && matches!(found.state, Freshness::Fresh | Freshness::Early)
                && stale.is_none_or(|(state, version)| state != Freshness::Early || version != found.version)
            {
                Lease::release(lease).await?;
                self.count_hit(Freshness::Fresh);
                return Ok(Turn::Done(found.value));
            }
            if lease.is_some() {
                return Ok(Turn::Compute(lease));
            }
            self.clock.sleep_until(now.plus(pause)).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    async fn run<V, F>(&self, compute: impl FnOnce() -> F, soft: Option<Duration>) -> Ended<V>
    where
        F: Future<Output = Result<Computed<Option<V>>>>,
    {
        let start = self.clock.now();
        let mut computation = pin!(async move { compute().await });
        let mut hard = self.rules.hard_timeout.map(|limit| self.clock.sleep_until(start.plus(limit)));
        let mut soft = soft.map(|limit| self.clock.sleep_until(start.plus(limit)));
        poll_fn(|cx| {
            match catch_unwind(AssertUnwindSafe(|| computation.as_mut().poll(cx))) {
                Ok(Poll::Ready(done)) => return Poll::Ready(Ended::Done(done)),
                Ok(Poll::Pending) => {}
                Err(panic) => return Poll::Ready(Ended::Panicked(panic)),
            }
            if hard.as_mut().is_some_and(|hard| Pin::new(hard).poll(cx).is_ready()) {
                return Poll::Ready(Ended::Done(Err(Error::timed_out(self.rules.hard_timeout.unwrap_or_default()))));
            }
            if soft.as_mut().is_some_and(|soft| Pin::new(soft).poll(cx).is_ready()) {
                return Poll::Ready(Ended::SoftTimeout);
            }
            Poll::Pending
        })
        .await
    }

    /// Stores a result (unless `tags` is `None`) and publishes it to the waiting callers.
    async fn publish(
        &self,
        key: &[u8],
        leader: Leader<'_, Result<Record>>,
        lease: Option<Lease<'_, D, C>>,
        tags: Option<&[u64]>,
        record: Record,
    ) -> Result<()> {
        let now = self.clock.now();
        let Some(tags) = tags else {
            leader.publish(Ok(record));
            return Lease::release(lease).await;
        };
        match self.store_computed(key, lease.as_ref(), tags, &record, now).await? {
            Some(true) => {
                self.counters.count(Count::Set);
                if let Some(lease) = lease {
                    lease.ended();
                }
            }
            Some(false) => {
                self.counters.count(Count::Refused);
                // The key was set or removed meanwhile: waiting callers read again. If only the lease expired, publish
                // all the same, or all of them would compute, one after the other.
                if lease.is_some_and(|lease| now < lease.until) {
                    return Ok(());
                }
            }
            None => {}
        }
        leader.publish(Ok(record));
        Ok(())
    }

    /// Whether the record was stored; `None` if the driver fails.
    async fn store_computed(
        &self,
        key: &[u8],
        lease: Option<&Lease<'_, D, C>>,
        tags: &[u64],
        record: &Record,
        now: Time,
    ) -> Result<Option<bool>> {
        if !self.breaker.allows(now) {
            return self.breaker_open(None);
        }
        if !tags.is_empty() {
            let ensured = self.epochs.ensure(&self.driver, &self.clock, tags, record.entry().version()).await;
            self.tolerate(ensured, now, ())?;
        }
        let when = lease.map_or(When::Newer, |lease| When::Leased(lease.token));
        let stored = self.driver.set(key, record, when, now).await.map(Some);
        self.tolerate(stored, now, None)
    }

    /// After a failure: the stale value counts as fresh until the next attempt, at most until its end.
    async fn postpone(&self, key: &[u8], stale: Option<Freshness>) -> Result<()> {
        if !matches!(stale, Some(Freshness::Stale | Freshness::StaleIfError)) {
            return Ok(());
        }
        let now = self.clock.now();
        let postpone = async {
            let Some(dead_at) = self.driver.get(key, now, |entry| entry.dead_at()).await? else { return Ok(false) };
            self.driver.touch(key, now.plus(self.rules.retry).min(dead_at), dead_at, now).await
        };
        let postponed = postpone.await;
        self.tolerate(postponed, now, false).map(drop)
    }

    /// The result after a failed computation: the stale value, or the error.
    fn fall_back<V>(&self, stale: Option<StaleValue<V>>, error: Error) -> Result<Option<V>> {
        if stale.is_none() {
            return Err(error);
        }
        tracing::warn!(target: "skep_cache", driver = self.driver.name(), %error, "computation failed: serving a stale value");
        Ok(self.serve(stale))
    }

    fn serve<V>(&self, stale: Option<StaleValue<V>>) -> Option<V> {
        let stale = stale?;
        self.count_hit(stale.state);
        stale.value
    }

    fn value<V>(&self, record: &Record) -> Result<Option<V>>
    where
        C: Codec<V>,
    {
        if record.entry().flags().has(Flags::NEGATIVE) {
            return Ok(None);
        }
        Value(record.entry()).decode(&self.codec).map(Some)
    }

    fn count_hit(&self, state: Freshness) {
        self.counters.count(Count::Hit);
        if matches!(state, Freshness::Stale | Freshness::StaleIfError) {
            self.counters.count(Count::Stale);
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

//! What happens on a miss: one computes, the others wait or get the stale value.
//!
//! In this process a flight decides who computes; among processes, the driver's lease. The lease is also what keeps a stale
//! value out: whoever sets or removes the key ends it, and the result of a computation that began before is refused.
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

use super::inner::{Inner, Seen, State};
use super::value::Value;
use super::{Cache, Codec, Count, Driver, Error, Result, Serialize};
use crate::clock::{Time, Version};
use crate::driver::{Claim, Flags, Record, Token, When};
use crate::flight::{Leader, Role};
use crate::key::Key;
use crate::life::Answer;

/// What a computation may fail with: any error.
type Cause = Box<dyn StdError + Send + Sync>;

impl<K, V, D, C> Cache<K, V, D, C>
where
    K: Serialize + ?Sized,
    V: Send,
    D: Driver,
    C: Codec<V>,
{
    /// The value; on a miss, what `compute` gives, which is stored.
    ///
    /// However many ask, in however many threads, runtimes and processes, one computes; the others wait, or get the stale value if there
    /// is one (see [`Builder`](super::Builder): `stale`, `stale_if_error`, `early` and the limits). `compute` runs as a part of this future; if
    /// that is dropped, one who waits computes. An error is given to all who wait, and not stored; a panic goes on here
    /// and is an error for the others. `compute` gives back a value, or an [`Answer`] that also says how long it lives.
    ///
    /// ```
    /// # skep_cache::driver::block_on(async {
    /// use skep_cache::{Cache, Memory};
    ///
    /// let squares = Cache::<u64, u64>::new("squares", Memory::new(1 << 20))?;
    /// let square = squares.get_or(&12, || async { Ok::<_, std::io::Error>(12 * 12) }).await?;
    /// assert_eq!(square, 144);
    /// # Ok::<(), skep_cache::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// If the computation fails, panics or takes too long and there is nothing stale to give:
    /// [`Error::is_computation`], [`Error::is_timeout`].
    pub async fn get_or<F, A, E>(&self, key: &K, compute: impl FnOnce() -> F) -> Result<V>
    where
        F: Future<Output = Result<A, E>>,
        A: Into<Answer<V>>,
        E: Into<Cause>,
    {
        let mut encoded = Key::unwritten();
        self.inner.prefix.write(key, &mut encoded)?;
        let key = &encoded;
        let compute = || async { compute().await.map(|value| some(value.into())).map_err(Error::computation) };
        match self.inner.obtain(key, self.inner.rules.soft, compute).await? {
            Some(value) => Ok(value),
            // Somebody stored that there is none, with `set_none` or `get_or_none`.
            None => Err(Error::misused("there is no such value, says the cache: ask with `get_or_none`")),
        }
    }

    /// The same where there may be no value: that is stored too, and lives as the cache's `negative` says.
    ///
    /// ```
    /// # skep_cache::driver::block_on(async {
    /// use skep_cache::{Cache, Memory};
    ///
    /// let users = Cache::<u64, String>::new("users", Memory::new(1 << 20))?;
    /// assert_eq!(users.get_or_none(&1, || async { Ok::<_, std::io::Error>(None::<String>) }).await?, None);
    /// let again = users.get_or_none(&1, || async { Ok::<_, std::io::Error>(Some("Ada".to_owned())) }).await?;
    /// assert_eq!(again, None, "not asked again for a minute");
    /// # Ok::<(), skep_cache::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get_or`](Cache::get_or).
    pub async fn get_or_none<F, A, E>(&self, key: &K, compute: impl FnOnce() -> F) -> Result<Option<V>>
    where
        F: Future<Output = Result<Option<A>, E>>,
        A: Into<Answer<V>>,
        E: Into<Cause>,
    {
        let key = self.inner.prefix.key(key)?;
        let compute = || async {
            match compute().await {
                Ok(Some(value)) => Ok(some(value.into())),
                Ok(None) => Ok(Answer::of(None)),
                Err(error) => Err(Error::computation(error)),
            }
        };
        self.inner.obtain(&key, self.inner.rules.soft, compute).await
    }

    /// As [`get_or`](Cache::get_or), but a stale value is given at once, and computed anew by the
    /// [`spawner`](super::Builder::spawner), which no caller waits for. Without one it is `get_or`.
    ///
    /// # Errors
    ///
    /// As [`get_or`](Cache::get_or).
    pub async fn get_or_behind<F, A, E>(&self, key: &K, compute: impl FnOnce() -> F + Send + 'static) -> Result<V>
    where
        F: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Answer<V>> + Send,
        E: Into<Cause>,
        V: Send + 'static,
    {
        let Some(spawn) = &self.inner.rules.spawner else { return self.get_or(key, compute).await };
        let encoded = self.inner.prefix.key(key)?;
        let mut seen = Seen::Nothing;
        let now = self.inner.clock.now();
        self.inner.look(&encoded, now, |value| value.decode(&self.inner.codec), &mut seen).await?;
        let Seen::There(state @ (State::Fresh | State::Early | State::Stale), Some(value)) = seen else {
            return self.get_or(key, compute).await;
        };
        self.inner.given(state);
        if state != State::Fresh && !self.inner.flights.is_flying(&encoded) {
            let inner = Arc::clone(&self.inner);
            spawn(Box::pin(async move {
                let compute = || async { compute().await.map(|value| some(value.into())).map_err(Error::computation) };
                if let Err(error) = inner.obtain::<V, _>(&encoded, None, compute).await {
                    tracing::warn!(target: "skep_cache", %error, "computing behind a stale value failed");
                }
            }));
        }
        Ok(value)
    }
}

fn some<V>(answer: Answer<V>) -> Answer<Option<V>> {
    Answer { value: Some(answer.value), life: answer.life, keep: answer.keep }
}

/// How a computation ended.
enum Ran<V> {
    Done(Result<Answer<Option<V>>>),
    /// Its caller takes the stale value instead.
    Soft,
    Panicked(Box<dyn Any + Send>),
}

/// Whose turn it is to compute.
enum Turn<'a, V, D: Driver, C: Send + Sync + 'static> {
    /// Ours. Without a lease if the driver fails: everybody computes then, and what comes of it is stored only if it is newer.
    Ours(Option<Lease<'a, D, C>>),
    /// Another process's, and there is a stale value to give.
    Theirs,
    /// Another has just finished.
    Over(Option<V>),
}

/// A lease that is given back when its holder is dropped.
struct Lease<'a, D: Driver, C: Send + Sync + 'static> {
    inner: &'a Inner<D, C>,
    key: &'a [u8],
    token: Option<Token>,
    until: Time,
}

impl<D: Driver, C: Send + Sync + 'static> Lease<'_, D, C> {
    /// It ended by a write: there is nothing to give back.
    fn ended(mut self) {
        self.token = None;
    }

    async fn release(lease: Option<Self>) -> Result<()> {
        let Some(mut lease) = lease else { return Ok(()) };
        match lease.token {
            Some(token) => {
                lease.inner.release(lease.key, token).await?;
                lease.token = None;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl<D: Driver, C: Send + Sync + 'static> Drop for Lease<'_, D, C> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            self.inner.driver.abandon(self.key, token, self.inner.clock.now());
        }
    }
}

/// What a look showed that may be given instead of a computed value: how good it is, its version, and the value.
struct Spare<V> {
    state: State,
    version: Version,
    value: Option<V>,
}

/// The same without the value.
#[derive(Clone, Copy)]
struct Mark {
    state: State,
    version: Version,
}

impl<V> Spare<V> {
    fn mark(&self) -> Mark {
        Mark { state: self.state, version: self.version }
    }
}

impl<D: Driver, C: Send + Sync + 'static> Inner<D, C> {
    /// The value of a key that is there or computed. `None` is "there is none".
    async fn obtain<V, F>(&self, key: &Key, soft: Option<Duration>, compute: impl FnOnce() -> F) -> Result<Option<V>>
    where
        F: Future<Output = Result<Answer<Option<V>>>>,
        V: Send,
        C: Codec<V>,
    {
        loop {
            let spare = match self.spare(key).await? {
                Some(Spare { state: State::Fresh, value, .. }) => {
                    self.given(State::Fresh);
                    return Ok(value);
                }
                spare => spare,
            };
            let asked = self.clock.version();
            let follower = match self.flights.join(key) {
                Role::Leads(leader) => return Box::pin(self.lead(key, leader, spare, soft, compute)).await,
                Role::Follows(follower) => follower,
            };
            if let Some(Spare { state: state @ (State::Early | State::Stale), value, .. }) = spare {
                self.given(state);
                return Ok(value);
            }
            match follower.await {
                Some(Ok(record)) if record.entry().version() > asked || !self.is_void(&record).await? => {
                    self.counters.count(Count::Waited);
                    return self.value(&record);
                }
                // It was invalidated since its computation began, perhaps before this caller asked. What is computed next
                // begins later than that.
                Some(Err(error)) => return self.instead(spare, error),
                // The leader was dropped, or what it computed was out of date, for this caller at least.
                Some(Ok(_)) | None => {}
            }
        }
    }

    async fn spare<V: Send>(&self, key: &Key) -> Result<Option<Spare<V>>>
    where
        C: Codec<V>,
    {
        let decode = |value: Value<'_>| {
            let version = value.version();
            value.decode(&self.codec).map(|value| (version, value))
        };
        let mut seen = Seen::Nothing;
        self.look(key, self.clock.now(), decode, &mut seen).await?;
        Ok(match seen {
            Seen::Nothing => None,
            Seen::There(state, Some((version, value))) => Some(Spare { state, version, value: Some(value) }),
            Seen::There(state, None) => Some(Spare { state, version: Version::ZERO, value: None }),
        })
    }

    async fn lead<V, F>(
        &self,
        key: &Key,
        leader: Leader<'_, Result<Record>>,
        spare: Option<Spare<V>>,
        soft: Option<Duration>,
        compute: impl FnOnce() -> F,
    ) -> Result<Option<V>>
    where
        F: Future<Output = Result<Answer<Option<V>>>>,
        V: Send,
        C: Codec<V>,
    {
        let lease = match self.turn(key, spare.as_ref().map(Spare::mark)).await? {
            Turn::Ours(lease) => lease,
            Turn::Theirs => return Ok(self.give(spare)),
            Turn::Over(value) => return Ok(value),
        };
        if spare.is_none() {
            self.counters.count(Count::Miss);
        }
        let prepared = self.ready_to_write(&self.life.tags, self.clock.now()).await?;
        let version = prepared.unwrap_or_else(|| self.clock.version());
        let began = self.clock.micros();
        let ran = self.run(compute, soft.filter(|_| spare.is_some())).await;
        self.counters.count(Count::Computation);
        match ran {
            Ran::Done(Ok(answer)) => {
                let life = answer.life.as_ref().unwrap_or(&self.life);
                let mut header = life.header(answer.value.is_none(), version, self.clock.now(), self.rules.grace());
                header.cost = u32::try_from(self.clock.micros() - began).unwrap_or(u32::MAX);
                let record = self.encode(&header, &life.tags, answer.value.as_ref())?;
                self.land(key, leader, lease, answer.keep.then_some(&*life.tags), record).await?;
                Ok(answer.value)
            }
            Ran::Done(Err(error)) => {
                self.counters.count(Count::FailedComputation);
                Lease::release(lease).await?;
                self.postpone(key, spare.as_ref().map(Spare::mark)).await?;
                leader.land(Err(error.clone()));
                self.instead(spare, error)
            }
            Ran::Soft => Ok(self.give(spare)),
            Ran::Panicked(panic) => {
                self.counters.count(Count::FailedComputation);
                leader.land(Err(Error::panicked(message(&*panic))));
                drop(lease);
                resume_unwind(panic)
            }
        }
    }

    /// Takes the lease. Where another process has it, waits until that is done or its lease ends.
    async fn turn<'a, V: Send>(&'a self, key: &'a Key, spare: Option<Mark>) -> Result<Turn<'a, V, D, C>>
    where
        C: Codec<V>,
    {
        let servable = spare.is_some_and(|spare| spare.state != State::Spare);
        let mut pause = Duration::from_millis(1);
        loop {
            let now = self.clock.now();
            if !self.breaker.allows(now) {
                return Ok(Turn::Ours(None));
            }
            let until = now.plus(self.rules.lease);
            let claim = Claim { token: Token(self.clock.version_at(now).to_u64()), until };
            let leased = self.driver.lease(key, claim, now).await.map(Some);
            let lease = match self.settle(leased, now, None)? {
                None => return Ok(Turn::Ours(None)),
                Some(Some(token)) => Some(Lease { inner: self, key, token: Some(token), until }),
                Some(None) if servable => return Ok(Turn::Theirs),
                Some(None) => None,
            };
            // Another, here or elsewhere, may have finished between our look and our lease.
            if let Some(found) = self.spare(key).await?
                && matches!(found.state, State::Fresh | State::Early)
                && spare.is_none_or(|before| before.state != State::Early || before.version != found.version)
            {
                Lease::release(lease).await?;
                self.given(State::Fresh);
                return Ok(Turn::Over(found.value));
            }
            if lease.is_some() {
                return Ok(Turn::Ours(lease));
            }
            self.clock.sleep_until(now.plus(pause)).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Runs a computation within its limits.
    async fn run<V, F>(&self, compute: impl FnOnce() -> F, soft: Option<Duration>) -> Ran<V>
    where
        F: Future<Output = Result<Answer<Option<V>>>>,
    {
        let start = self.clock.now();
        let mut computation = pin!(async move { compute().await });
        let mut hard = self.rules.hard.map(|limit| self.clock.sleep_until(start.plus(limit)));
        let mut soft = soft.map(|limit| self.clock.sleep_until(start.plus(limit)));
        poll_fn(|cx| {
            match catch_unwind(AssertUnwindSafe(|| computation.as_mut().poll(cx))) {
                Ok(Poll::Ready(done)) => return Poll::Ready(Ran::Done(done)),
                Ok(Poll::Pending) => {}
                Err(panic) => return Poll::Ready(Ran::Panicked(panic)),
            }
            if hard.as_mut().is_some_and(|hard| Pin::new(hard).poll(cx).is_ready()) {
                return Poll::Ready(Ran::Done(Err(Error::timed_out(self.rules.hard.unwrap_or_default()))));
            }
            if soft.as_mut().is_some_and(|soft| Pin::new(soft).poll(cx).is_ready()) {
                return Poll::Ready(Ran::Soft);
            }
            Poll::Pending
        })
        .await
    }

    /// Stores what was computed, and gives it to all who wait. Without `tags` it is not to be stored.
    async fn land(
        &self,
        key: &[u8],
        leader: Leader<'_, Result<Record>>,
        lease: Option<Lease<'_, D, C>>,
        tags: Option<&[u64]>,
        record: Record,
    ) -> Result<()> {
        let now = self.clock.now();
        let Some(tags) = tags else {
            leader.land(Ok(record));
            return Lease::release(lease).await;
        };
        match self.keep(key, lease.as_ref(), tags, &record, now).await? {
            Some(true) => {
                self.counters.count(Count::Set);
                if let Some(lease) = lease {
                    lease.ended();
                }
                leader.land(Ok(record));
            }
            Some(false) => {
                self.counters.count(Count::Refused);
                // Somebody set or removed the key since: who waits looks again. Were it only that the time of the
                // lease was over, that would let all compute, one after the other.
                if lease.is_none_or(|lease| now >= lease.until) {
                    leader.land(Ok(record));
                }
            }
            None => leader.land(Ok(record)),
        }
        Ok(())
    }

    /// Whether the record was stored; `None` if the driver fails.
    async fn keep(
        &self,
        key: &[u8],
        lease: Option<&Lease<'_, D, C>>,
        tags: &[u64],
        record: &Record,
        now: Time,
    ) -> Result<Option<bool>> {
        if !self.breaker.allows(now) {
            return self.resting(None);
        }
        if !tags.is_empty() {
            let ensured = self.epochs.ensure(&self.driver, &self.clock, tags, record.entry().version()).await;
            self.settle(ensured, now, ())?;
        }
        let when = lease.and_then(|lease| lease.token).map_or(When::Newer, When::Leased);
        let stored = self.driver.set(key, record, when, now).await.map(Some);
        self.settle(stored, now, None)
    }

    /// After a failure: the stale value counts as fresh until the next attempt, within its life.
    async fn postpone(&self, key: &[u8], spare: Option<Mark>) -> Result<()> {
        if !spare.is_some_and(|spare| matches!(spare.state, State::Stale | State::Spare)) {
            return Ok(());
        }
        let now = self.clock.now();
        let postpone = async {
            let Some(dead_at) = self.driver.get(key, now, |entry| entry.dead_at()).await? else { return Ok(false) };
            self.driver.touch(key, now.plus(self.rules.retry).min(dead_at), dead_at, now).await
        };
        let postponed = postpone.await;
        self.settle(postponed, now, false).map(drop)
    }

    /// What is given when the computation failed: the spare value, or the error.
    fn instead<V>(&self, spare: Option<Spare<V>>, error: Error) -> Result<Option<V>> {
        if spare.is_none() {
            return Err(error);
        }
        tracing::warn!(target: "skep_cache", driver = self.driver.name(), %error, "a stale value is given instead");
        Ok(self.give(spare))
    }

    fn give<V>(&self, spare: Option<Spare<V>>) -> Option<V> {
        let spare = spare?;
        self.given(spare.state);
        spare.value
    }

    fn value<V>(&self, record: &Record) -> Result<Option<V>>
    where
        C: Codec<V>,
    {
        if record.entry().flags().has(Flags::NEGATIVE) {
            return Ok(None);
        }
        Value::of(record.entry()).decode(&self.codec).map(Some)
    }

    fn given(&self, state: State) {
        self.counters.count(Count::Hit);
        if matches!(state, State::Stale | State::Spare) {
            self.counters.count(Count::Stale);
        }
    }
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

//! A near tier (L1) in front of a far one (L2); nest it for three tiers.
//!
//! The far tier is authoritative: leases, conditions and counters are its own. The near tier stores copies, kept
//! coherent so:
//!
//! - A copy is stored under a lease of the near tier taken before the far tier is read. Every write of the key ends
//!   that lease, so an outdated copy is refused.
//! - Changes by other processes reach the near tier in the first of three ways that the far driver supports: a complete
//!   [`stamp`](Driver::stamp), compared on every hit, so that no outdated copy is read; notifications
//!   ([`watch`](Driver::watch)), within [`bound`](Tiered::bound) at most; or that bound alone. If processes of a
//!   machine share the middle one of three tiers, its stamps tell the first tier about their writes at once.
//! - Epochs of tags are read from the far tier; `Cache` caches them in memory.
//!
//! While the far tier is unreachable, the near tier serves its copies. Keys whose writes failed are removed when it is
//! back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::breaker::Breaker;
use crate::clock::{Time, Version};
use crate::driver::{
    Change, Claim, Driver, Entry, Flags, Header, Ready, Record, Removal, Stamp, Token, When, forward, ready,
};
use crate::error::{Error, Result};

mod failed_writes;
mod validity;
mod write_buffer;

use failed_writes::FailedWrites;
use validity::{Validity, sum};
use write_buffer::WriteBuffer;

/// A near tier in front of a far one.
///
/// ```
/// use std::time::Duration;
/// use skep_cache::{Cache, Memory, Tiered, WritePolicy};
///
/// let far = Memory::new(64 << 20); // in production: shared memory, memcached, Redis
/// let tiers = Tiered::new(Memory::new(1 << 20), far)
///     .writes("sessions", WritePolicy::Around)
///     .bound(Duration::from_millis(500));
/// let cache = Cache::<str, u32, _>::new("answers", tiers)?;
/// cache.blocking().set("life", &42)?;
/// assert_eq!(cache.blocking().get("life")?, Some(42));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Debug)]
pub struct Tiered<N, F> {
    near: Arc<N>,
    far: F,
    policies: Vec<(Box<[u8]>, WritePolicy)>,
    default_policy: WritePolicy,
    bound: Duration,
    breaker: Breaker,
    failed_writes: FailedWrites,
    write_buffer: WriteBuffer,
    /// Tokens for leases of the near tier.
    tokens: AtomicU64,
}

/// How writes of a namespace reach the tiers.
///
/// See [`Tiered::writes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritePolicy {
    /// Write-through: stores in both tiers. For entries read soon after they are written.
    #[default]
    Through,
    /// Write-around: stores in the far tier and drops the copy. For entries written more often than read.
    Around,
    /// Write-back: buffers the entry in this process. The first write after a second or after 1024 entries stores them
    /// in the far tier, and so does [`Tiered::flush`]. A crash loses buffered entries. For data that may be lost, like
    /// view counts.
    Back,
}

/// How long reading the far tier and storing the copy may take.
const FILL: Duration = Duration::from_secs(5);
/// The default bound without notifications, and with them, in case one is lost.
const BOUND: Duration = Duration::from_secs(1);
const BOUND_WITH_NOTIFICATIONS: Duration = Duration::from_mins(1);

impl<N: Ready, F: Driver> Tiered<N, F> {
    /// Puts `near` in front of `far`.
    #[must_use]
    pub fn new(near: N, far: F) -> Self {
        let near = Arc::new(near);
        let copies = Arc::clone(&near);
        let notified = far.watch(Arc::new(move |change| invalidate(&*copies, change)));
        Self {
            near,
            far,
            policies: Vec::new(),
            default_policy: WritePolicy::default(),
            bound: if notified { BOUND_WITH_NOTIFICATIONS } else { BOUND },
            breaker: Breaker::default(),
            failed_writes: FailedWrites::default(),
            write_buffer: WriteBuffer::default(),
            tokens: AtomicU64::new(1),
        }
    }

    /// The write policy of a namespace.
    #[must_use]
    pub fn writes(mut self, namespace: &str, writes: WritePolicy) -> Self {
        self.policies.push(([namespace.as_bytes(), &[0]].concat().into(), writes));
        self
    }

    /// The write policy of all other namespaces. Default: [`WritePolicy::Through`].
    #[must_use]
    pub fn default_writes(mut self, writes: WritePolicy) -> Self {
        self.default_policy = writes;
        self
    }

    /// The maximum age of a copy, and so the longest time for which a change by another process may go unnoticed.
    /// Default: 1 s, or 60 s if the far driver sends notifications (for a lost one). Unused if its stamps are complete.
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

    /// Stores buffered writes ([`WritePolicy::Back`]) in the far tier. Call it before the program ends.
    pub async fn flush(&self, now: Time) -> Result<()> {
        let entries = self.write_buffer.take();
        if entries.is_empty() {
            return Ok(());
        }
        let borrowed: Vec<(&[u8], Record)> = entries.iter().map(|(key, record)| (&**key, record.clone())).collect();
        let stored = self.call(now, self.far.set_many(&borrowed, now)).await;
        if stored.is_err() {
            self.write_buffer.restore(entries);
        } else {
            // Other processes that share the near tier may have copied the previous entry.
            for (key, _) in &entries {
                self.drop_copy(key, now);
            }
        }
        stored
    }

    /// Stores the buffered write of this key before an operation that depends on it.
    async fn flush_key(&self, key: &[u8], now: Time) -> Result<()> {
        match self.write_buffer.get(key, now) {
            Some(_) => self.flush(now).await,
            None => Ok(()),
        }
    }

    fn policy(&self, key: &[u8]) -> WritePolicy {
        let own = self.policies.iter().find(|(prefix, _)| key.starts_with(prefix));
        own.map_or(self.default_policy, |(_, writes)| *writes)
    }

    /// Calls the far tier, unless its circuit breaker is open.
    async fn call<T>(&self, now: Time, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        if !self.breaker.allows(now) {
            return Err(Error::degraded());
        }
        match call.await {
            Ok(result) => {
                self.breaker.succeeded();
                Ok(result)
            }
            Err(error) if error.is_unreachable() => {
                if self.breaker.failed(now) {
                    tracing::error!(target: "skep_cache", driver = self.far.name(), "circuit breaker opened: the far tier is unreachable");
                }
                Err(Error::degraded().because(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes the keys whose writes failed while the far tier was unreachable.
    async fn repair(&self, now: Time) -> Result<()> {
        while let Some(key) = self.failed_writes.next() {
            let removed = self.call(now, self.far.remove(&key, no_tombstone(now), now)).await;
            if let Err(error) = removed {
                self.failed_writes.note(&key);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Before a write: drops the copy, and refuses one that is being stored.
    fn drop_copy(&self, key: &[u8], now: Time) {
        if let Err(error) = ready(self.near.remove(key, no_tombstone(now), now)) {
            tracing::warn!(target: "skep_cache", %error, "near tier failed");
        }
    }

    /// Leases the right to store a copy, until the key is written.
    fn lease_copy(&self, key: &[u8], now: Time) -> Option<Token> {
        let token = Token(self.tokens.fetch_add(1, Ordering::Relaxed));
        ready(self.near.lease(key, Claim { token, until: now.plus(FILL) }, now)).ok().flatten()
    }

    /// Stores a copy, unless the key was written since the lease. Whether it was stored.
    fn fill(&self, key: &[u8], entry: Entry<'_>, token: Token, validity: Validity, now: Time) -> bool {
        // The expiry of the entry stays: readers must not depend on the tier.
        let record = entry.with_header(&Header { mark: validity.mark(now, self.bound), ..entry.header() });
        ready(self.near.set(key, &record, When::Leased(token), now)).unwrap_or(false)
    }

    /// Writes to the far tier, and stores a copy if the policy says so.
    async fn write(
        &self,
        key: &[u8],
        now: Time,
        copy: Option<&Record>,
        call: impl Future<Output = Result<bool>> + Send,
    ) -> Result<bool> {
        self.repair(now).await?;
        self.write_buffer.forget(key);
        self.drop_copy(key, now);
        // With stamps a copy would need the stamp of this write, which is unknown.
        let copy = copy.filter(|_| Validity::of(&self.far, key) == Validity::Time);
        let token = copy.and_then(|_| self.lease_copy(key, now));
        let written = self.call(now, call).await;
        match (&written, copy, token) {
            (Ok(true), Some(record), Some(token)) if self.fill(key, record.entry(), token, Validity::Time, now) => {}
            (Ok(false), _, Some(token)) => drop(ready(self.near.release(key, token, now))),
            (Ok(_), _, _) => self.drop_copy(key, now),
            (Err(_), _, _) => {
                self.drop_copy(key, now);
                self.failed_writes.note(key);
            }
        }
        written
    }

    /// Whether the near tier stores copies of this key: not of epochs.
    fn is_copied(key: &[u8]) -> bool {
        key.first() != Some(&0)
    }

    /// Passes the copy to `read`, if it is up to date.
    fn copy<R: Send, G: FnOnce(Entry<'_>) -> R + Send>(
        &self,
        key: &[u8],
        now: Time,
        read: &mut Option<G>,
    ) -> Option<R> {
        let validity = Validity::of(&self.far, key);
        let found = ready(self.near.get(key, now, |entry| {
            if validity.holds(entry.mark(), now, self.bound) { read.take().map(|read| read(entry)) } else { None }
        }));
        found.ok().flatten().flatten()
    }
}

fn no_tombstone(now: Time) -> Removal {
    Removal { version: Version::ZERO, until: now }
}

/// Drops copies that another process changed.
fn invalidate<N: Ready>(near: &N, change: Change<'_>) {
    let start = Time::from_millis(0);
    let invalidated = match change {
        Change::Key(key) => ready(near.remove(key, no_tombstone(start), start)).map(drop),
        Change::Everything => ready(near.clear(b"", start)),
    };
    if let Err(error) = invalidated {
        tracing::error!(target: "skep_cache", driver = near.name(), %error, "invalidation of the near tier failed: copies may be outdated until their bound");
    }
}

impl<N: Ready, F: Driver> Driver for Tiered<N, F> {
    fn name(&self) -> &'static str {
        "tiered"
    }

    forward! { { tiers => tiers.far } abandon watch usage }

    async fn get<R, G>(&self, key: &[u8], now: Time, read: G) -> Result<Option<R>>
    where
        R: Send,
        G: FnOnce(Entry<'_>) -> R + Send,
    {
        let mut read = Some(read);
        if let Some(record) = self.write_buffer.get(key, now) {
            return Ok(read.take().map(|read| read(record.entry())));
        }
        let copied = Self::is_copied(key);
        if copied && let Some(found) = self.copy(key, now, &mut read) {
            return Ok(Some(found));
        }
        if self.failed_writes.has(key) {
            self.repair(now).await?;
        }
        let validity = Validity::of(&self.far, key);
        let token = if copied { self.lease_copy(key, now) } else { None };
        let found = self.call(
            now,
            self.far.get(key, now, |entry| {
                let filled = token.is_some_and(|token| self.fill(key, entry, token, validity, now));
                (filled, read.take().map(|read| read(entry)))
            }),
        );
        let found = found.await;
        if let Some(token) = token
            && !matches!(found, Ok(Some((true, _))))
        {
            drop(ready(self.near.release(key, token, now)));
        }
        Ok(found?.and_then(|(_, found)| found))
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        if record.entry().flags().has(Flags::EPOCH) {
            let stored = self.call(now, self.far.set(key, record, when, now)).await?;
            if stored && !self.far.generation().is_complete() {
                // Epochs are read from the far tier; this only changes the generation of the near one, for all that
                // share it.
                let _ = ready(self.near.set(key, record, When::Newer, now));
            }
            return Ok(stored);
        }
        match self.policy(key) {
            WritePolicy::Back if when == When::Always => {
                self.drop_copy(key, now);
                if self.write_buffer.put(key, record.clone(), now) {
                    self.flush(now).await?;
                }
                Ok(true)
            }
            WritePolicy::Through => self.write(key, now, Some(record), self.far.set(key, record, when, now)).await,
            WritePolicy::Around | WritePolicy::Back => {
                self.flush_key(key, now).await?;
                self.write(key, now, None, self.far.set(key, record, when, now)).await
            }
        }
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        let buffered = self.write_buffer.get(key, now).is_some();
        let removed = self.write(key, now, None, self.far.remove(key, removal, now)).await?;
        Ok(removed || buffered)
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        self.call(now, self.far.lease(key, claim, now)).await
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.call(now, self.far.release(key, token, now)).await
    }

    async fn get_many<G: FnMut(usize, Entry<'_>) + Send>(&self, keys: &[&[u8]], now: Time, mut read: G) -> Result<()> {
        let mut left = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            if let Some(record) = self.write_buffer.get(key, now) {
                read(index, record.entry());
                continue;
            }
            let copied = Self::is_copied(key);
            let mut once = Some(|entry: Entry<'_>| read(index, entry));
            if copied && self.copy(key, now, &mut once).is_some() {
                continue;
            }
            let token = if copied { self.lease_copy(key, now) } else { None };
            left.push((index, token, Validity::of(&self.far, key)));
        }
        if left.is_empty() {
            return Ok(());
        }
        self.repair(now).await?;
        let asked: Vec<&[u8]> = left.iter().map(|&(index, ..)| keys[index]).collect();
        let got = self.call(
            now,
            self.far.get_many(&asked, now, |at, entry| {
                let (index, token, validity) = left[at];
                if let Some(token) = token {
                    self.fill(keys[index], entry, token, validity, now);
                }
                read(index, entry);
            }),
        );
        let got = got.await;
        for (index, token, _) in left {
            if let Some(token) = token {
                drop(ready(self.near.release(keys[index], token, now)));
            }
        }
        got
    }

    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        self.repair(now).await?;
        for (key, _) in entries {
            self.write_buffer.forget(key);
            self.drop_copy(key, now);
        }
        let stored = self.call(now, self.far.set_many(entries, now)).await;
        for (key, _) in entries {
            self.drop_copy(key, now);
            if stored.is_err() {
                self.failed_writes.note(key);
            }
        }
        stored
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        self.flush_key(key, now).await?;
        self.repair(now).await?;
        self.drop_copy(key, now);
        let sum = self.call(now, self.far.increment(key, by, fresh, now)).await;
        self.drop_copy(key, now);
        sum
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        self.flush_key(key, now).await?;
        self.write(key, now, None, self.far.touch(key, fresh_until, dead_at, now)).await
    }

    async fn keys<G: FnMut(&[u8]) + Send>(&self, prefix: &[u8], now: Time, each: G) -> Result<()> {
        self.flush(now).await?;
        self.call(now, self.far.keys(prefix, now, each)).await
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        self.write_buffer.clear(prefix);
        let far = self.call(now, self.far.clear(prefix, now)).await;
        match self.near.clear(prefix, now).await {
            Err(error) if !error.is_unsupported() => Err(error),
            _ => far,
        }
    }

    fn generation(&self) -> Stamp {
        match self.far.generation() {
            Stamp::Complete(number) => Stamp::Complete(number),
            far => sum(self.near.generation(), far),
        }
    }

    /// Every write passes the near tier: if processes share that, it knows their writes.
    fn stamp(&self, key: &[u8]) -> Stamp {
        match self.far.stamp(key) {
            Stamp::Complete(number) => Stamp::Complete(number),
            far => sum(self.near.stamp(key), far),
        }
    }
}

impl<N: Ready, F: Ready> Ready for Tiered<N, F> {}

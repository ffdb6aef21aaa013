//! The contract of drivers, and the types they exchange with [`Cache`](crate::Cache).
//!
//! A driver stores bytes under keys, and checks conditions atomically. It knows no types, tags or computations, and has
//! no clock: each call gets the time. [`suite`](mod@crate::suite) tests the contract.
//!
//! To connect another backend, implement [`KeyValueStore`](crate::KeyValueStore), which is small, and wrap it in a
//! [`StoreDriver`](crate::StoreDriver). Start reading at [`Driver`].

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use crate::clock::{Time, Version};
use crate::error::{Error, Result};

mod dispatch;

pub use crate::block::block_on;
pub use crate::entry::{Entry, Flags, Header, Record, Removal};
pub(crate) use dispatch::{called, dispatch, dispatch_enum, forward};

/// Stores entries under keys.
///
/// Keys are opaque, at most [`MAX_KEY`] bytes, and include the namespace. Of an entry, a driver reads the [`Header`]
/// only. Futures are [`Send`]; those of a driver in this process are ready at once ([`Ready`]). A driver never panics
/// on what its backend returns: invalid bytes are an error that [is corrupt](Error::is_corrupt), once, and are removed,
/// or overwritten by the next write.
///
/// ```
/// use skep_cache::driver::{Header, Record, When, ready};
/// use skep_cache::{Clock, Driver, Memory};
///
/// let (driver, now) = (Memory::new(1 << 20), Clock::system().now());
/// ready(driver.set(b"post:1", &Record::new(&Header::default(), &[], b"hello"), When::Always, now))?;
/// let length = ready(driver.get(b"post:1", now, |entry| entry.value().len()))?;
/// assert_eq!(length, Some(5));
/// # Ok::<(), skep_cache::Error>(())
/// ```
pub trait Driver: Send + Sync + 'static {
    /// The name for logs and statistics: "memory".
    fn name(&self) -> &'static str;

    /// Passes the entry to `read`, if there is one that [is live](Entry::is_live) `now`, and returns the result.
    ///
    /// `read` is called at most once. The driver must hold no lock meanwhile that another call needs: `read` decodes,
    /// which takes a while.
    fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> impl Future<Output = Result<Option<R>>> + Send
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send;

    /// Stores an entry if `when` holds, atomically. Whether it was stored.
    ///
    /// A successful write ends the lease on its key. An entry that is dead `now` may be "stored" by storing nothing. If
    /// the backend has an expiry of its own, it gets at least the time from `now` to the entry's end.
    fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> impl Future<Output = Result<bool>> + Send;

    /// Removes the entry and ends the lease on its key. Whether there was a live entry.
    ///
    /// A tombstone remains until `removal.until`, with the version of the removal or of the removed entry, whichever is
    /// higher. It refuses writes with [`When::Newer`] whose version is not higher. If `until` is `now`, no tombstone is
    /// needed.
    fn remove(&self, key: &[u8], removal: Removal, now: Time) -> impl Future<Output = Result<bool>> + Send;

    /// Takes the lease on a key: the right to compute its value. `None` if another caller has it.
    ///
    /// It ends when the entry is set or removed by anybody, when it is [released](Driver::release), or at
    /// `claim.until`. The token proves it: `claim.token`, which no other claim has, or one of the driver's own. No
    /// token of a key is used twice, so that a holder which lost its lease unnoticed is refused ([`When::Leased`]). A
    /// lease does not hide a stale entry.
    fn lease(&self, key: &[u8], claim: Claim, now: Time) -> impl Future<Output = Result<Option<Token>>> + Send;

    /// Releases the lease, if the token still holds it.
    fn release(&self, key: &[u8], token: Token, now: Time) -> impl Future<Output = Result<()>> + Send;

    /// Releases the lease of a dropped future: does not block; at worst the lease expires.
    ///
    /// The default polls [`release`](Driver::release) once, which is enough if that is ready at once. A driver that
    /// uses the network spawns a task.
    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        let _ = pin!(self.release(key, token, now)).poll(&mut Context::from_waker(Waker::noop()));
    }

    /// Passes the entries of several keys to `read`, each with its index in `keys`, in any order; misses are left out.
    fn get_many<F>(&self, keys: &[&[u8]], now: Time, mut read: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(usize, Entry<'_>) + Send,
    {
        async move {
            for (index, key) in keys.iter().enumerate() {
                self.get(key, now, |entry| read(index, entry)).await?;
            }
            Ok(())
        }
    }

    /// Stores several entries, each [`When::Always`]. After an error, some may be stored.
    fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> impl Future<Output = Result<()>> + Send {
        async move {
            for (key, record) in entries {
                self.set(key, record, When::Always, now).await?;
            }
            Ok(())
        }
    }

    /// Adds to a [counter](Flags::COUNTER) and returns the sum, which saturates. The counter gets the version of
    /// `fresh` or a higher one. Without a counter, stores `fresh` with `by` added to its number.
    ///
    /// The default reads and sets until no other write comes between.
    fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> impl Future<Output = Result<i64>> + Send {
        async move {
            for _ in 0..ATTEMPTS {
                let found = self.get(key, now, |entry| entry.to_record()).await?;
                let (next, sum, when) = count(found.as_ref(), by, fresh)?;
                if self.set(key, &next, when, now).await? {
                    return Ok(sum);
                }
            }
            Err(Error::contended(ATTEMPTS))
        }
    }

    /// Changes the expiry of an entry; its value and version stay. Whether there was a live one.
    ///
    /// The default reads and sets until no other write comes between.
    fn touch(
        &self,
        key: &[u8],
        fresh_until: Time,
        dead_at: Time,
        now: Time,
    ) -> impl Future<Output = Result<bool>> + Send {
        async move {
            for _ in 0..ATTEMPTS {
                let read = |entry: Entry<'_>| {
                    let header = Header { fresh_until, dead_at, ..entry.header() };
                    (entry.version(), entry.with_header(&header))
                };
                let Some((version, touched)) = self.get(key, now, read).await? else { return Ok(false) };
                if self.set(key, &touched, When::Version(version), now).await? {
                    return Ok(true);
                }
            }
            Err(Error::contended(ATTEMPTS))
        }
    }

    /// Calls `each` with the keys that begin with `prefix` and have a live entry.
    ///
    /// # Errors
    ///
    /// [`Error::is_unsupported`] if the driver cannot list its keys, as the default.
    fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(&[u8]) + Send,
    {
        let _ = (prefix, now, each);
        async { Err(Error::unsupported(self.name(), "list its keys")) }
    }

    /// Frees the space of all entries whose keys begin with `prefix`. They are already invalid, so this is not urgent.
    ///
    /// # Errors
    ///
    /// [`Error::is_unsupported`] if the driver cannot, as the default. Eviction frees the space then.
    fn clear(&self, prefix: &[u8], now: Time) -> impl Future<Output = Result<()>> + Send {
        let _ = (prefix, now);
        async { Err(Error::unsupported(self.name(), "find the entries of a namespace")) }
    }

    /// Coherence of tags: a number that changes after any [`Flags::EPOCH`] entry was written through this driver,
    /// though it need not after a write [`When::Absent`]. It also changes after a write that was refused or failed:
    /// another process may have written a higher epoch, or the backend may have carried the write out. [`EpochWrites`]
    /// counts them.
    ///
    /// All caches on this driver see an invalidation by any of them at once because of it. Every read checks it, so it
    /// must cost next to nothing: no lock, no I/O. Unless it is [complete](Stamp::Complete), the cache also reads
    /// epochs again after a while ([`Builder::invalidation_lag`](crate::Builder::invalidation_lag)).
    fn generation(&self) -> Stamp;

    /// Coherence of a near tier: a number that changes after this key was written or removed; other writes may change
    /// it too.
    ///
    /// A near tier stores it with its copy and compares, so it must cost much less than a `get`. Unless it is
    /// [complete](Stamp::Complete), the copy also expires after [`Tiered::bound`](crate::Tiered::bound).
    fn stamp(&self, key: &[u8]) -> Stamp {
        let _ = key;
        Stamp::Unknown
    }

    /// Calls `listener` with changes by others from now on, for a near tier. Whether the driver supports it.
    ///
    /// The listener may also get changes by this process. It does not block.
    fn watch(&self, listener: Listener) -> bool {
        let _ = listener;
        false
    }

    /// How much is stored and was evicted. Must be cheap, so it may be a little old.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}

/// A driver whose futures are ready at the first poll, so that [`Cache::blocking`](crate::Cache::blocking) needs no
/// runtime.
///
/// See [`ready`].
pub trait Ready: Driver {}

/// The longest key of a driver, in bytes (memcached's limit). `Cache` replaces longer keys by a digest.
pub const MAX_KEY: usize = 250;

/// How often a read-modify-write is tried before it fails because of other writers.
pub(crate) const ATTEMPTS: u32 = 100;

/// The condition under which an entry is stored. A dead entry counts as absent; only `Newer` looks at tombstones.
///
/// See [`Driver::set`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always: the last write wins.
    Always,
    /// If there is no live entry.
    Absent,
    /// If there is a live entry of exactly this version.
    Version(Version),
    /// Unless the stored entry or tombstone has the same version or a higher one.
    Newer,
    /// If the lease with this token still holds.
    Leased(Token),
}

/// Proof of a lease. See [`Driver::lease`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u64);

/// A request for a lease.
///
/// See [`Driver::lease`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// A unique number: from [`Clock::version`](crate::Clock::version).
    pub token: Token,
    /// When the lease expires.
    pub until: Time,
}

/// A number that changes with stored data, and how much it covers.
///
/// See [`Driver::generation`] and [`Driver::stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Every change changes it, by whichever process or machine.
    Complete(u64),
    /// Changes known in this process change it: those of this machine, or those of which the backend sent a
    /// notification.
    Partial(u64),
    /// The driver has no such number.
    Unknown,
}

/// Counts the epochs that are written through a driver, for its [`Driver::generation`], where the backend counts none.
///
/// ```
/// use skep_cache::driver::{EpochWrites, Flags, Header, Record, Stamp, When};
///
/// let writes = EpochWrites::default();
/// let epoch = Record::new(&Header { flags: Flags::EPOCH, ..Header::default() }, &[], &[]);
/// let write = writes.during(&epoch, When::Newer); // `Driver::set` begins with it
/// drop(write);
/// assert_eq!(writes.stamp(), Stamp::Partial(1));
/// ```
#[derive(Debug, Default)]
pub struct EpochWrites(AtomicU64);

impl EpochWrites {
    /// Counts a write when what it returns is dropped, if it is that of an epoch: whether it succeeds, fails or is
    /// given up.
    #[must_use = "the write is counted when this is dropped"]
    pub fn during(&self, record: &Record, when: When) -> EpochWrite<'_> {
        EpochWrite((when != When::Absent && record.entry().flags().has(Flags::EPOCH)).then_some(&self.0))
    }

    #[cfg(feature = "redis")]
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of writes so far.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp::Partial(self.0.load(Ordering::Acquire))
    }
}

/// A write that [`EpochWrites::during`] counts.
#[derive(Debug)]
pub struct EpochWrite<'a>(Option<&'a AtomicU64>);

impl Drop for EpochWrite<'_> {
    fn drop(&mut self) {
        self.0.map(|writes| writes.fetch_add(1, Ordering::AcqRel));
    }
}

impl Stamp {
    /// Whether every change changes it.
    #[must_use]
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Complete(_))
    }

    pub(crate) fn number(self) -> Option<u64> {
        match self {
            Self::Complete(number) | Self::Partial(number) => Some(number),
            Self::Unknown => None,
        }
    }
}

/// Receives changes by others. See [`Driver::watch`].
pub type Listener = Arc<dyn Fn(Change<'_>) + Send + Sync>;

/// A change by others.
///
/// See [`Driver::watch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// This key was written or removed.
    Key(&'a [u8]),
    /// Anything may have changed: the connection for notifications was lost for a while.
    Everything,
}

/// How much a driver stores; `None` is unknown.
///
/// See [`Driver::usage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Entries, including dead ones that still take space.
    pub entries: Option<u64>,
    /// Bytes of keys and entries.
    pub bytes: Option<u64>,
    /// Entries evicted since the start.
    pub evicted: Option<u64>,
}

/// The value of a future of a [`Ready`] driver.
///
/// # Panics
///
/// If it is not ready at the first poll.
///
/// See [`Driver`] for an example.
#[inline]
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future of a `Ready` driver was not ready"),
    }
}

/// The next entry of a counter, its number, and the condition for storing it.
pub(crate) fn count(found: Option<&Record>, by: i64, fresh: &Record) -> Result<(Record, i64, When)> {
    let base = found.unwrap_or(fresh).entry();
    let number = base.value().try_into().map_err(|_| Error::corrupt("a counter is 8 bytes"))?;
    let sum = i64::from_le_bytes(number).saturating_add(by);
    let (mut version, mut when) = (fresh.entry().version(), When::Absent);
    if found.is_some() {
        version = version.max(base.version().successor());
        when = When::Version(base.version());
    }
    let tags: Vec<_> = base.tags().collect();
    Ok((Record::new(&Header { version, ..base.header() }, &tags, &sum.to_le_bytes()), sum, when))
}

/// Whether `when` lets an entry of version `new` replace `old`. For drivers that decide in this process; they check
/// leases themselves.
pub fn may_replace(when: When, new: Version, old: Option<Entry<'_>>, now: Time) -> bool {
    let old = old.filter(|old| old.exists(now));
    match when {
        When::Always => true,
        When::Absent => !old.is_some_and(|old| old.is_live(now)),
        When::Version(version) => old.is_some_and(|old| old.is_live(now) && old.version() == version),
        When::Newer => old.is_none_or(|old| old.version() < new),
        When::Leased(_) => false,
    }
}

/// The tombstone of a removal that replaces `old`.
pub fn tombstone(removal: Removal, old: Option<Entry<'_>>) -> Record {
    let version = old.map_or(removal.version, |old| old.version().max(removal.version));
    Record::tombstone(Removal { version, ..removal })
}

dispatch! { [<D: Driver>] Arc<D> => { driver => driver.as_ref() } }

impl<D: Ready> Ready for Arc<D> {}

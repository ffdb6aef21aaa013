//! What every driver does: keep bytes under a key, and keep its word about which write may replace which.
//!
//! A driver knows neither types nor tags nor computations; [`Cache`](crate::Cache) does. It has no clock either: each call
//! says what time it is. Whether it keeps the promises below, [`suite`](mod@crate::suite) tells.
//!
//! Start reading at [`Driver`].

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::clock::{Time, Version};
use crate::error::{Error, Result};

pub use crate::block::block_on;
pub use crate::entry::{Entry, Flags, Header, Record, Removal};

/// Keeps entries under keys.
///
/// Keys are opaque bytes, at most [`MAX_KEY`]; namespaces are already in them. Entries are opaque but for their
/// [`Header`]. Futures are [`Send`]; a driver in this process makes them ready at once (and says so with [`Ready`]). A
/// driver never panics on what its backend sends: an entry that makes no sense is an error that [is
/// corrupt](Error::is_corrupt), once, and removed or overwritten by the next write.
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
    /// What it is called in logs and statistics: "memory".
    fn name(&self) -> &'static str;

    /// Shows the entry to `read`, if there is one that [is live](Entry::is_live) `now`, and gives back what that made of it.
    ///
    /// The entry is lent for the length of the call; `read` is called at most once, and may hold no lock of the driver
    /// that another call needs: it decodes, which takes a while.
    fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> impl Future<Output = Result<Option<R>>> + Send
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send;

    /// Stores an entry if `when` holds: checked and done in one step that no other write comes between. Whether it did.
    ///
    /// Any write that is stored ends the lease on its key. An entry that is dead `now` may be "stored" by storing nothing.
    /// Where the backend has an expiry of its own, it gets the time from `now` to the entry's end as a hint, never less.
    fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> impl Future<Output = Result<bool>> + Send;

    /// Removes the entry and ends the lease on its key. Whether there was a live one.
    ///
    /// A mark remains until `removal.until`, with the version of the removal or of what it removed, whichever is higher: it
    /// refuses what comes [`When::Newer`] with a version that is not higher. If `until` is `now`, no mark is needed.
    fn remove(&self, key: &[u8], removal: Removal, now: Time) -> impl Future<Output = Result<bool>> + Send;

    /// Takes the right to compute a value. `None`: somebody else has it.
    ///
    /// It ends when the entry is set or removed by anybody, when it is [released](Driver::release), or at `claim.until`.
    /// The token shows it again: `claim.token`, which no other claim has, or one of the driver's own. Tokens of one key are never the
    /// same twice, so that a holder who lost the lease without noticing is refused ([`When::Leased`]). A lease does not
    /// hide a stale entry under the same key.
    fn lease(&self, key: &[u8], claim: Claim, now: Time) -> impl Future<Output = Result<Option<Token>>> + Send;

    /// Gives the right back, if the token still has it; else does nothing.
    fn release(&self, key: &[u8], token: Token, now: Time) -> impl Future<Output = Result<()>> + Send;

    /// The same, from where nobody can wait: the holder was dropped. It does not block; at worst the lease ends with its time.
    ///
    /// As it stands here it asks [`release`](Driver::release) once, which is enough where that is ready at once. A driver
    /// that sends something elsewhere queues it.
    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        let _ = pin!(self.release(key, token, now)).poll(&mut Context::from_waker(Waker::noop()));
    }

    /// Shows the entries of several keys to `read`, with each one's place in `keys`, in any order; those that are missing are left out.
    fn get_many<F>(&self, keys: &[&[u8]], now: Time, mut read: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(usize, Entry<'_>) + Send,
    {
        async move {
            for (place, key) in keys.iter().enumerate() {
                self.get(key, now, |entry| read(place, entry)).await?;
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

    /// Adds to a [counter](Flags::COUNTER), which then has the version of `fresh` or a higher one, and gives back the sum.
    /// If there is none, `fresh` is stored, with `by` added to the number in it. A sum beyond `i64` stays at its end.
    ///
    /// As it stands here it reads and sets until no other write comes between; a driver that can do it in one step should.
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

    /// Gives an entry another end, and keeps its value and version. Whether there was a live one.
    ///
    /// As it stands here it reads and sets until no other write comes between; a driver that can do it in one step should.
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
    /// [`Error::is_unsupported`] if the driver cannot list its keys; so does what stands here.
    fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(&[u8]) + Send,
    {
        let _ = (prefix, now, each);
        async { Err(Error::unsupported(self.name(), "list its keys")) }
    }

    /// Frees the room of all entries whose keys begin with `prefix`. They are void already, so this is not in a hurry.
    ///
    /// # Errors
    ///
    /// [`Error::is_unsupported`] if the driver cannot; so does what stands here. Eviction frees the room then.
    fn clear(&self, prefix: &[u8], now: Time) -> impl Future<Output = Result<()>> + Send {
        let _ = (prefix, now);
        async { Err(Error::unsupported(self.name(), "find the entries of a namespace")) }
    }

    /// A number that is another one after any [`Flags::EPOCH`] entry was written, by whichever process or machine; it may stay
    /// for one written [`When::Absent`], as nobody can have known another.
    ///
    /// Who reads it with every hit sees an invalidated tag at once. It must cost next to nothing: no lock, no call to elsewhere. `None`: it
    /// cannot be known so cheaply; the epochs themselves are then read again after a while (`Options::lag`).
    fn generation(&self) -> Option<u64> {
        None
    }

    /// A number that is another one after this key was written or removed, by whichever process; others may change it too.
    ///
    /// A tier in front keeps it beside its copy and compares, so it must cost much less than a `get`. `None`: it cannot be known so cheaply.
    fn stamp(&self, key: &[u8]) -> Option<u64> {
        let _ = key;
        None
    }

    /// The same for changes that come to be known here at no cost, which are not all: those of this machine, or those that
    /// were told of. What stands in front compares it and reads again after a while all the same. `None`: none are.
    fn generation_here(&self) -> Option<u64> {
        None
    }

    /// [`stamp`](Driver::stamp) for changes that come to be known here at no cost, which are not all. A tier in front compares
    /// it, and its bound in time holds all the same. `None`: none are.
    fn stamp_here(&self, key: &[u8]) -> Option<u64> {
        let _ = key;
        None
    }

    /// From now on, calls `listener` with what others changed, for a tier in front. Whether the driver can.
    ///
    /// What this process itself changed may be told too. The listener does not block.
    fn watch(&self, listener: Listener) -> bool {
        let _ = listener;
        false
    }

    /// How much it keeps, and what it dropped for want of room. Cheap, so it may be a little old.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}

/// A driver whose futures are ready when they are first asked: sync programs can use it without a runtime.
///
/// See [`ready`] and `Cache::now`.
pub trait Ready: Driver {}

/// Longest key a driver gets, in bytes (memcached's limit). `Cache` replaces what is longer with a digest.
pub const MAX_KEY: usize = 250;

/// How often reading and setting is tried before a call gives up because others always come between.
const ATTEMPTS: u32 = 100;

/// Under which condition an entry is stored. Dead entries count as absent; marks of removals count for `Newer` only.
///
/// See [`Driver::set`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In any case: the last to arrive stays.
    Always,
    /// If there is no live entry.
    Absent,
    /// If there is a live entry of exactly this version.
    Version(Version),
    /// Unless the entry or the mark of a removal that is there has the same version or a higher one.
    Newer,
    /// If the lease with this token still holds.
    Leased(Token),
}

/// Proof of a lease. See [`Driver::lease`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u64);

/// Who wants a lease, and how long.
///
/// See [`Driver::lease`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// A number that nobody else draws: from [`Clock::version`](crate::Clock::version).
    pub token: Token,
    /// When the lease ends by itself.
    pub until: Time,
}

/// Hears what others changed. See [`Driver::watch`].
pub type Listener = Arc<dyn Fn(Change<'_>) + Send + Sync>;

/// What others changed.
///
/// See [`Driver::watch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// This key was written or removed.
    Key(&'a [u8]),
    /// Anything may have changed: the connection that tells was lost for a while.
    Everything,
}

/// How much a driver keeps; what it does not know is `None`.
///
/// See [`Driver::usage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Entries, with those that died and still take room.
    pub entries: Option<u64>,
    /// Bytes of keys and entries.
    pub bytes: Option<u64>,
    /// Entries dropped for want of room, since the start.
    pub evicted: Option<u64>,
}

/// The value of a future that is [`Ready`].
///
/// # Panics
///
/// If it is not ready, which such a driver promises.
///
/// See [`Driver`] for an example.
#[inline]
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a driver that is `Ready` kept its caller waiting"),
    }
}

/// The next entry of a counter, its number, and when it may be stored.
pub(crate) fn count(found: Option<&Record>, by: i64, fresh: &Record) -> Result<(Record, i64, When)> {
    let (base, when) = match found {
        Some(record) => (record.entry(), When::Version(record.entry().version())),
        None => (fresh.entry(), When::Absent),
    };
    let number = base.value().try_into().map_err(|_| Error::corrupt("a counter is 8 bytes"))?;
    let sum = i64::from_le_bytes(number).saturating_add(by);
    let version = match found {
        Some(record) => fresh.entry().version().max(record.entry().version().successor()),
        None => fresh.entry().version(),
    };
    let tags: Vec<_> = base.tags().collect();
    Ok((Record::new(&Header { version, ..base.header() }, &tags, &sum.to_le_bytes()), sum, when))
}

/// Whether `when` lets an entry of version `new` replace `old`, which exists. For drivers that decide in this process;
/// what a lease allows they know themselves.
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

/// The mark that a removal leaves where `old` was.
pub fn tombstone(removal: Removal, old: Option<Entry<'_>>) -> Record {
    let version = old.map_or(removal.version, |old| old.version().max(removal.version));
    Record::tombstone(Removal { version, ..removal })
}

impl<D: Driver> Driver for Arc<D> {
    fn name(&self) -> &'static str {
        self.as_ref().name()
    }

    fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> impl Future<Output = Result<Option<R>>> + Send
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        self.as_ref().get(key, now, read)
    }

    fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> impl Future<Output = Result<bool>> + Send {
        self.as_ref().set(key, record, when, now)
    }

    fn remove(&self, key: &[u8], removal: Removal, now: Time) -> impl Future<Output = Result<bool>> + Send {
        self.as_ref().remove(key, removal, now)
    }

    fn lease(&self, key: &[u8], claim: Claim, now: Time) -> impl Future<Output = Result<Option<Token>>> + Send {
        self.as_ref().lease(key, claim, now)
    }

    fn release(&self, key: &[u8], token: Token, now: Time) -> impl Future<Output = Result<()>> + Send {
        self.as_ref().release(key, token, now)
    }

    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        self.as_ref().abandon(key, token, now);
    }

    fn get_many<F>(&self, keys: &[&[u8]], now: Time, read: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(usize, Entry<'_>) + Send,
    {
        self.as_ref().get_many(keys, now, read)
    }

    fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> impl Future<Output = Result<()>> + Send {
        self.as_ref().set_many(entries, now)
    }

    fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> impl Future<Output = Result<i64>> + Send {
        self.as_ref().increment(key, by, fresh, now)
    }

    fn touch(&self, key: &[u8], fresh: Time, dead: Time, now: Time) -> impl Future<Output = Result<bool>> + Send {
        self.as_ref().touch(key, fresh, dead, now)
    }

    fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(&[u8]) + Send,
    {
        self.as_ref().keys(prefix, now, each)
    }

    fn clear(&self, prefix: &[u8], now: Time) -> impl Future<Output = Result<()>> + Send {
        self.as_ref().clear(prefix, now)
    }

    fn generation(&self) -> Option<u64> {
        self.as_ref().generation()
    }

    fn stamp(&self, key: &[u8]) -> Option<u64> {
        self.as_ref().stamp(key)
    }

    fn generation_here(&self) -> Option<u64> {
        self.as_ref().generation_here()
    }

    fn stamp_here(&self, key: &[u8]) -> Option<u64> {
        self.as_ref().stamp_here(key)
    }

    fn watch(&self, listener: Listener) -> bool {
        self.as_ref().watch(listener)
    }

    fn usage(&self) -> Usage {
        self.as_ref().usage()
    }
}

impl<D: Ready> Ready for Arc<D> {}

//! Entries in memcached, on one server or many.
//!
//! A client of our own, because none speaks the meta protocol on a connection that many tasks share. What one key holds is
//! read, decided upon here, and written back only if nobody wrote in between (memcached's CAS); so a lease, the mark of a
//! removal and a counter are entries like others, and every memcached since 1.6 will do. Plain reads and writes take one
//! round trip.
//!
//! Start reading at [`Memcached`]. How bytes move, the module `connection` decides.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::clock::Time;
use crate::driver::{Claim, Driver, Entry, Record, Removal, Token, When};
use crate::error::{Error, Result};
use crate::slot::{Act, Change, Outcome, Stored, show};

mod address;
mod connection;
mod failure;
mod options;
mod protocol;
mod ring;
mod server;

pub use options::{Builder, Failover};

use connection::Connection;
use failure::Failure;
use protocol::{Code, Get, If, Key, Reply};
use ring::Ring;
use server::Server;

/// How often reading and writing back is tried before a call gives up because others always come between.
const ATTEMPTS: u32 = 100;

/// What a server that is told a time to live is told more, in seconds: our header decides, and clocks differ.
const SLACK: u64 = 2;

/// Entries in memcached (1.6 or later), on one server or many.
///
/// Needs a tokio runtime with io and time; connections belong to the runtime that first needs them. Nothing is
/// connected before it is needed, and a server that is away is an error that [is
/// unreachable](Error::is_unreachable), never a hang.
///
/// ```
/// use skep_cache::Memcached;
///
/// let driver = Memcached::builder().server("cache1:11211", 1).server("/run/memcached.sock", 2).build()?;
/// # let _ = driver;
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone)]
pub struct Memcached {
    inner: Arc<Inner>,
}

struct Inner {
    servers: Vec<Server>,
    ring: Ring,
    failover: Failover,
    value_limit: usize,
}

impl std::fmt::Debug for Memcached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.inner.servers.iter().map(|server| &server.name)).finish()
    }
}

impl Memcached {
    /// To be told of servers.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The servers that are left out at the moment, because they could not be reached; for a status page.
    ///
    /// See [`Memcached`] for an example.
    pub fn left_out(&self) -> Vec<String> {
        self.inner.servers.iter().filter(|server| server.is_left_out()).map(|server| server.name.to_string()).collect()
    }
}

impl Inner {
    /// The place of the server that a key belongs to, and a connection to it or to who stands in for it.
    async fn connection(&self, key: &[u8]) -> Result<(usize, Arc<Connection>), Failure> {
        let mut tried = Vec::new();
        let mut first = None;
        for place in self.ring.order(key) {
            if tried.contains(&place) {
                continue;
            }
            match self.servers[place].connection().await {
                Ok(connection) => return Ok((place, connection)),
                Err(failure) => {
                    first.get_or_insert(failure);
                }
            }
            tried.push(place);
            if self.failover == Failover::Miss || tried.len() == self.servers.len() {
                break;
            }
        }
        Err(first.expect("a ring has a server"))
    }

    /// One request that may be sent twice: a connection may end just when it is used.
    async fn ask(&self, key: &[u8], request: impl Fn(&mut Vec<u8>) + Send) -> Result<Reply, Failure> {
        let (place, connection) = self.connection(key).await?;
        let reply = match connection.call(&request)?.await {
            Err(failure) if failure.is_end() => {
                let (_, connection) = self.connection(key).await?;
                connection.call(&request)?.await?
            }
            other => other?,
        };
        match reply.code {
            Code::Error(said) => Err(self.servers[place].refused(&said)),
            _ => Ok(reply),
        }
    }

    /// Reads, decides, and writes back if nobody came between.
    async fn act(&self, key: &[u8], act: Act, now: Time) -> Result<Outcome> {
        let name = name(key)?;
        let wire = Key::new(&name)?;
        // What mostly meets nothing tries that first: one round trip instead of two.
        if matches!(act, Act::Set(_, When::Absent | When::Newer) | Act::Lease(_))
            && let (Change::Put(stored), outcome) = act.apply(&[], now)?
            && self.store(wire, key, &stored, If::Absent, now).await?
        {
            return Ok(outcome);
        }
        for _ in 0..ATTEMPTS {
            let what = Get { value: true, cas: true, ..Get::default() };
            let found = self.ask(key, |out| protocol::get(wire, what, out)).await?;
            let (change, outcome) = act.apply(&found.value, now)?;
            let when = found.cas.map_or(If::Absent, If::Cas);
            let done = match change {
                Change::Keep => true,
                Change::Drop if found.code == Code::En => true,
                Change::Drop => {
                    let reply = self.ask(key, |out| protocol::delete(wire, found.cas, out)).await?;
                    reply.code == Code::Hd
                }
                Change::Put(stored) => self.store(wire, key, &stored, when, now).await?,
            };
            if done {
                return Ok(outcome);
            }
        }
        Err(Error::contended(ATTEMPTS))
    }

    /// Whether it was stored.
    async fn store(&self, wire: Key<'_>, key: &[u8], stored: &Stored, when: If, now: Time) -> Result<bool> {
        self.fits(stored.parts().iter().map(|part| part.len()).sum())?;
        let (_, connection) = self.connection(key).await?;
        let reply = connection
            .call(|out| protocol::set(wire, stored.parts(), seconds(stored.ends, now), when, None, out))?
            .await?;
        match reply.code {
            Code::Hd => Ok(true),
            Code::Ns | Code::Ex | Code::Nf => Ok(false),
            Code::Error(said) => Err(self.unstored(&said, stored.entry.len())),
            other => Err(Failure::surprise(&other).into()),
        }
    }

    fn fits(&self, bytes: usize) -> Result<()> {
        if bytes > self.value_limit { Err(Error::too_large(bytes, self.value_limit)) } else { Ok(()) }
    }

    fn unstored(&self, said: &str, bytes: usize) -> Error {
        if said.contains("too large") {
            let error = Error::too_large(bytes, self.value_limit.min(bytes.saturating_sub(1)));
            return error.because(format!("memcached says: {said} (its option -I)"));
        }
        self.servers[0].refused(said).into()
    }

    /// The places of `keys`, by the connection that leads to their server; and why some have none.
    async fn split<'k>(&self, keys: impl Iterator<Item = &'k [u8]> + Send) -> (Vec<Share>, Option<Failure>) {
        let (mut shares, mut failure) = (Vec::<Share>::new(), None);
        for (place, key) in keys.enumerate() {
            match self.connection(key).await {
                Ok((server, connection)) => match shares.iter_mut().find(|share| share.server == server) {
                    Some(share) => share.places.push(place),
                    None => shares.push(Share { server, connection, places: vec![place] }),
                },
                Err(missed) => {
                    failure.get_or_insert(missed);
                }
            }
        }
        (shares, failure)
    }
}

/// What one server gets of a batch.
struct Share {
    server: usize,
    connection: Arc<Connection>,
    places: Vec<usize>,
}

/// The key as memcached gets it: as it is, or a digest if it would be too long on the way.
fn name(key: &[u8]) -> Result<Cow<'_, [u8]>> {
    match Key::new(key) {
        Ok(_) => Ok(Cow::Borrowed(key)),
        Err(Failure::KeyTooLong { .. }) => {
            let mut name = String::from("sha256:");
            for byte in Sha256::digest(key) {
                let _ = write!(name, "{byte:02x}");
            }
            Ok(Cow::Owned(name.into_bytes()))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// The time to live that the server is told; 0 is for ever.
fn seconds(ends: Time, now: Time) -> u64 {
    if ends == Time::NEVER { 0 } else { ends.since(now).as_secs() + SLACK }
}

impl Driver for Memcached {
    fn name(&self) -> &'static str {
        "memcached"
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let name = name(key)?;
        let wire = Key::new(&name)?;
        let what = Get { value: true, ..Get::default() };
        let reply = self.inner.ask(key, |out| protocol::get(wire, what, out)).await?;
        if reply.code == Code::En {
            return Ok(None);
        }
        let shown = show(&Bytes::from(reply.value), now, read);
        if shown.is_err() {
            // Gone with the next read; should removing fail, the next write overwrites it.
            let _ = self.inner.act(key, Act::Remove(Removal { version: crate::Version::ZERO, until: now }), now).await;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let dead = !record.entry().exists(now);
        if when != When::Always || dead {
            return Ok(self.inner.act(key, Act::Set(record.clone(), when), now).await?.done());
        }
        let name = name(key)?;
        let wire = Key::new(&name)?;
        if let Err(error) = self.inner.fits(record.bytes().len()) {
            // What it should have replaced is old now; memcached does the same with what it finds too large.
            self.inner.ask(key, |out| protocol::delete(wire, None, out)).await?;
            return Err(error);
        }
        self.inner.store(wire, key, &Stored::plain(record), If::Always, now).await
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        Ok(self.inner.act(key, Act::Remove(removal), now).await?.done())
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        Ok(self.inner.act(key, Act::Lease(claim), now).await?.lease())
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.inner.act(key, Act::Release(token), now).await.map(drop)
    }

    /// Released by a task of its own, if there is a runtime; else the lease ends with its time.
    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        let (inner, key) = (Arc::clone(&self.inner), key.to_vec());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { inner.act(&key, Act::Release(token), now).await });
        }
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        Ok(self.inner.act(key, Act::Increment(by, fresh.clone()), now).await?.sum())
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        Ok(self.inner.act(key, Act::Touch { fresh_until, dead_at }, now).await?.done())
    }

    /// One round trip to each server, all at the same time. What a server in reach has is shown also if another fails.
    async fn get_many<F>(&self, keys: &[&[u8]], now: Time, mut read: F) -> Result<()>
    where
        F: FnMut(usize, Entry<'_>) + Send,
    {
        let names = keys.iter().map(|key| name(key)).collect::<Result<Vec<_>>>()?;
        let (shares, mut failure) = self.inner.split(keys.iter().copied()).await;
        let mut asked = Vec::with_capacity(shares.len());
        for share in &shares {
            asked.push(share.connection.batch(|out| {
                for place in &share.places {
                    // Measured when the names were made.
                    let Ok(wire) = Key::new(&names[*place]) else { continue };
                    protocol::get(wire, Get { value: true, opaque: Some(*place as u64), ..Get::default() }, out);
                }
                protocol::fence(out);
            })?);
        }
        for answers in asked {
            match answers.await {
                Ok(replies) => {
                    for reply in replies.into_iter().filter(|reply| reply.code == Code::Va) {
                        let place = reply.opaque.and_then(|opaque| usize::try_from(opaque).ok());
                        let Some(place) = place.filter(|place| *place < keys.len()) else {
                            return Err(Failure::surprise(&reply.code).into());
                        };
                        // A damaged one is a miss here, and an error to who asks for it alone.
                        let _ = show(&Bytes::from(reply.value), now, |entry| read(place, entry));
                    }
                }
                Err(missed) => {
                    failure.get_or_insert(missed);
                }
            }
        }
        failure.map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// One round trip to each server, all at the same time.
    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        let names = entries.iter().map(|(key, _)| name(key)).collect::<Result<Vec<_>>>()?;
        for (_, record) in entries {
            self.inner.fits(record.bytes().len())?;
        }
        let (shares, mut failure) = self.inner.split(entries.iter().map(|(key, _)| *key)).await;
        let mut asked = Vec::with_capacity(shares.len());
        for share in &shares {
            asked.push(share.connection.batch(|out| {
                for place in &share.places {
                    let Ok(wire) = Key::new(&names[*place]) else { continue };
                    let stored = Stored::plain(&entries[*place].1);
                    // What is dead already must replace what is there, and lives as short as can be said.
                    protocol::set(
                        wire,
                        stored.parts(),
                        seconds(stored.ends, now),
                        If::Always,
                        Some(*place as u64),
                        out,
                    );
                }
                protocol::fence(out);
            })?);
        }
        let mut refused = None;
        for answers in asked {
            match answers.await {
                Ok(replies) => {
                    let said = replies.into_iter().find_map(|reply| match reply.code {
                        Code::Error(said) => Some(said),
                        _ => None,
                    });
                    refused = refused.or(said);
                }
                Err(missed) => {
                    failure.get_or_insert(missed);
                }
            }
        }
        match (failure, refused) {
            (Some(failure), _) => Err(failure.into()),
            (None, Some(said)) => Err(self.inner.unstored(&said, 0)),
            (None, None) => Ok(()),
        }
    }
}

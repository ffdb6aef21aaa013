//! Entries in memcached, on one server or many.
//!
//! The client is our own, since many tasks share a connection: docs/decisions/2026-11-22-memcached-client.md has the
//! figures.
//!
//! Conditional writes read the bytes of a key, decide here, and write back if nobody wrote in between (memcached's
//! CAS). So a lease, a tombstone and a counter are plain entries, and memcached 1.6 is enough. Plain reads and writes
//! take one round trip.
//!
//! Start reading at [`Memcached`]. The module `connection` moves the bytes.

use std::sync::Arc;

use bytes::Bytes;

use crate::clock::{Time, Version};
use crate::driver::{ATTEMPTS, Driver, Entry, EpochWrites, Record, Removal, Stamp, Token, When};
use crate::error::{Error, Result};
use crate::slot::{Change, Operation, Outcome, Stored, operations, show};

mod address;
mod connection;
mod options;
mod protocol;
mod ring;
mod server;

pub use options::{Builder, Failover};

use connection::{Connection, Failure};
use protocol::{Code, If, Reply, WireKey};
use ring::Ring;
use server::Server;

/// Added to the time to live, in seconds: the entry's header decides, and clocks differ.
const SLACK: u64 = 2;

/// Entries in memcached (1.6 or later), on one server or many.
///
/// Needs a tokio runtime with I/O and time; a connection belongs to the runtime that first needs it, and is opened
/// then. An unreachable server is an error that [is unreachable](Error::is_unreachable), never a hang.
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
    max_value: usize,
    epochs: EpochWrites,
}

impl std::fmt::Debug for Memcached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.inner.servers.iter().map(|server| &server.name)).finish()
    }
}

impl Memcached {
    /// Starts with no servers.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The servers that could not be reached lately, for a status page.
    ///
    /// See [`Memcached`] for an example.
    pub fn unreachable_servers(&self) -> Vec<String> {
        let unreachable = self.inner.servers.iter().filter(|server| server.connections.is_unreachable());
        unreachable.map(|server| server.name.to_string()).collect()
    }
}

impl Inner {
    /// A connection to the server of a key, or to the one that replaces it, and the number of that server.
    async fn connection(&self, key: &[u8]) -> Result<(usize, Arc<Connection>)> {
        let mut tried = Vec::new();
        let mut first = None;
        for number in self.ring.order(key) {
            if tried.contains(&number) {
                continue;
            }
            match self.servers[number].connection().await {
                Ok(connection) => return Ok((number, connection)),
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
            tried.push(number);
            if self.failover == Failover::Miss || tried.len() == self.servers.len() {
                break;
            }
        }
        Err(first.expect("a ring has a server"))
    }

    /// Sends a request that may be repeated, once, if the connection ends just when it is used.
    async fn request(&self, key: &[u8], request: impl Fn(&mut Vec<u8>) + Send) -> Result<Reply> {
        let (server, connection) = self.connection(key).await?;
        let reply = match connection.call(&request)?.wait().await {
            Err(Failure::Closed(_)) => self.connection(key).await?.1.call(&request)?.wait().await?,
            other => other?,
        };
        match reply.code {
            Code::Error(text) => Err(self.refused(server, &text)),
            _ => Ok(reply),
        }
    }

    fn refused(&self, server: usize, text: &str) -> Error {
        Failure::failed(format!("memcached at {} says: {text}", self.servers[server].name)).into()
    }

    /// Reads, decides, and writes back if nobody wrote in between.
    async fn apply(&self, key: &[u8], operation: Operation, now: Time) -> Result<Outcome> {
        let wire = &WireKey::new(key);
        // Most of these find no entry: assume so first, which saves a round trip.
        if matches!(operation, Operation::Set(_, When::Absent | When::Newer) | Operation::Lease(_))
            && let (Change::Put(stored), outcome) = operation.apply(&[], now)?
            && self.store(wire, key, &stored, If::Absent, now).await?
        {
            return Ok(outcome);
        }
        for _ in 0..ATTEMPTS {
            let found = self.request(key, |out| protocol::get(wire, true, None, out)).await?;
            let (change, outcome) = operation.apply(&found.value, now)?;
            let when = found.cas.map_or(If::Absent, If::Cas);
            let done = match change {
                Change::Keep => true,
                Change::Drop if found.code == Code::En => true,
                Change::Drop => {
                    let reply = self.request(key, |out| protocol::delete(wire, found.cas, out)).await?;
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

    async fn store(&self, wire: &WireKey<'_>, key: &[u8], stored: &Stored, when: If, now: Time) -> Result<bool> {
        self.check_size(stored.parts().iter().map(|part| part.len()).sum())?;
        let (server, connection) = self.connection(key).await?;
        let ttl = seconds(stored.ends, now);
        let answer = connection.call(|out| protocol::set(wire, stored.parts(), ttl, when, None, out))?;
        match answer.wait().await?.code {
            Code::Hd => Ok(true),
            Code::Ns | Code::Ex | Code::Nf => Ok(false),
            Code::Error(text) => Err(self.not_stored(server, &text, stored.entry.len())),
            other => Err(unexpected(&other)),
        }
    }

    fn check_size(&self, bytes: usize) -> Result<()> {
        if bytes > self.max_value { Err(Error::too_large(bytes, self.max_value)) } else { Ok(()) }
    }

    fn not_stored(&self, server: usize, text: &str, bytes: usize) -> Error {
        if text.contains("too large") {
            let error = Error::too_large(bytes, self.max_value.min(bytes.saturating_sub(1)));
            return error.because(format!("memcached says: {text} (its option -I)"));
        }
        self.refused(server, text)
    }

    /// Sends a batch of requests, one for each key, to all their servers at the same time. `append` gets the index of a
    /// key. Gives the replies with the number of their server, and the first error: a server that fails leaves out its
    /// replies.
    async fn batch<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]> + Send,
        append: impl Fn(usize, &mut Vec<u8>) + Send,
    ) -> (Vec<(usize, Reply)>, Option<Error>) {
        let (mut shares, mut error) = (Vec::<(usize, Arc<Connection>, Vec<usize>)>::new(), None);
        for (index, key) in keys.enumerate() {
            match self.connection(key).await {
                Ok((server, connection)) => match shares.iter_mut().find(|(number, ..)| *number == server) {
                    Some((.., indices)) => indices.push(index),
                    None => shares.push((server, connection, vec![index])),
                },
                Err(failed) => error = error.or(Some(failed)),
            }
        }
        let send = |(server, connection, indices): &(usize, Arc<Connection>, Vec<usize>)| {
            let answer = connection.batch(|out| {
                for index in indices {
                    append(*index, out);
                }
                protocol::fence(out);
            });
            (*server, answer)
        };
        let answers: Vec<_> = shares.iter().map(send).collect();
        let mut replies = Vec::new();
        for (server, answer) in answers {
            let received = match answer {
                Ok(answer) => answer.wait().await,
                Err(failure) => Err(failure),
            };
            match received {
                Ok(received) => replies.extend(received.into_iter().map(|reply| (server, reply))),
                Err(failure) => error = error.or(Some(failure.into())),
            }
        }
        (replies, error)
    }
}

fn unexpected(code: &Code) -> Error {
    Failure::failed(format!("memcached sent an unexpected reply: {code:?}")).into()
}

/// The time to live for the server; 0 never expires.
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
        let wire = WireKey::new(key);
        let reply = self.inner.request(key, |out| protocol::get(&wire, false, None, out)).await?;
        if reply.code == Code::En {
            return Ok(None);
        }
        let shown = show(&Bytes::from(reply.value), now, read);
        if shown.is_err() {
            // If removing fails, the next write overwrites it.
            let removal = Removal { version: Version::ZERO, until: now };
            let _ = self.inner.apply(key, Operation::Remove(removal), now).await;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.inner.epochs.during(record, when);
        let dead = !record.entry().exists(now);
        if when != When::Always || dead {
            return Ok(self.inner.apply(key, Operation::Set(record.clone(), when), now).await?.done());
        }
        let wire = &WireKey::new(key);
        if let Err(error) = self.inner.check_size(record.bytes().len()) {
            // The old value is outdated. memcached does the same with a value that it finds too large.
            self.inner.request(key, |out| protocol::delete(wire, None, out)).await?;
            return Err(error);
        }
        self.inner.store(wire, key, &Stored::plain(record), If::Always, now).await
    }

    operations!(inner.apply await);

    fn generation(&self) -> Stamp {
        self.inner.epochs.stamp()
    }

    /// Released by a spawned task, if there is a runtime; otherwise the lease expires.
    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        let (inner, key) = (Arc::clone(&self.inner), key.to_vec());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { inner.apply(&key, Operation::Release(token), now).await });
        }
    }

    /// One round trip to each server, all at the same time. Entries of reachable servers are read even if another one
    /// fails.
    async fn get_many<F: FnMut(usize, Entry<'_>) + Send>(&self, keys: &[&[u8]], now: Time, mut read: F) -> Result<()> {
        let wire: Vec<_> = keys.iter().map(|key| WireKey::new(key)).collect();
        let get = |index: usize, out: &mut Vec<u8>| protocol::get(&wire[index], false, Some(index as u64), out);
        let (replies, error) = self.inner.batch(keys.iter().copied(), get).await;
        for (_, reply) in replies.into_iter().filter(|(_, reply)| reply.code == Code::Va) {
            let index =
                reply.opaque.and_then(|opaque| usize::try_from(opaque).ok()).filter(|index| *index < keys.len());
            let index = index.ok_or_else(|| unexpected(&reply.code))?;
            // A damaged entry is a miss here; `get` reports it.
            let _ = show(&Bytes::from(reply.value), now, |entry| read(index, entry));
        }
        error.map_or(Ok(()), Err)
    }

    /// One round trip to each server, all at the same time.
    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        let wire: Vec<_> = entries.iter().map(|(key, _)| WireKey::new(key)).collect();
        for (_, record) in entries {
            self.inner.check_size(record.bytes().len())?;
        }
        let set = |index: usize, out: &mut Vec<u8>| {
            // A dead entry must replace the old one too; its time to live is the shortest possible.
            let stored = Stored::plain(&entries[index].1);
            let ttl = seconds(stored.ends, now);
            protocol::set(&wire[index], stored.parts(), ttl, If::Always, Some(index as u64), out);
        };
        let (replies, error) = self.inner.batch(entries.iter().map(|(key, _)| *key), set).await;
        let refused = replies.into_iter().find_map(|(server, reply)| match reply.code {
            Code::Error(text) => Some(self.inner.not_stored(server, &text, 0)),
            _ => None,
        });
        error.or(refused).map_or(Ok(()), Err)
    }
}

//! Options of the memcached driver.

use std::sync::Arc;
use std::time::Duration;

use super::address::Address;
use super::ring::Ring;
use super::server::Server;
use super::{Inner, Memcached};
use crate::connections::Limits;
use crate::driver::EpochWrites;
use crate::error::{Error, Result};
use crate::setters::setters;

/// What happens to the keys of an unreachable server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failover {
    /// They are misses until it is reachable again. No entry is ever on two servers.
    #[default]
    Miss,
    /// The next server on the ring stores them. Later the first server still has its old entries, so a read may return
    /// one that was replaced meanwhile: choose it for entries with a short TTL.
    Move,
}

/// Options of the memcached driver. See [`Memcached`] for an example.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    servers: Vec<(String, u32)>,
    failover: Failover,
    max_value: usize,
    limits: Limits,
}

impl Default for Builder {
    fn default() -> Self {
        let limits = Limits {
            timeout: Duration::from_millis(500),
            connect_timeout: Duration::from_millis(250),
            connections: 1,
            backoff: (Duration::from_secs(1), Duration::from_secs(30)),
        };
        Self { servers: Vec::new(), failover: Failover::Miss, max_value: (1 << 20) - 1024, limits }
    }
}

impl Builder {
    /// Adds a server with its weight (1 to 100), the relative number of keys it stores. The address is `host`,
    /// `host:port` (default 11211), or the path of a unix socket, absolute or after `unix:`.
    ///
    /// All processes that share the servers must use the same names, in any order: the names decide which key goes
    /// where.
    pub fn server(mut self, address: impl Into<String>, weight: u32) -> Self {
        self.servers.push((address.into(), weight));
        self
    }

    setters! {
        /// Timeout of a request: 1 ms to 1 h. Default: 500 ms.
        pub fn timeout(timeout: Duration) => limits.timeout = timeout;

        /// Timeout for connecting, and then for the first reply: 1 ms to 1 h each. Default: 250 ms.
        pub fn connect_timeout(timeout: Duration) => limits.connect_timeout = timeout;

        /// Connections to each server from each runtime: 1 to 64. Default: 1, which serves thousands of tasks; with
        /// more, small values do not wait behind large ones.
        pub fn connections(connections: usize) => limits.connections = connections;

        /// Largest entry in bytes, with its header of 48 bytes or more: 1 KiB to 1 GiB. Default: 1 047 552. The
        /// servers' option `-I` must allow 1 KiB more.
        pub fn max_value(bytes: usize) => max_value = bytes;

        /// Pauses after a failed attempt to connect: the first and the longest, 1 ms to 1 h each. Each failure doubles
        /// the pause. Default: 1 s and 30 s.
        pub fn backoff(first: Duration, longest: Duration) => limits.backoff = (first, longest);

        /// What happens to the keys of an unreachable server. Default: [`Failover::Miss`].
        pub fn failover(failover: Failover) => failover = failover;
    }

    /// Builds the driver. Opens no connection yet.
    ///
    /// # Errors
    ///
    /// If an address or an option is invalid; the text says what is expected.
    pub fn build(self) -> Result<Memcached> {
        let wrong = |text: String| Error::misused("invalid options of memcached").because(text);
        let Self { servers: described, failover, max_value, limits } = self;
        limits.check().map_err(wrong)?;
        if !(1024..=1 << 30).contains(&max_value) {
            return Err(wrong(format!("max_value is {max_value} bytes: expected 1024 to {}", 1 << 30)));
        }
        if described.is_empty() {
            return Err(wrong("no server: add one with `server`".to_owned()));
        }
        let mut servers: Vec<Server> = Vec::new();
        for (text, weight) in &described {
            let address: Address = text.parse().map_err(wrong)?;
            if !(1..=100).contains(weight) {
                return Err(wrong(format!("the weight of {text} is {weight}: expected 1 to 100")));
            }
            if servers.iter().any(|server| server.address == address) {
                return Err(wrong(format!("duplicate server {text}: give it a larger weight instead")));
            }
            servers.push(Server::new(address, *weight, limits.clone(), max_value));
        }
        let ring = Ring::new(servers.iter().map(|server| (&*server.name, server.weight)));
        Ok(Memcached { inner: Arc::new(Inner { servers, ring, failover, max_value, epochs: EpochWrites::default() }) })
    }
}

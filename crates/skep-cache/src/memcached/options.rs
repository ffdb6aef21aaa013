//! Options of the memcached driver.

use std::sync::Arc;
use std::time::Duration;

use super::address::Address;
use super::ring::Ring;
use super::server::{Options, Server};
use super::{Inner, Memcached};
use crate::error::{Error, Result};

/// What happens to the keys of an unreachable server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failover {
    /// They are misses until it is reachable again. No entry is ever on two servers.
    #[default]
    Miss,
    /// The next server on the ring stores them. Later the first server still has its old entries, so a read may return one
    /// that was replaced meanwhile: choose it for entries with a short TTL.
    Move,
}

/// Options of the memcached driver. See [`Memcached`] for an example.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    servers: Vec<(String, u32)>,
    failover: Failover,
    options: Options,
}

impl Default for Builder {
    fn default() -> Self {
        let options = Options {
            connections: 1,
            connect_timeout: Duration::from_millis(250),
            timeout: Duration::from_millis(500),
            max_value: (1 << 20) - 1024,
            backoff: (Duration::from_secs(1), Duration::from_secs(30)),
        };
        Self { servers: Vec::new(), failover: Failover::Miss, options }
    }
}

impl Builder {
    /// Adds a server with its weight (1 to 100), the relative number of keys it stores. The address is `host`, `host:port`
    /// (default 11211), or the path of a unix socket, absolute or after `unix:`.
    ///
    /// All processes that share the servers must use the same names, in any order: the names decide which key goes where.
    pub fn server(mut self, address: impl Into<String>, weight: u32) -> Self {
        self.servers.push((address.into(), weight));
        self
    }

    /// Timeout of a request: 1 ms to 1 h. Default: 500 ms.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Timeout for connecting, and then for the first reply: 1 ms to 1 h each. Default: 250 ms.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout;
        self
    }

    /// Connections to each server from each runtime: 1 to 64. Default: 1, which serves thousands of tasks; with more, small
    /// values do not wait behind large ones.
    pub fn connections(mut self, connections: usize) -> Self {
        self.options.connections = connections;
        self
    }

    /// Largest entry in bytes, with its header of 48 bytes or more: 1 KiB to 1 GiB. Default: 1 047 552. The servers' option `-I`
    /// must allow 1 KiB more.
    pub fn max_value(mut self, bytes: usize) -> Self {
        self.options.max_value = bytes;
        self
    }

    /// Pauses after a failed attempt to connect: the first and the longest, 1 ms to 1 h each. Each failure doubles the pause.
    /// Default: 1 s and 30 s.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.options.backoff = (first, longest);
        self
    }

    /// What happens to the keys of an unreachable server. Default: [`Failover::Miss`].
    pub fn failover(mut self, failover: Failover) -> Self {
        self.failover = failover;
        self
    }

    /// Builds the driver. Opens no connection yet.
    ///
    /// # Errors
    ///
    /// If an address or an option is invalid; the text says what is expected.
    pub fn build(self) -> Result<Memcached> {
        let wrong = |text: String| Error::misused("invalid options of memcached").because(text);
        let Options { connections, connect_timeout, timeout, max_value, backoff } = self.options;
        for (name, time) in
            [("timeout", timeout), ("connect_timeout", connect_timeout), ("backoff", backoff.0), ("backoff", backoff.1)]
        {
            if !(Duration::from_millis(1)..=Duration::from_hours(1)).contains(&time) {
                return Err(wrong(format!("{name} is {time:?}: expected 1 ms to 1 h")));
            }
        }
        if !(1..=64).contains(&connections) {
            return Err(wrong(format!("connections is {connections}: expected 1 to 64")));
        }
        if !(1024..=1 << 30).contains(&max_value) {
            return Err(wrong(format!("max_value is {max_value} bytes: expected 1024 to {}", 1 << 30)));
        }
        if self.servers.is_empty() {
            return Err(wrong("no server: add one with `server`".to_owned()));
        }
        let mut servers: Vec<Server> = Vec::new();
        for (text, weight) in &self.servers {
            let address: Address = text.parse().map_err(wrong)?;
            if !(1..=100).contains(weight) {
                return Err(wrong(format!("the weight of {text} is {weight}: expected 1 to 100")));
            }
            if servers.iter().any(|server| server.address == address) {
                return Err(wrong(format!("duplicate server {text}: give it a larger weight instead")));
            }
            servers.push(Server::new(address, *weight, self.options.clone()));
        }
        let ring = Ring::new(servers.iter().map(|server| (&*server.name, server.weight)));
        Ok(Memcached { inner: Arc::new(Inner { servers, ring, failover: self.failover, max_value }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(builder: Builder) -> String {
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn invalid_options_are_named() {
        let one = || Memcached::builder().server("cache1", 1);
        assert!(one().build().is_ok());
        assert!(refused(Memcached::builder()).contains("add one with `server`"));
        assert!(refused(one().server("cache1:11211", 2)).contains("duplicate server cache1:11211"));
        assert!(refused(one().server("cache2", 0)).contains("weight of cache2 is 0"));
        assert!(refused(one().server("http://x", 1)).contains("expected \"cache1:11211\""));
        assert!(refused(one().timeout(Duration::ZERO)).contains("timeout is 0ns"));
        assert!(refused(one().connections(0)).contains("connections is 0"));
        assert!(refused(one().max_value(1)).contains("max_value is 1 bytes"));
    }
}

//! What can be said about memcached before it is used.

use std::sync::Arc;
use std::time::Duration;

use super::address::Address;
use super::ring::Ring;
use super::server::{Policy, Server};
use super::{Inner, Memcached};
use crate::error::{Error, Result};

/// What becomes of the keys of a server that is away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failover {
    /// They are misses until it is back. No entry is ever on two servers.
    #[default]
    Miss,
    /// The next server on the ring stands in. Hits go on; but when the server is back, it still has what it had when it
    /// left, so an entry may be as old as it lives: choose it where entries live shortly.
    Move,
}

/// What can be said about memcached before it is used. See [`Memcached`] for an example.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    servers: Vec<(String, u32)>,
    failover: Failover,
    policy: Policy,
}

impl Default for Builder {
    fn default() -> Self {
        let policy = Policy {
            connections: 1,
            connect_timeout: Duration::from_millis(250),
            timeout: Duration::from_millis(500),
            value_limit: (1 << 20) - 1024,
            left_out: (Duration::from_secs(1), Duration::from_secs(30)),
        };
        Self { servers: Vec::new(), failover: Failover::Miss, policy }
    }
}

impl Builder {
    /// A server, and its weight (1 to 100): how many keys it gets, compared with others. The address is `host`,
    /// `host:port` (11211, if nobody says otherwise), or the path of a unix socket, with `unix:` before it or absolute.
    ///
    /// All processes that share the servers name them alike, in any order: the names decide which key goes where.
    pub fn server(mut self, address: impl Into<String>, weight: u32) -> Self {
        self.servers.push((address.into(), weight));
        self
    }

    /// How long an answer may take (500 ms, if nobody says otherwise; 1 ms to 1 h). What takes longer is an error.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.policy.timeout = timeout;
        self
    }

    /// How long connecting may take, and then the first answer (250 ms each; 1 ms to 1 h).
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.policy.connect_timeout = timeout;
        self
    }

    /// Connections to each server from each runtime (1; 1 to 64). One serves thousands of tasks; more keep small values
    /// from waiting behind large ones.
    pub fn connections(mut self, connections: usize) -> Self {
        self.policy.connections = connections;
        self
    }

    /// Largest entry in bytes, with its header of 48 bytes or more (1 047 552; 1 024 to 1 GiB): what the servers' option `-I` allows, less 1 024.
    pub fn value_limit(mut self, bytes: usize) -> Self {
        self.policy.value_limit = bytes;
        self
    }

    /// How long a server that cannot be reached is left out: after the first failure, and at most (1 s and 30 s; each
    /// failure doubles it; 1 ms to 1 h).
    pub fn left_out(mut self, first: Duration, most: Duration) -> Self {
        self.policy.left_out = (first, most);
        self
    }

    /// What becomes of the keys of a server that is away ([`Failover::Miss`]).
    pub fn failover(mut self, failover: Failover) -> Self {
        self.failover = failover;
        self
    }

    /// The driver. Connects to nobody yet.
    ///
    /// # Errors
    ///
    /// If an address or a number is not one; the text says which and what would be.
    pub fn build(self) -> Result<Memcached> {
        let wrong = |text: String| Error::misused("the options of memcached are wrong").because(text);
        let Policy { connections, connect_timeout, timeout, value_limit, left_out } = self.policy;
        for (name, time) in [
            ("timeout", timeout),
            ("connect_timeout", connect_timeout),
            ("left_out", left_out.0),
            ("left_out", left_out.1),
        ] {
            if !(Duration::from_millis(1)..=Duration::from_hours(1)).contains(&time) {
                return Err(wrong(format!("{name} is {time:?}, and 1 ms to 1 h is possible")));
            }
        }
        if !(1..=64).contains(&connections) {
            return Err(wrong(format!("{connections} connections are asked for, and 1 to 64 are possible")));
        }
        if !(1024..=1 << 30).contains(&value_limit) {
            return Err(wrong(format!("value_limit is {value_limit} bytes, and 1024 to {} are possible", 1 << 30)));
        }
        if self.servers.is_empty() {
            return Err(wrong("there is no server; name one with `server`".to_owned()));
        }
        let mut servers: Vec<Server> = Vec::new();
        for (text, weight) in &self.servers {
            let address: Address = text.parse().map_err(wrong)?;
            if !(1..=100).contains(weight) {
                return Err(wrong(format!("the weight of {text} is {weight}, and 1 to 100 are possible")));
            }
            if servers.iter().any(|server| server.address == address) {
                return Err(wrong(format!("{text} is named twice; give it a larger weight instead")));
            }
            servers.push(Server::new(address, *weight, self.policy.clone()));
        }
        let ring = Ring::new(servers.iter().map(|server| (&*server.name, server.weight)));
        Ok(Memcached { inner: Arc::new(Inner { servers, ring, failover: self.failover, value_limit }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(builder: Builder) -> String {
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn wrong_options_are_named() {
        let one = || Memcached::builder().server("cache1", 1);
        assert!(one().build().is_ok());
        assert!(refused(Memcached::builder()).contains("name one with `server`"));
        assert!(refused(one().server("cache1:11211", 2)).contains("named twice"));
        assert!(refused(one().server("cache2", 0)).contains("weight of cache2 is 0"));
        assert!(refused(one().server("http://x", 1)).contains("right would be \"cache1:11211\""));
        assert!(refused(one().timeout(Duration::ZERO)).contains("timeout is 0ns"));
        assert!(refused(one().connections(0)).contains("0 connections"));
        assert!(refused(one().value_limit(1)).contains("value_limit is 1 bytes"));
    }
}

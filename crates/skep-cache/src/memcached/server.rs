//! One server of memcached.

use std::sync::Arc;
use std::time::Duration;

use super::address::Address;
use super::connection::{Connection, Settings};
use super::failure::Failure;
use super::protocol::{self, Code};
use crate::reach::{self, Link, Missed, Reach};

/// How a server is used.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) connections: usize,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) value_limit: usize,
    /// How long it is left out after the first failure, and at most.
    pub(super) left_out: (Duration, Duration),
}

/// One server.
pub(super) struct Server {
    pub(super) address: Address,
    pub(super) weight: u32,
    pub(super) name: Arc<str>,
    policy: Policy,
    reach: Reach<Connection>,
}

impl Link for Connection {
    fn is_ended(&self) -> bool {
        self.has_ended()
    }
}

impl Server {
    pub(super) fn new(address: Address, weight: u32, policy: Policy) -> Self {
        let way = reach::Policy {
            connections: policy.connections,
            attempt: 2 * policy.connect_timeout,
            left_out: policy.left_out,
        };
        let reach = Reach::new(format!("memcached at {address}"), way);
        Self { name: address.to_string().into(), address, weight, policy, reach }
    }

    /// Whether it is left out at the moment.
    pub(super) fn is_left_out(&self) -> bool {
        self.reach.is_left_out()
    }

    /// What it said, as an error.
    pub(super) fn refused(&self, said: &str) -> Failure {
        Failure::Refused { server: Arc::clone(&self.name), said: said.into() }
    }

    /// A connection that works, as far as we know.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, Failure> {
        self.reach.link(self.connect()).await.map_err(|missed| match missed {
            Missed::NoRuntime => Failure::NoRuntime,
            Missed::LeftOut => Failure::LeftOut { server: Arc::clone(&self.name) },
            Missed::Failed(failure) => failure,
        })
    }

    /// Connects, and finds out whether who answers is a memcached that understands us.
    async fn connect(&self) -> Result<Connection, Failure> {
        let unreachable = |why: String| Failure::Unreachable { server: Arc::clone(&self.name), why: why.into() };
        let limit = self.policy.connect_timeout;
        let (reader, writer) = match tokio::time::timeout(limit, self.address.connect()).await {
            Ok(Ok(halves)) => halves,
            Ok(Err(error)) => return Err(unreachable(error.to_string())),
            Err(_) => return Err(unreachable(format!("no connection within {limit:?}"))),
        };
        let Policy { timeout, value_limit, .. } = self.policy;
        let connection =
            Connection::new(reader, writer, Settings { server: Arc::clone(&self.name), timeout, value_limit });
        match tokio::time::timeout(limit, connection.call(protocol::version)?).await {
            Ok(Ok(reply)) => match reply.code {
                Code::Version(version) if speaks_meta(&version) => Ok(connection),
                Code::Version(version) => {
                    Err(unreachable(format!("it is memcached {version}, and the meta protocol came with 1.6")))
                }
                Code::Error(said) => Err(unreachable(format!("it says: {said}"))),
                other => Err(unreachable(format!("asked for its version, it answered {other:?}"))),
            },
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(unreachable(format!("no answer within {limit:?}"))),
        }
    }
}

fn speaks_meta(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    let major = numbers.next();
    let minor = numbers.next();
    (major, minor) >= (Some(1), Some(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meta_protocol_came_with_1_6() {
        assert!(speaks_meta("1.6.18") && speaks_meta("2.0.1"));
        assert!(!speaks_meta("1.5.22") && !speaks_meta("unknown"));
    }
}

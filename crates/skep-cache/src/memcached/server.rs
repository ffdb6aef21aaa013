//! One server of memcached.

use std::sync::Arc;

use super::address::Address;
use super::connection::{Connection, Failure};
use super::protocol::{self, Code};
use crate::connections::{ConnectError, Connections, Limits};
use crate::error::{Error, Result};

pub(super) struct Server {
    pub(super) address: Address,
    pub(super) weight: u32,
    pub(super) name: Arc<str>,
    limits: Limits,
    max_value: usize,
    pub(super) connections: Connections<Connection>,
}

impl Server {
    pub(super) fn new(address: Address, weight: u32, limits: Limits, max_value: usize) -> Self {
        let connections = Connections::new(format!("memcached at {address}"), &limits);
        Self { name: address.to_string().into(), address, weight, limits, max_value, connections }
    }

    pub(super) async fn connection(&self) -> Result<Arc<Connection>> {
        self.connections.get(self.connect()).await.map_err(|error| match error {
            ConnectError::NoRuntime => {
                Error::misused("the memcached driver needs a tokio runtime with I/O and time enabled")
            }
            ConnectError::BreakerOpen => {
                Failure::failed(format!("memcached at {} was unreachable a moment ago: not tried again yet", self.name))
                    .into()
            }
            ConnectError::Failed(failure) => failure.into(),
        })
    }

    /// Connects, and checks that the server is a memcached with the meta protocol.
    async fn connect(&self) -> Result<Connection, Failure> {
        let unreachable = |why: String| Failure::failed(format!("memcached at {} is unreachable: {why}", self.name));
        let limit = self.limits.connect_timeout;
        let (reader, writer) = match tokio::time::timeout(limit, self.address.connect()).await {
            Ok(Ok(halves)) => halves,
            Ok(Err(error)) => return Err(unreachable(error.to_string())),
            Err(_) => return Err(unreachable(format!("no connection within {limit:?}"))),
        };
        let name = Arc::clone(&self.name);
        let connection = Connection::new(reader, writer, name, self.limits.timeout, self.max_value);
        match tokio::time::timeout(limit, connection.call(protocol::version)?.wait()).await {
            Ok(Ok(reply)) => match reply.code {
                Code::Version(version) if speaks_meta(&version) => Ok(connection),
                Code::Version(version) => {
                    Err(unreachable(format!("version {version} lacks the meta protocol, which came with 1.6")))
                }
                Code::Error(text) => Err(unreachable(format!("it says: {text}"))),
                other => Err(unreachable(format!("unexpected reply {other:?} to `version`"))),
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

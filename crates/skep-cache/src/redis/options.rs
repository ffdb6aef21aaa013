//! What can be said about Redis before it is used.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::redis::{AsyncConnectionConfig, Client, IntoConnectionInfo, RedisError, Script};

use super::{Connection, Inner, Redis};
use crate::error::{Error, Result};
use crate::reach::{Policy, Reach};

/// Where entries are.
pub(super) enum Servers {
    One(Box<Client>),
    #[cfg(feature = "redis-cluster")]
    Cluster(Box<::redis::cluster::ClusterClient>),
}

impl Servers {
    pub(super) async fn connect(&self, connect: Duration, answer: Duration) -> Result<Connection, RedisError> {
        let config =
            || AsyncConnectionConfig::new().set_connection_timeout(Some(connect)).set_response_timeout(Some(answer));
        match self {
            Self::One(client) => {
                Ok(Connection::One(client.get_multiplexed_async_connection_with_config(&config()).await?))
            }
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(client) => Ok(Connection::Cluster(client.get_async_connection().await?)),
        }
    }

    pub(super) fn is_cluster(&self) -> bool {
        !matches!(self, Self::One(_))
    }
}

/// What can be said about Redis before it is used. See [`Redis`] for an example.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    urls: Vec<String>,
    cluster: bool,
    timeout: Duration,
    connect_timeout: Duration,
    connections: usize,
    left_out: (Duration, Duration),
}

impl Builder {
    pub(super) fn new(urls: Vec<String>, cluster: bool) -> Self {
        Self {
            urls,
            cluster,
            timeout: Duration::from_millis(500),
            connect_timeout: Duration::from_millis(500),
            connections: 1,
            left_out: (Duration::from_secs(1), Duration::from_secs(30)),
        }
    }

    /// How long an answer may take (500 ms, if nobody says otherwise; 1 ms to 1 h). What takes longer is an error.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long connecting may take, with the first words (500 ms; 1 ms to 1 h).
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Connections from each runtime (1; 1 to 64). One serves thousands of tasks; more keep small values from waiting
    /// behind large ones.
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// How long a server that cannot be reached is left out: after the first failure, and at most (1 s and 30 s; each
    /// failure doubles it; 1 ms to 1 h).
    pub fn left_out(mut self, first: Duration, most: Duration) -> Self {
        self.left_out = (first, most);
        self
    }

    /// The driver. Connects to nobody yet.
    ///
    /// # Errors
    ///
    /// If an address or a number is not one; the text says which and what would be.
    pub fn build(self) -> Result<Redis> {
        let wrong = |text: String| Error::misused("the options of redis are wrong").because(text);
        for (name, time) in [
            ("timeout", self.timeout),
            ("connect_timeout", self.connect_timeout),
            ("left_out", self.left_out.0),
            ("left_out", self.left_out.1),
        ] {
            if !(Duration::from_millis(1)..=Duration::from_hours(1)).contains(&time) {
                return Err(wrong(format!("{name} is {time:?}, and 1 ms to 1 h is possible")));
            }
        }
        if !(1..=64).contains(&self.connections) {
            return Err(wrong(format!("{} connections are asked for, and 1 to 64 are possible", self.connections)));
        }
        #[cfg(feature = "redis-tls")]
        choose_cryptography(&self.urls);
        let mut names = Vec::new();
        let mut infos = Vec::new();
        for url in &self.urls {
            let info = url.as_str().into_connection_info().map_err(|error| {
                // The URL may hold a password; only what stands before it is shown.
                let scheme = url.split_once("://").map_or("no scheme", |(scheme, _)| scheme);
                wrong(format!(
                    "a URL ({scheme}) is not usable: {error}; right would be \"redis://cache1:6379\", \
                     \"unix:///run/redis.sock\" or, with the feature redis-tls, \"rediss://cache1:6379\""
                ))
            })?;
            names.push(info.addr().to_string());
            infos.push(info);
        }
        let name = names.join(", ");
        let servers = self.servers(infos).map_err(|error| wrong(format!("{name}: {error}")))?;
        let policy = Policy { connections: self.connections, attempt: self.connect_timeout, left_out: self.left_out };
        Ok(Redis {
            inner: Arc::new(Inner {
                servers,
                reach: Reach::new(format!("Redis at {name}"), policy),
                name,
                timeout: self.timeout,
                connect_timeout: self.connect_timeout,
                script: Script::new(include_str!("act.lua")),
                heard: AtomicU64::new(0),
                waiting: Mutex::default(),
                waits: AtomicBool::new(false),
            }),
        })
    }

    fn servers(&self, mut infos: Vec<::redis::ConnectionInfo>) -> Result<Servers, RedisError> {
        #[cfg(feature = "redis-cluster")]
        if self.cluster {
            let builder = ::redis::cluster::ClusterClient::builder(infos);
            let builder = builder.connection_timeout(self.connect_timeout).response_timeout(self.timeout);
            // A node that is away is our caller's to hear of soon; the map of the cluster is read anew meanwhile.
            let builder = builder.retries(2).overall_response_timeout(Some(self.timeout));
            return Ok(Servers::Cluster(Box::new(builder.build()?)));
        }
        debug_assert!(!self.cluster, "only made with the feature");
        Ok(Servers::One(Box::new(Client::open(infos.remove(0))?)))
    }
}

/// TLS asks the process which cryptography to use, and panics if nobody has said so and several are built in. Who has chosen
/// keeps what was chosen.
#[cfg(feature = "redis-tls")]
fn choose_cryptography(urls: &[String]) {
    if urls.iter().any(|url| url.starts_with("rediss:")) && rustls::crypto::CryptoProvider::get_default().is_none() {
        // Refused only if somebody chose meanwhile, which will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_are_named_and_passwords_are_not() {
        let error = Redis::builder("redis:/user:secret@host").build().unwrap_err().to_string();
        assert!(error.contains("right would be \"redis://cache1:6379\"") && !error.contains("secret"), "{error}");
        let error = Redis::builder("redis://a").connections(0).build().unwrap_err().to_string();
        assert!(error.contains("0 connections are asked for"), "{error}");
        let error = Redis::builder("redis://a").timeout(Duration::ZERO).build().unwrap_err().to_string();
        assert!(error.contains("timeout is 0ns"), "{error}");
        let driver = Redis::builder("redis://user:secret@cache1:7").build().unwrap();
        assert_eq!(format!("{driver:?}"), "Redis(\"cache1:7\")");
    }
}

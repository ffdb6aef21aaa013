//! Options of the Redis driver.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::redis::{AsyncConnectionConfig, Client, IntoConnectionInfo, RedisError, Script};

use super::{Connection, Inner, Redis};
use crate::connections::{Connections, Limits};
use crate::driver::EpochWrites;
use crate::error::{Error, Result};
use crate::setters::setters;

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

/// Options of the Redis driver. See [`Redis`] for an example.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    urls: Vec<String>,
    cluster: bool,
    limits: Limits,
}

impl Builder {
    pub(super) fn new(urls: Vec<String>, cluster: bool) -> Self {
        let limits = Limits {
            timeout: Duration::from_millis(500),
            connect_timeout: Duration::from_millis(500),
            connections: 1,
            backoff: (Duration::from_secs(1), Duration::from_secs(30)),
        };
        Self { urls, cluster, limits }
    }

    setters! {
        /// Timeout of a request: 1 ms to 1 h. Default: 500 ms.
        pub fn timeout(timeout: Duration) => limits.timeout = timeout;

        /// Timeout for connecting, with the handshake: 1 ms to 1 h. Default: 500 ms.
        pub fn connect_timeout(timeout: Duration) => limits.connect_timeout = timeout;

        /// Connections from each runtime: 1 to 64. Default: 1, which serves thousands of tasks; with more, small values
        /// do not wait behind large ones.
        pub fn connections(connections: usize) => limits.connections = connections;

        /// Pauses after a failed attempt to connect: the first and the longest, 1 ms to 1 h each. Each failure doubles
        /// the pause. Default: 1 s and 30 s.
        pub fn backoff(first: Duration, longest: Duration) => limits.backoff = (first, longest);
    }

    /// Builds the driver. Opens no connection yet.
    ///
    /// # Errors
    ///
    /// If an address or an option is invalid; the text says what is expected.
    pub fn build(self) -> Result<Redis> {
        let wrong = |text: String| Error::misused("invalid options of Redis").because(text);
        self.limits.check().map_err(wrong)?;
        #[cfg(feature = "redis-tls")]
        install_crypto_provider(&self.urls);
        let mut names = Vec::new();
        let mut infos = Vec::new();
        for url in &self.urls {
            let info = url.as_str().into_connection_info().map_err(|error| {
                // The URL may contain a password: only the scheme is shown.
                let scheme = url.split_once("://").map_or("no scheme", |(scheme, _)| scheme);
                wrong(format!(
                    "invalid URL ({scheme}): {error}; expected \"redis://cache1:6379\", \
                     \"unix:///run/redis.sock\" or, with the feature redis-tls, \"rediss://cache1:6379\""
                ))
            })?;
            check(url, &info).map_err(wrong)?;
            names.push(info.addr().to_string());
            infos.push(info);
        }
        let name = names.join(", ");
        let servers = self.servers(infos).map_err(|error| wrong(format!("{name}: {error}")))?;
        Ok(Redis {
            inner: Arc::new(Inner {
                servers,
                connections: Connections::new(format!("Redis at {name}"), &self.limits),
                name,
                limits: self.limits,
                script: Script::new(include_str!("operation.lua")),
                epochs: EpochWrites::default(),
                waiting: Mutex::default(),
                has_waiting: AtomicBool::new(false),
            }),
        })
    }

    fn servers(&self, mut infos: Vec<::redis::ConnectionInfo>) -> Result<Servers, RedisError> {
        #[cfg(feature = "redis-cluster")]
        if self.cluster {
            let builder = ::redis::cluster::ClusterClient::builder(infos);
            let builder = builder.connection_timeout(self.limits.connect_timeout).response_timeout(self.limits.timeout);
            // Callers learn of an unreachable node soon; the client reads the slot map again meanwhile.
            let builder = builder.retries(2).overall_response_timeout(Some(self.limits.timeout));
            return Ok(Servers::Cluster(Box::new(builder.build()?)));
        }
        debug_assert!(!self.cluster, "only made with the feature");
        Ok(Servers::One(Box::new(Client::open(infos.remove(0))?)))
    }
}

/// Refuses what the client would ignore, or find out only when it connects.
fn check(url: &str, info: &::redis::ConnectionInfo) -> Result<(), String> {
    let (known, port) = match info.addr() {
        ::redis::ConnectionAddr::Unix(_) => (&["db", "pass", "protocol", "user"][..], None),
        ::redis::ConnectionAddr::Tcp(_, port) | ::redis::ConnectionAddr::TcpTls { port, .. } => {
            (&["protocol"][..], Some(port))
        }
        _ => (&["protocol"][..], None),
    };
    if port == Some(&0) {
        return Err("invalid port 0: expected 1 to 65535".to_owned());
    }
    if info.redis_settings().db() < 0 {
        return Err(format!("invalid database {}: expected a number from 0", info.redis_settings().db()));
    }
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    let names = parameters.split('&').filter(|parameter| !parameter.is_empty());
    match names.map(|parameter| parameter.split('=').next().unwrap_or_default()).find(|name| !known.contains(name)) {
        Some(unknown) => Err(format!("unknown parameter `{unknown}` of the URL: expected one of {}", known.join(", "))),
        None => Ok(()),
    }
}

/// Installs a cryptography provider for TLS if the program has not: rustls panics if several are built in and none is
/// installed.
#[cfg(feature = "redis-tls")]
fn install_crypto_provider(urls: &[String]) {
    if urls.iter().any(|url| url.starts_with("rediss:")) && rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails only if another thread installed one meanwhile.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

//! Entries in Redis or Valkey: one server, or a cluster.
//!
//! Plain reads and writes are `GET` and `SET`; all else is one script (`redis/operation.lua`), so every call is one
//! round trip. This suits a cluster: each call uses one key, which also holds the lease.
//!
//! Start reading at [`Redis`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ::redis::aio::{ConnectionLike, MultiplexedConnection};
use ::redis::{Cmd, FromRedisValue, Pipeline, RedisError, RedisFuture, Script, Value};
use bytes::Bytes;

use crate::clock::{Time, Version};
use crate::connections::{ConnectError, Connections, Limits, Pooled};
use crate::driver::{Claim, Driver, Entry, EpochWrites, Listener, Record, Removal, Stamp, Token, When};
use crate::error::{Error, Result};
use crate::slot::{lease_bytes, show};

mod options;
mod watch;

pub use options::Builder;

use options::Servers;

/// Added to the time to live, in milliseconds: the entry's header decides, and clocks differ.
const SLACK: u64 = 2_000;

/// Entries in Redis (6.2 or later) or Valkey: one server, or a cluster (feature `redis-cluster`).
///
/// Needs a tokio runtime with I/O and time. A connection is opened when it is first needed, belongs to that runtime,
/// and is shared by many tasks. An unreachable server is an error that [is unreachable](Error::is_unreachable), never a
/// hang.
///
/// ```
/// use skep_cache::Redis;
///
/// let driver = Redis::builder("unix:///run/redis.sock").build()?;
/// # let _ = driver;
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone)]
pub struct Redis {
    inner: Arc<Inner>,
}

struct Inner {
    servers: Servers,
    /// For errors; without the password.
    name: String,
    limits: Limits,
    connections: Connections<SharedConnection>,
    script: Script,
    /// Those of this process, and those of which the server sent a notification.
    epochs: EpochWrites,
    /// Listeners that wait for a runtime.
    waiting: Mutex<Vec<Listener>>,
    has_waiting: AtomicBool,
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Redis").field(&self.inner.name).finish()
    }
}

/// A connection that many tasks share.
struct SharedConnection {
    connection: Connection,
    closed: AtomicBool,
}

#[derive(Clone)]
enum Connection {
    One(MultiplexedConnection),
    #[cfg(feature = "redis-cluster")]
    Cluster(::redis::cluster_async::ClusterConnection),
}

impl Pooled for SharedConnection {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(connection) => connection.req_packed_command(cmd),
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(connection) => connection.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(connection) => connection.req_packed_commands(pipeline, offset, count),
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(connection) => connection.get_db(),
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}

impl Redis {
    /// One server: `redis://[user:password@]host[:6379][/database]`, `unix:///path`, or `rediss://...`
    /// for TLS (feature `redis-tls`).
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder::new(vec![url.into()], false)
    }

    /// A cluster, by some of its nodes, which lead to the others.
    ///
    /// ```
    /// use skep_cache::Redis;
    ///
    /// let driver = Redis::cluster(["redis://node1:6379", "redis://node2:6379"]).build()?;
    /// # let _ = driver;
    /// # Ok::<(), skep_cache::Error>(())
    /// ```
    #[cfg(feature = "redis-cluster")]
    pub fn cluster<T: Into<String>>(nodes: impl IntoIterator<Item = T>) -> Builder {
        Builder::new(nodes.into_iter().map(Into::into).collect(), true)
    }

    /// Whether the server could not be reached lately, for a status page.
    ///
    /// See [`Redis`] for an example.
    pub fn is_unreachable(&self) -> bool {
        self.inner.connections.is_unreachable()
    }
}

impl Inner {
    async fn connection(self: &Arc<Self>) -> Result<Arc<SharedConnection>> {
        if self.has_waiting.load(Ordering::Relaxed) {
            watch::start(self);
        }
        self.connections.get(self.connect()).await.map_err(|error| match error {
            ConnectError::NoRuntime => {
                Error::misused("the redis driver needs a tokio runtime with I/O and time enabled")
            }
            ConnectError::BreakerOpen => self.unreachable("it was unreachable a moment ago: not tried again yet"),
            ConnectError::Failed(text) => self.unreachable(&text),
        })
    }

    async fn connect(&self) -> Result<SharedConnection, String> {
        let limit = self.limits.connect_timeout;
        let connecting = self.servers.connect(limit, self.limits.timeout);
        match tokio::time::timeout(limit, connecting).await {
            Ok(Ok(connection)) => Ok(SharedConnection { connection, closed: AtomicBool::new(false) }),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no connection within {limit:?}")),
        }
    }

    fn unreachable(&self, why: &str) -> Error {
        Error::unreachable("asking Redis").because(format!("Redis at {}: {why}", self.name))
    }

    /// Waits for a reply; an I/O error or a timeout closes the connection.
    async fn wait_for<T>(
        &self,
        link: &SharedConnection,
        answer: impl Future<Output = Result<T, RedisError>> + Send,
    ) -> Result<T> {
        let answer = match answer.await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if answer.is_timeout() {
            // Late replies would pile up; a new connection shows whether the server is reachable.
            link.closed.store(true, Ordering::Relaxed);
            return Err(self.unreachable(&format!("no answer within {:?}", self.limits.timeout)));
        }
        if answer.is_unrecoverable_error() || answer.is_connection_dropped() || answer.is_io_error() {
            link.closed.store(true, Ordering::Relaxed);
        }
        Err(self.unreachable(&answer.to_string()))
    }

    async fn query<T: FromRedisValue>(self: &Arc<Self>, cmd: &Cmd) -> Result<T> {
        let link = self.connection().await?;
        let mut connection = link.connection.clone();
        self.wait_for(&link, cmd.query_async(&mut connection)).await
    }

    async fn run_script<T: FromRedisValue + Send + Sync>(
        self: &Arc<Self>,
        key: &[u8],
        operation: &str,
        now: Time,
        more: &[&[u8]],
    ) -> Result<T> {
        let link = self.connection().await?;
        let mut connection = link.connection.clone();
        let mut invocation = self.script.key(key);
        invocation.arg(operation).arg(now.millis());
        for argument in more {
            invocation.arg(*argument);
        }
        self.wait_for(&link, invocation.invoke_async(&mut connection)).await
    }

    async fn release(self: &Arc<Self>, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.run_script::<i64>(key, "release", now, &[&token.0.to_le_bytes()]).await.map(drop)
    }
}

/// `SET` with the expiry as a hint.
fn set(key: &[u8], record: &Record, now: Time) -> Cmd {
    let mut cmd = Cmd::new();
    let ends = record.entry().dead_at();
    if ends <= now {
        cmd.arg("DEL").arg(key);
        return cmd;
    }
    cmd.arg("SET").arg(key).arg(&record.bytes()[..]);
    if ends != Time::NEVER {
        let left = u64::try_from(ends.since(now).as_millis()).unwrap_or(u64::MAX);
        // Redis accepts no later expiry.
        if left < 1 << 46 {
            cmd.arg("PX").arg(left + SLACK);
        }
    }
    cmd
}

impl Driver for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let mut cmd = Cmd::new();
        cmd.arg("GET").arg(key);
        let found: Option<Vec<u8>> = self.inner.query(&cmd).await?;
        let Some(bytes) = found else { return Ok(None) };
        let shown = show(&Bytes::from(bytes), now, read);
        if shown.is_err() {
            // If removing fails, the next write overwrites it.
            let mark = Record::tombstone(Removal { version: Version::ZERO, until: now });
            let _ = self.inner.run_script::<i64>(key, "remove", now, &[mark.bytes()]).await;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.inner.epochs.during(record, when);
        let number = |number: u64| number.to_le_bytes();
        let (word, what) = match when {
            When::Always => return self.inner.query::<Value>(&set(key, record, now)).await.map(|_| true),
            When::Absent => ("absent", [0; 8]),
            When::Newer => ("newer", [0; 8]),
            When::Version(version) => ("version", number(version.to_u64())),
            When::Leased(token) => ("leased", number(token.0)),
        };
        let stored: i64 = self.inner.run_script(key, "set", now, &[word.as_bytes(), &what, record.bytes()]).await?;
        Ok(stored == 1)
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        let mark = Record::tombstone(removal);
        Ok(self.inner.run_script::<i64>(key, "remove", now, &[mark.bytes()]).await? == 1)
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        let given: i64 = self.inner.run_script(key, "lease", now, &[&lease_bytes(claim)]).await?;
        Ok((given == 1).then_some(claim.token))
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.inner.release(key, token, now).await
    }

    /// Released by a spawned task, if there is a runtime; otherwise the lease expires.
    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        let (inner, key) = (Arc::clone(&self.inner), key.to_vec());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { inner.release(&key, token, now).await });
        }
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        let step = Version::ZERO.successor().to_u64().to_string();
        let arguments: [&[u8]; 3] = [&by.to_le_bytes(), fresh.bytes(), step.as_bytes()];
        let sum: Vec<u8> = self.inner.run_script(key, "increment", now, &arguments).await?;
        let sum = sum.try_into().map_err(|_| Error::corrupt("a counter is 8 bytes"))?;
        Ok(i64::from_le_bytes(sum))
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        let mut ends = [0; 16];
        ends[..8].copy_from_slice(&fresh_until.millis().to_le_bytes());
        ends[8..].copy_from_slice(&dead_at.millis().to_le_bytes());
        Ok(self.inner.run_script::<i64>(key, "touch", now, &[&ends]).await? == 1)
    }

    /// One round trip; in a cluster one to each node that has some.
    async fn get_many<F: FnMut(usize, Entry<'_>) + Send>(&self, keys: &[&[u8]], now: Time, mut read: F) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let mut cmd = Cmd::new();
        cmd.arg("MGET").arg(keys);
        let found: Vec<Option<Vec<u8>>> = self.inner.query(&cmd).await?;
        for (index, bytes) in found.into_iter().enumerate() {
            if let Some(bytes) = bytes {
                // A damaged entry is a miss here; `get` reports it.
                let _ = show(&Bytes::from(bytes), now, |entry| read(index, entry));
            }
        }
        Ok(())
    }

    /// One round trip; in a cluster one for each key, all at the same time.
    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let link = self.inner.connection().await?;
        let mut connection = link.connection.clone();
        if self.inner.servers.is_cluster() {
            let mut tasks = tokio::task::JoinSet::new();
            for (key, record) in entries {
                let (cmd, mut connection) = (set(key, record, now), connection.clone());
                tasks.spawn(async move { cmd.query_async::<Value>(&mut connection).await });
            }
            while let Some(done) = tasks.join_next().await {
                let done = done.map_err(|error| self.inner.unreachable(&error.to_string()))?;
                self.inner.wait_for(&link, async { done }).await?;
            }
            return Ok(());
        }
        let mut pipeline = Pipeline::with_capacity(entries.len());
        for (key, record) in entries {
            pipeline.add_command(set(key, record, now)).ignore();
        }
        self.inner.wait_for(&link, pipeline.query_async::<()>(&mut connection)).await
    }

    /// On one server: notifications from the server (`CLIENT TRACKING`) about every key. Unsupported in a cluster.
    ///
    /// The listening task runs on the runtime of the caller, or of the first call that has one.
    fn watch(&self, listener: Listener) -> bool {
        watch::register(&self.inner, listener)
    }

    /// Also counts the notifications about epochs, once somebody [watches](Driver::watch).
    fn generation(&self) -> Stamp {
        self.inner.epochs.stamp()
    }
}

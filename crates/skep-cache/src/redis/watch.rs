//! Hearing what others changed, for a tier in front.
//!
//! The server tells by itself: `CLIENT TRACKING ON BCAST` on a connection of its own, so writers have no more to send, and
//! changes by other programs, evictions and expiries are told too. While the connection is away anything may have changed;
//! the listener hears that when it ends and again when the next one stands. A server that is silent is asked for a sign of life each second.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, Cmd, ProtocolVersion, PushInfo, PushKind, RedisError, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::Inner;
use super::options::Servers;
use crate::driver::{Change, Listener};

/// How often the server is asked whether it is there, and how long there is between attempts to reach it.
const BEAT: Duration = Duration::from_secs(1);

/// Notes a listener, and starts listening if there is a runtime. Whether this server can tell.
pub(super) fn ask(inner: &Arc<Inner>, listener: Listener) -> bool {
    if inner.servers.is_cluster() {
        return false;
    }
    let heard = Arc::downgrade(inner);
    let listener: Listener = Arc::new(move |change| {
        listener(change);
        note_epoch(&heard, change);
    });
    lock(inner).push(listener);
    inner.waits.store(true, Ordering::Relaxed);
    start(inner);
    true
}

/// An epoch was written, or may have been. No namespace begins with 0.
fn note_epoch(driver: &Weak<Inner>, change: Change<'_>) {
    if !matches!(change, Change::Key(key) if key.first() != Some(&0))
        && let Some(inner) = driver.upgrade()
    {
        inner.heard.fetch_add(1, Ordering::AcqRel);
    }
}

fn lock(inner: &Inner) -> MutexGuard<'_, Vec<Listener>> {
    inner.waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts listening for those who wait, on a task of this runtime, if there is one; until the driver is dropped.
pub(super) fn start(inner: &Arc<Inner>) {
    let (Servers::One(client), Ok(runtime)) = (&inner.servers, tokio::runtime::Handle::try_current()) else { return };
    inner.waits.store(false, Ordering::Relaxed);
    for listener in std::mem::take(&mut *lock(inner)) {
        let limits = (inner.connect_timeout, inner.timeout);
        runtime.spawn(listen(Client::clone(client), limits, Arc::downgrade(inner), listener));
    }
}

async fn listen(client: Client, limits: (Duration, Duration), driver: Weak<Inner>, listener: Listener) {
    while driver.strong_count() > 0 {
        match connect(&client, limits).await {
            Ok((connection, changes)) => {
                listener(Change::Everything);
                hear(connection, changes, &driver, &listener).await;
                listener(Change::Everything);
            }
            Err(error) => tracing::debug!(target: "skep_cache", %error, "invalidation cannot be heard"),
        }
        tokio::time::sleep(BEAT).await;
    }
}

async fn connect(
    client: &Client,
    (connect, answer): (Duration, Duration),
) -> Result<(MultiplexedConnection, UnboundedReceiver<PushInfo>), RedisError> {
    let (sender, changes) = unbounded_channel();
    let info = client.get_connection_info().clone();
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    let client = Client::open(info.set_redis_settings(settings))?;
    let config = AsyncConnectionConfig::new().set_push_sender(sender);
    let config = config.set_connection_timeout(Some(connect)).set_response_timeout(Some(answer));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    let mut cmd = Cmd::new();
    cmd.arg("CLIENT").arg("TRACKING").arg("ON").arg("BCAST");
    cmd.query_async::<Value>(&mut connection).await?;
    Ok((connection, changes))
}

/// Until the connection or the driver ends.
async fn hear(
    mut connection: MultiplexedConnection,
    mut changes: UnboundedReceiver<PushInfo>,
    driver: &Weak<Inner>,
    listener: &Listener,
) {
    loop {
        match tokio::time::timeout(BEAT, changes.recv()).await {
            Ok(Some(PushInfo { kind: PushKind::Invalidate, data })) => tell(data, listener),
            Ok(Some(PushInfo { kind: PushKind::Disconnection, .. }) | None) => return,
            Ok(Some(_)) => {}
            Err(_) => {
                let ping = Cmd::new().arg("PING").query_async::<Value>(&mut connection).await;
                if ping.is_err() || driver.strong_count() == 0 {
                    return;
                }
            }
        }
    }
}

/// A list of keys; none after `FLUSHALL`.
fn tell(data: Vec<Value>, listener: &Listener) {
    for value in data {
        match value {
            Value::Array(keys) => {
                for key in keys {
                    match key {
                        Value::BulkString(key) => listener(Change::Key(&key)),
                        _ => listener(Change::Everything),
                    }
                }
            }
            _ => listener(Change::Everything),
        }
    }
}

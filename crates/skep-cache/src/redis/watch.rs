//! Notifications about changes by others, for a near tier.
//!
//! The server sends them (`CLIENT TRACKING ON BCAST`) on a separate connection, so writers send nothing more, and
//! changes by other programs, evictions and expiries are included. If the connection is lost anything may have changed:
//! the listener is called when it ends, and again when the next one is open. A silent server is pinged each second.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, Cmd, ProtocolVersion, PushInfo, PushKind, RedisError, Value};
use skep_units::lock;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::Inner;
use super::options::Servers;
use crate::driver::{Change, Listener};

/// The interval of pings and of attempts to connect.
const INTERVAL: Duration = Duration::from_secs(1);

/// Registers a listener, and starts listening if there is a runtime. Whether the server supports it.
pub(super) fn register(inner: &Arc<Inner>, listener: Listener) -> bool {
    if inner.servers.is_cluster() {
        return false;
    }
    let driver = Arc::downgrade(inner);
    let listener: Listener = Arc::new(move |change| {
        listener(change);
        note_epoch(&driver, change);
    });
    lock(&inner.waiting).push(listener);
    inner.has_waiting.store(true, Ordering::Relaxed);
    start(inner);
    true
}

/// Counts changes that concern an epoch. No namespace begins with 0.
fn note_epoch(driver: &Weak<Inner>, change: Change<'_>) {
    if !matches!(change, Change::Key(key) if key.first() != Some(&0))
        && let Some(inner) = driver.upgrade()
    {
        inner.epochs.count();
    }
}

/// Starts the waiting listeners on this runtime, if there is one, until the driver is dropped.
pub(super) fn start(inner: &Arc<Inner>) {
    let (Servers::One(client), Ok(runtime)) = (&inner.servers, tokio::runtime::Handle::try_current()) else { return };
    inner.has_waiting.store(false, Ordering::Relaxed);
    for listener in std::mem::take(&mut *lock(&inner.waiting)) {
        let limits = (inner.limits.connect_timeout, inner.limits.timeout);
        runtime.spawn(listen(Client::clone(client), limits, Arc::downgrade(inner), listener));
    }
}

async fn listen(client: Client, limits: (Duration, Duration), driver: Weak<Inner>, listener: Listener) {
    while driver.strong_count() > 0 {
        match connect(&client, limits).await {
            Ok((connection, changes)) => {
                listener(Change::Everything);
                receive(connection, changes, &driver, &listener).await;
                listener(Change::Everything);
            }
            Err(error) => tracing::debug!(target: "skep_cache", %error, "no connection for notifications"),
        }
        tokio::time::sleep(INTERVAL).await;
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

/// Passes on notifications until the connection or the driver ends.
async fn receive(
    mut connection: MultiplexedConnection,
    mut changes: UnboundedReceiver<PushInfo>,
    driver: &Weak<Inner>,
    listener: &Listener,
) {
    loop {
        match tokio::time::timeout(INTERVAL, changes.recv()).await {
            Ok(Some(PushInfo { kind: PushKind::Invalidate, data })) => notify(data, listener),
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

/// Passes on a list of keys, or null after `FLUSHALL`.
fn notify(data: Vec<Value>, listener: &Listener) {
    for value in data {
        match value {
            Value::Array(keys) => {
                for key in &keys {
                    listener(if let Value::BulkString(key) = key { Change::Key(key) } else { Change::Everything });
                }
            }
            _ => listener(Change::Everything),
        }
    }
}

//! The topics of an application: how long messages are there, and the thread that reads new ones.

use std::sync::Arc;
use std::time::Duration;

use skep::cache::Clock;
use skep::sql::{self, Dialect, Query, query};
use skep::{Result, Site};

use crate::hub::Hub;
#[cfg(not(target_family = "wasm"))]
use crate::hub::Row;
#[cfg(not(target_family = "wasm"))]
use crate::schema::CHANNEL;
#[cfg(not(target_family = "wasm"))]
use crate::thread::{NextPoll, Signals, Worker, listen};

/// How long messages are there, and how many: what [`LiveApp::topics`](crate::LiveApp::topics) is given.
///
/// ```
/// use std::time::Duration;
/// use skep_live::Topics;
///
/// let topics = Topics::new().keep_for(Duration::from_mins(10)).keep_most(10_000).buffer(100);
/// # let _ = topics;
/// ```
pub struct Topics {
    keep_for: Duration,
    keep_most: u32,
    pub(crate) buffer: usize,
    pub(crate) hub: Arc<Hub>,
    #[cfg(not(target_family = "wasm"))]
    worker: Arc<Worker>,
    opened: std::sync::OnceLock<Clock>,
}

impl Default for Topics {
    fn default() -> Self {
        Self::new()
    }
}

impl Topics {
    /// With the usual limits: an hour, 100,000 messages, of which 1,000 of each key are in memory.
    #[must_use]
    pub fn new() -> Self {
        Self {
            keep_for: Duration::from_hours(1),
            keep_most: 100_000,
            buffer: 1_000,
            hub: Arc::default(),
            #[cfg(not(target_family = "wasm"))]
            worker: Arc::default(),
            opened: std::sync::OnceLock::new(),
        }
    }

    /// How long a message is there for subscribers that come back (an hour). Who has missed an older one has to reload.
    #[must_use]
    pub fn keep_for(self, time: Duration) -> Self {
        Self { keep_for: time, ..self }
    }

    /// How many messages of all topics are there for subscribers that come back (100,000).
    #[must_use]
    pub fn keep_most(self, messages: u32) -> Self {
        Self { keep_most: messages.max(1), ..self }
    }

    /// How many messages of a key are in memory (1,000). Who takes messages so slowly that more have come meanwhile has
    /// to reload, and costs no memory of its own.
    #[must_use]
    pub fn buffer(self, messages: u16) -> Self {
        Self { buffer: usize::from(messages.max(1)), ..self }
    }

    pub(crate) fn open(&self, site: &Site) {
        _ = self.opened.set(site.setup().clock.clone());
        #[cfg(not(target_family = "wasm"))]
        self.worker.open(site, "topics");
    }

    pub(crate) fn clock(&self) -> &Clock {
        self.opened.get().expect("LiveApp::topics opens it before the first request")
    }

    /// In milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.clock().now().millis().cast_signed()
    }

    /// Messages were committed.
    pub(crate) fn wake(&self) {
        self.waker()();
    }

    /// What is to be done once messages are committed.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        let worker = Arc::clone(&self.worker);
        move || {
            worker.wake();
            worker.wake_others(&[0]);
        }
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        || ()
    }

    /// Has this process hear of messages.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn start(&self) -> Result<()> {
        let hub = Arc::clone(&self.hub);
        self.worker.start("topics", |_| (), move |db, shared| read_new(db, shared, hub))?;
        Ok(())
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn start(&self) -> Result<()> {
        Ok(())
    }

    /// Removes what is too old, and what is too much, but never the last one, whose number pages have.
    pub(crate) fn tidy(&self, site: &Site) -> Result<()> {
        let old = self.now().saturating_sub(i64::try_from(self.keep_for.as_millis()).unwrap_or(i64::MAX));
        // In steps, so that no other transaction waits long.
        while site.db().write(|db| db.execute(remove(old, self.keep_most)))?.rows > 0 {}
        Ok(())
    }
}

skep_units::opaque_debug!(Topics);

/// Messages that are read at once.
const AT_ONCE: usize = 500;

/// Reads messages whenever this process is woken.
#[cfg(not(target_family = "wasm"))]
async fn read_new(db: sql::Local, shared: Arc<Signals>, hub: Arc<Hub>) {
    let woken = Arc::clone(&shared);
    let listening = tokio::task::spawn_local(listen(db.clone(), CHANNEL, move |_| woken.wake()));
    let mut look = NextPoll::default();
    while !shared.has_ended() {
        let after = hub.last().unwrap_or_default();
        match db.all(newer(after)).await {
            Ok(rows) => {
                let is_all = rows.len() < AT_ONCE;
                hub.push(rows);
                if is_all {
                    shared.woken(&mut look).await;
                }
            }
            Err(error) => {
                tracing::warn!(target: "skep::live", "messages cannot be read, and are tried again: {error}");
                shared.pause().await;
            }
        }
    }
    listening.abort();
}

#[cfg(not(target_family = "wasm"))]
fn newer(after: i64) -> Query<'static, Row> {
    let text = "select number, topic, key, payload from skep_topic where number > ? order by number limit ?";
    own(text, (after, i64::try_from(AT_ONCE).unwrap_or(i64::MAX)))
}

/// A statement on the table of messages, of which no page is made.
pub(crate) fn own<'q, T>(text: &'q str, parameters: impl sql::Parameters<'q>) -> Query<'q, T> {
    query(text, parameters).own()
}

/// Messages that one statement removes.
const STEP: i64 = 1_000;

fn remove(old: i64, most: u32) -> Query<'static> {
    let text = "delete from skep_topic where number in (
        select number from skep_topic where number < (select max(number) from skep_topic)
        and (at < ? or number <= (select max(number) from skep_topic) - ?) order by number limit ?)";
    own(text, (old, i64::from(most), STEP))
}

/// The number of the last message.
pub(crate) fn last_number() -> Query<'static, i64> {
    own("select coalesce(max(number), 0) from skep_topic", ())
}

/// The number before the first message that is still there.
pub(crate) fn floor() -> Query<'static, i64> {
    own("select coalesce(min(number), 1) - 1 from skep_topic", ())
}

/// The first messages of a key after a number.
pub(crate) fn after<'q>((topic, key): (&'q str, &'q str), number: i64, most: usize) -> Query<'q, (i64, String)> {
    let text =
        "select number, payload from skep_topic where number > ? and topic = ? and key = ? order by number limit ?";
    own(text, (number, topic, key, i64::try_from(most).unwrap_or(i64::MAX)))
}

/// Inserts a message. PostgreSQL gives it its number when the transaction commits.
pub(crate) fn insert<'q>(topic: &'q str, key: &'q str, at: i64, payload: &'q str) -> Query<'q> {
    own("insert into skep_topic (topic, key, at, payload) values (?, ?, ?, ?)", (topic, key, at, payload))
}

/// True if messages are given their numbers, and wake, by the database itself.
pub(crate) fn is_postgres(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

//! What the database has of who is present, and the thread of a process that writes it.
//!
//! Each process has a lease, which it renews as long as anybody is present by it: one small write each ten seconds,
//! however many they are. Connections are rows of their process, and count only while its lease lasts.
//!
//! Start reading at [`Attendance::list`] and [`Writer::write`](writer::Writer::write).

#[cfg(not(target_family = "wasm"))]
mod writer;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use skep::cache::Clock;
use skep::sql::{self, Checked, Dialect, Query, Value};
use skep::{Result, Site};

use crate::members::{Members, Present, Tracked};
#[cfg(not(target_family = "wasm"))]
use crate::thread::Worker;
use crate::topics::is_postgres;

/// Presence in an application, for [`LiveApp::presence`](crate::LiveApp::presence), which mounts it.
///
/// ```
/// use std::time::Duration;
/// use skep_live::Presences;
///
/// let presences = Presences::new().lease(Duration::from_mins(1));
/// # let _ = presences;
/// ```
#[derive(Default)]
pub struct Presences {
    lease: Option<Duration>,
    pub(crate) shared: Arc<Attendance>,
}

skep_units::opaque_debug!(Presences);

impl Presences {
    /// With a lease of 30 seconds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long somebody still counts whose process died or cannot reach the database (30 s, at least 1 s). A third of
    /// it is the time between two renewals. The clocks of several machines should differ by less than that.
    #[must_use]
    pub fn lease(self, time: Duration) -> Self {
        Self { lease: Some(time.max(Duration::from_secs(1))), ..self }
    }

    pub(crate) fn open(&self, site: &Site) {
        let opened = Opened {
            clock: site.setup().clock.clone(),
            dialect: site.db().dialect(),
            lease: self.lease.unwrap_or(Duration::from_secs(30)),
        };
        _ = self.shared.opened.set(opened);
        #[cfg(not(target_family = "wasm"))]
        self.shared.open(site);
    }
}

/// What all requests share.
#[derive(Default)]
pub(crate) struct Attendance {
    members: Arc<Members>,
    opened: OnceLock<Opened>,
    /// The name of this process, drawn by its first request, after any fork.
    process: OnceLock<String>,
    /// The thread knows that there are leases of others, and when the next one ends.
    knows_others: Arc<AtomicBool>,
    #[cfg(not(target_family = "wasm"))]
    worker: Worker,
    /// What is to be done once messages are committed, if there are topics.
    #[cfg(not(target_family = "wasm"))]
    wake_topics: OnceLock<writer::Wake>,
}

skep_units::opaque_debug!(Attendance);

#[derive(Clone)]
struct Opened {
    clock: Clock,
    dialect: Dialect,
    lease: Duration,
}

impl Opened {
    /// In milliseconds since 1970.
    fn now(&self) -> i64 {
        self.clock.now().millis().cast_signed()
    }

    /// In milliseconds.
    #[cfg(not(target_family = "wasm"))]
    fn lease(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

impl Attendance {
    fn opened(&self) -> &Opened {
        self.opened.get().expect("LiveApp::presence opens it before the first request")
    }

    fn process(&self) -> &str {
        self.process.get_or_init(|| format!("{:016x}", getrandom::u64().unwrap_or_else(|_| std::process::id().into())))
    }

    /// Has somebody be present. In a component, which has no thread that could renew a lease, nobody is.
    pub(crate) fn join(&self, tracked: Tracked) -> Result<Present> {
        #[cfg(not(target_family = "wasm"))]
        self.start()?;
        Ok(self.members.join(tracked))
    }

    /// The ids of who is present, and who they are as JSON, in the order in which they came.
    pub(crate) async fn list(&self, db: &sql::Local, name: &str, key: &str) -> Result<Vec<(String, String)>> {
        let opened = self.opened();
        let values = [Value::Text(name.into()), Value::Text(key.into()), Value::Integer(opened.now())];
        let rows: Vec<(String, String, String)> = db.all(known(&LIST, opened.dialect, values)).await?;
        if rows.iter().any(|(.., process)| process != self.process()) && !self.knows_others.load(Ordering::Relaxed) {
            self.look_after_others()?;
        }
        Ok(rows.into_iter().map(|(id, who, _)| (id, who)).collect())
    }

    /// Has pages made again once leases of others end.
    fn look_after_others(&self) -> Result<()> {
        #[cfg(not(target_family = "wasm"))]
        {
            self.start()?;
            self.worker.wake();
        }
        Ok(())
    }
}

/// Table and column, as [`Checked`] has them: that there are rows.
type Columns = &'static [(&'static str, &'static str)];

const ROWS: Columns = &[("skep_presence", "")];

static LIST: [Checked; 2] = checked(
    "select id, who, process from skep_presence where topic = ? and key = ?
    and process in (select process from skep_presence_process where until > ?) order by at, process, number",
    ROWS,
    &[],
);

/// A statement for each database, of which pages are made, or that changes them. `sql!` knows the tables of the
/// application only.
const fn checked(text: &'static str, reads: Columns, writes: Columns) -> [Checked; 2] {
    let reads_only = writes.is_empty();
    [
        Checked { text, reads, writes, reads_only, dialect: Dialect::Sqlite },
        Checked { text, reads, writes, reads_only, dialect: Dialect::Postgres },
    ]
}

fn known<'q, T, const N: usize>(
    statements: &'static [Checked; 2],
    dialect: Dialect,
    values: [Value<'q>; N],
) -> Query<'q, T> {
    Query::from_checked(&statements[usize::from(is_postgres(dialect))], PhantomData, values.map(Ok))
}

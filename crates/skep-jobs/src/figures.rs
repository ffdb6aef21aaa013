//! What the process that runs jobs says of them in the status of the server.
//!
//! A status must not wait for the database: it has the numbers that were read after the one before, or at the start.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skep::Work;
use skep::sql;
use skep::status::Part;
use skep_units::lock;
use tokio::sync::Notify;

use crate::counts::{Queue, count, queues};
use crate::jobs::Jobs;
use crate::store::{Ended, Fate};

/// The database is read no more often than this, however many ask.
const PAUSE: Duration = Duration::from_secs(2);

/// Attempts that have ended in this process.
#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    done: u64,
    failed: u64,
}

/// What the process that runs jobs knows.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    is_here: AtomicBool,
    asked: Notify,
    attempts: Mutex<BTreeMap<String, Attempts>>,
    /// None before they were read.
    queues: Mutex<Option<BTreeMap<String, Queue>>>,
}

impl Figures {
    pub(crate) fn note(&self, Ended { claimed, fate }: &Ended) {
        let mut all = lock(&self.attempts);
        let attempts = all.entry(claimed.queue.clone()).or_default();
        match fate {
            Fate::Done | Fate::Noted => attempts.done += 1,
            Fate::Again { failed: true, .. } | Fate::Dead(_) => attempts.failed += 1,
            Fate::Again { failed: false, .. } => {}
        }
    }

    /// Reads them, and again whenever somebody has asked for them.
    pub(crate) async fn serve(&self, work: &Work) {
        self.is_here.store(true, Ordering::Relaxed);
        loop {
            if let Err(error) = self.read(work.db(), work.state::<Jobs>()).await {
                tracing::warn!(target: "skep::job", "jobs cannot be counted: {error}");
            }
            tokio::time::sleep(PAUSE).await;
            self.asked.notified().await;
        }
    }

    async fn read(&self, db: &sql::Local, jobs: &Jobs) -> sql::Result<()> {
        let rows = db.all(count()).await?;
        *lock(&self.queues) = Some(queues(rows, jobs.now()));
        Ok(())
    }

    /// A part for each queue, of the process that runs jobs.
    pub(crate) fn status(&self, names: &[(&'static str, usize)]) -> Vec<Part> {
        if !self.is_here.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.asked.notify_one();
        let (queues, attempts) = (lock(&self.queues), lock(&self.attempts));
        let part = |(name, _): &(&str, usize)| {
            let Attempts { done, failed } = attempts.get(*name).copied().unwrap_or_default();
            let mut part = Part::new(format!("jobs {name}"));
            if let Some(queues) = &*queues {
                let Queue { waiting, running, dead, late } = queues.get(*name).cloned().unwrap_or_default();
                part = part
                    .value("waiting", waiting.cast_unsigned())
                    .value("running", running.cast_unsigned())
                    .value("dead", dead.cast_unsigned())
                    .value("late", late);
            }
            part.value("done", done).value("failed", failed)
        };
        names.iter().map(part).collect()
    }
}

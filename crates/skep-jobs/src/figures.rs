//! What the process that runs jobs says of them in the status of the server.
//!
//! A status must not wait for the database. The first one that is asked for has no numbers of it yet, and each later
//! one those that were read after the one before.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use skep::Work;
use skep::sql;
use skep::status::Part;
use skep_units::lock;
use tokio::sync::Notify;

use crate::counts::{Queue, count, queues};
use crate::store::{Ended, Fate};

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
    queues: Mutex<BTreeMap<String, Queue>>,
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

    /// Reads them whenever somebody has asked for them.
    pub(crate) async fn serve(&self, work: &Work) {
        self.is_here.store(true, Ordering::Relaxed);
        loop {
            self.asked.notified().await;
            if let Err(error) = self.read(work.db()).await {
                tracing::warn!(target: "skep::job", "jobs cannot be counted: {error}");
            }
        }
    }

    async fn read(&self, db: &sql::Local) -> sql::Result<()> {
        *lock(&self.queues) = queues(db.all(count()).await?);
        Ok(())
    }

    /// A part for each queue, of the process that runs jobs.
    pub(crate) fn status(&self, names: &[(&'static str, usize)], now: i64) -> Vec<Part> {
        if !self.is_here.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.asked.notify_one();
        let (queues, attempts) = (lock(&self.queues), lock(&self.attempts));
        let part = |(name, _): &(&str, usize)| {
            let queue = queues.get(*name).cloned().unwrap_or_default();
            let Attempts { done, failed } = attempts.get(*name).copied().unwrap_or_default();
            Part::new(format!("jobs {name}"))
                .value("waiting", queue.waiting.cast_unsigned())
                .value("running", queue.running.cast_unsigned())
                .value("dead", queue.dead.cast_unsigned())
                .value("late", queue.late(now))
                .value("done", done)
                .value("failed", failed)
        };
        names.iter().map(part).collect()
    }
}

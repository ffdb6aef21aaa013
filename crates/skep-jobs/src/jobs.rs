//! The jobs of an application.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use skep::cache::Clock;
use skep::{Result, Site};
use skep_units::panic::catch;

#[cfg(feature = "cron")]
use crate::cron::Schedule;
use crate::cx::JobCx;
#[cfg(not(target_family = "wasm"))]
use crate::figures::Figures;
use crate::job::{Job, Outcome, millis};
use crate::mail::DeliverMail;
use crate::store::Store;
use crate::wake::Wake;

/// A pause is longer by up to this part of it, so that what failed together is not tried together.
pub(crate) const JITTER: u32 = 4;

/// How many jobs of a queue run at once, unless the application says otherwise.
const SLOTS: usize = 10;

/// The jobs of an application, made by [`jobs!`](crate::jobs!) and mounted by [`JobsApp::jobs`](crate::JobsApp::jobs).
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use skep::prelude::*;
/// # use skep_jobs::prelude::*;
/// # #[derive(Serialize, Deserialize)] struct Resize { picture: i64 }
/// # impl Job for Resize {
/// #     const KIND: &'static str = "resize";
/// #     async fn run(self, _cx: &mut JobCx<'_>) -> Result<Outcome> { Ok(Outcome::Done) }
/// # }
/// let jobs = jobs![Resize].queue("default", 4).queue("mail", 2);
/// # let _ = jobs;
/// ```
pub struct Jobs {
    pub(crate) kinds: BTreeMap<&'static str, Kind>,
    slots: BTreeMap<&'static str, usize>,
    pub(crate) lease: Duration,
    #[cfg(feature = "cron")]
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) problems: Vec<String>,
    pub(crate) wake: Arc<Wake>,
    #[cfg(not(target_family = "wasm"))]
    pub(crate) figures: Figures,
    opened: OnceLock<Opened>,
}

/// What is known once the application is open.
struct Opened {
    clock: Clock,
    store: Store,
}

/// A type of jobs, without the type.
pub(crate) struct Kind {
    pub(crate) queue: &'static str,
    pub(crate) attempts: u32,
    pub(crate) time_limit: Duration,
    pub(crate) retry_after: fn(u32) -> Duration,
    pub(crate) start: Start,
}

impl Kind {
    /// How long one waits at most that has failed as often; none if it knows no pause.
    pub(crate) fn longest_pause(&self, attempts: i64) -> Option<Duration> {
        let attempts = u32::try_from(attempts).ok()?;
        let pause = catch(|| (self.retry_after)(attempts)).ok()?;
        Some(pause.saturating_add(pause / JITTER))
    }
}

/// A job that runs.
pub(crate) type Running<'c> = Pin<Box<dyn Future<Output = Result<Outcome>> + 'c>>;

type Start = for<'c, 'r> fn(&str, &'c mut JobCx<'r>) -> serde_json::Result<Running<'c>>;

fn start<'c, J: Job>(payload: &str, cx: &'c mut JobCx<'_>) -> serde_json::Result<Running<'c>> {
    let job: J = serde_json::from_str(payload)?;
    Ok(Box::pin(job.run(cx)))
}

/// Lists types of jobs: `jobs![Welcome, Remind]`. The value is a [`Jobs`].
#[macro_export]
macro_rules! jobs {
    ($($job:ty),* $(,)?) => { $crate::Jobs::default()$(.kind::<$job>())* };
}

impl Default for Jobs {
    fn default() -> Self {
        let jobs = Self {
            kinds: BTreeMap::new(),
            slots: BTreeMap::new(),
            lease: Duration::from_secs(30),
            #[cfg(feature = "cron")]
            schedules: Vec::new(),
            problems: Vec::new(),
            wake: Arc::default(),
            #[cfg(not(target_family = "wasm"))]
            figures: Figures::default(),
            opened: OnceLock::new(),
        };
        jobs.kind::<DeliverMail>()
    }
}

impl Jobs {
    /// Adds a type of jobs: what [`jobs!`](crate::jobs!) does.
    #[must_use]
    pub fn kind<J: Job>(mut self) -> Self {
        let is_plain =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b));
        for name in [J::KIND, J::QUEUE].into_iter().filter(|name| !is_plain(name)) {
            let problem = format!("{name:?} is no name of a job or queue: expected letters, digits, -, _, . and /");
            self.problems.push(problem);
        }
        let kind = Kind {
            queue: J::QUEUE,
            attempts: J::ATTEMPTS.max(1),
            time_limit: J::TIME_LIMIT,
            retry_after: J::retry_after,
            start: start::<J>,
        };
        if self.kinds.insert(J::KIND, kind).is_some() {
            self.problems.push(format!("two jobs have the kind {:?}: give one another Job::KIND", J::KIND));
        }
        self
    }

    /// How many jobs of a queue run at once (10), in the process that runs jobs.
    #[must_use]
    pub fn queue(mut self, queue: &'static str, slots: usize) -> Self {
        self.slots.insert(queue, slots.max(1));
        self
    }

    /// How long jobs of a machine that died, or of a process that hangs, wait until they are run again (30 s), and up
    /// to a third more. What was cut off by a shutdown does not wait, nor do jobs of a process that was killed, once
    /// another one runs on its machine.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(300));
        self
    }

    /// All queues that there are jobs for, and their slots.
    pub(crate) fn queues(&self) -> Vec<(&'static str, usize)> {
        let mut queues: Vec<_> = self.kinds.values().map(|kind| kind.queue).collect();
        queues.sort_unstable();
        queues.dedup();
        queues.into_iter().map(|queue| (queue, self.slots.get(queue).copied().unwrap_or(SLOTS))).collect()
    }

    /// What is wrong with the names that were given.
    pub(crate) fn problems(&self) -> Vec<String> {
        let known = self.queues();
        let unknown = self.slots.keys().filter(|queue| known.iter().all(|(known, _)| known != *queue));
        let unknown = unknown.map(|queue| format!("no job has the queue {queue:?}, which Jobs::queue names"));
        self.problems.iter().cloned().chain(unknown).collect()
    }

    pub(crate) fn open(&self, site: &Site) {
        let store = Store::new(site.db().dialect(), self);
        _ = self.opened.set(Opened { clock: site.setup().clock.clone(), store });
        // Tests run jobs in their own process.
        #[cfg(not(target_family = "wasm"))]
        if !site.setup().temporary_database && site.db().dialect() == skep::sql::Dialect::Sqlite {
            self.wake.set_path(site.data().join("jobs.wake"));
        }
    }

    fn opened(&self) -> &Opened {
        self.opened.get().expect("JobsApp::jobs opens it before the first request")
    }

    pub(crate) fn store(&self) -> &Store {
        &self.opened().store
    }

    /// In milliseconds since 1970: not as of the last tick, as caches have it, or nothing would be due on time.
    pub(crate) fn now(&self) -> i64 {
        let clock = &self.opened().clock;
        if clock.is_manual() {
            clock.now().millis().cast_signed()
        } else {
            millis(UNIX_EPOCH.elapsed().unwrap_or_default())
        }
    }
}

skep_units::opaque_debug!(Jobs);

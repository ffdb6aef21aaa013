//! What a job is, and how one is ordered.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;
use skep::Result;

use crate::cx::JobCx;

/// A job: its fields are what it needs to know, and its value is the job. It is stored as JSON; a field that is added
/// later needs `#[serde(default)]`, for jobs that were enqueued before.
///
/// An example is at the [crate](crate).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job",
    label = "this is no `Job`",
    note = "derive `serde::Serialize` and `serde::Deserialize`, and write `impl Job for {Self} {{ ... }}`"
)]
pub trait Job: Serialize + DeserializeOwned + 'static {
    /// Its name in the database, which stays when the type gets another one. Letters, digits, `-`, `_`, `.` and `/`.
    const KIND: &'static str;

    /// Its queue. Those of a queue share its slots: [`Jobs::queue`](crate::Jobs::queue).
    const QUEUE: &'static str = "default";

    /// How often it is tried (12). After that it is a dead letter, which the [page](crate::JobsApp::jobs_page) shows.
    /// With the pauses of [`retry_after`](Self::retry_after), 12 attempts take six hours.
    const ATTEMPTS: u32 = 12;

    /// How long one attempt may take (5 minutes). What blocks its thread is not interrupted: use [`JobCx::offload`].
    const TIME_LIMIT: Duration = Duration::from_mins(5);

    /// Does the work. An error or a panic is a failed attempt: what it wrote in its transaction is undone, and it is
    /// tried again.
    fn run(self, cx: &mut JobCx<'_>) -> impl Future<Output = Result<Outcome>>;

    /// The pause after this number of failed attempts, to which up to a quarter is added at random: 10 s, then twice as
    /// long each time, 6 hours at most.
    #[must_use]
    fn retry_after(attempts: u32) -> Duration {
        let doublings = attempts.saturating_sub(1).min(20);
        (Duration::from_secs(10) * (1 << doublings)).min(Duration::from_hours(6))
    }

    /// Not before this time.
    fn at(self, time: SystemTime) -> Order<Self> {
        Order::from(self).at(time)
    }

    /// Not before this long from now.
    fn after(self, pause: Duration) -> Order<Self> {
        Order::from(self).after(pause)
    }

    /// Only if no job was enqueued with this key in the last `period`: see [`Order::unique_for`].
    fn unique_for(self, key: impl Into<String>, period: Duration) -> Order<Self> {
        Order::from(self).unique_for(key, period)
    }

    /// Before or after others of its queue.
    fn priority(self, priority: Priority) -> Order<Self> {
        Order::from(self).priority(priority)
    }
}

/// How an attempt ended that has not failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// The work is done.
    Done,
    /// Try again after this pause: something is not ready yet. That is no failed attempt. What was written in the job's
    /// transaction stays.
    Snooze(Duration),
    /// It would fail each time: it is a dead letter at once, with this reason. What was written in the job's
    /// transaction is undone.
    GiveUp(String),
}

/// Of the jobs of a queue that are due, those of a higher priority begin first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// First.
    High,
    /// As jobs are unless they say otherwise.
    #[default]
    Normal,
    /// When there is nothing else.
    Low,
}

impl Priority {
    pub(crate) const COUNT: i64 = 3;

    pub(crate) fn number(self) -> i64 {
        self as i64
    }
}

/// A job, and when it is to run.
///
/// ```
/// use std::time::Duration;
/// # use serde::{Deserialize, Serialize};
/// # use skep::prelude::*;
/// use skep_jobs::prelude::*;
/// use skep_jobs::Priority;
///
/// # #[derive(Serialize, Deserialize)] struct Remind { booking: i64 }
/// # impl Job for Remind {
/// #     const KIND: &'static str = "remind";
/// #     async fn run(self, _cx: &mut JobCx<'_>) -> Result<Outcome> { Ok(Outcome::Done) }
/// # }
/// async fn book(cx: &Cx<'_>, booking: i64) -> Result<()> {
///     let remind = Remind { booking }.after(Duration::from_hours(20)).priority(Priority::Low);
///     cx.later(remind.unique_for(format!("remind/{booking}"), Duration::from_hours(24))).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Order<J> {
    pub(crate) job: J,
    pub(crate) due: Due,
    pub(crate) priority: Priority,
    pub(crate) unique: Option<(String, Duration)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    At(SystemTime),
    After(Duration),
}

impl<J: Job> From<J> for Order<J> {
    fn from(job: J) -> Self {
        Self { job, due: Due::After(Duration::ZERO), priority: Priority::Normal, unique: None }
    }
}

impl<J> Order<J> {
    /// Not before this time.
    #[must_use]
    pub fn at(mut self, time: SystemTime) -> Self {
        self.due = Due::At(time);
        self
    }

    /// Not before this long from now.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.due = Due::After(pause);
        self
    }

    /// Only if no job was enqueued with this key in the last `period`, whether that has run by now or not. Otherwise it
    /// is dropped, and [`later`](crate::Later::later) gives `None`.
    #[must_use]
    pub fn unique_for(mut self, key: impl Into<String>, period: Duration) -> Self {
        self.unique = Some((key.into(), period));
        self
    }

    /// Before or after others of its queue.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }
}

impl Due {
    /// In milliseconds since 1970.
    pub(crate) fn millis(self, now: i64) -> i64 {
        match self {
            Self::At(time) => millis(time.duration_since(UNIX_EPOCH).unwrap_or_default()),
            Self::After(pause) => now.saturating_add(millis(pause)),
        }
    }
}

/// As the database has it.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

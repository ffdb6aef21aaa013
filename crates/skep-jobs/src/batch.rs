//! Jobs of several types, and one that runs when they have ended.

use std::time::Duration;

use skep::{Error, Result};

use crate::job::{Due, Job, Order, Priority, millis};
use crate::jobs::Jobs;
use crate::schema::WAITING;
use crate::store::New;

/// Jobs with a job at their end, which runs once: when each of them is done, is a dead letter or was cancelled. It can
/// [ask](crate::JobCx::dead_in_batch) how many are dead letters. One that is retried before the end is waited for; one
/// that is retried after it brings no second end. [`later_batch`](crate::Later::later_batch) enqueues it.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use skep::prelude::*;
/// use skep_jobs::prelude::*;
/// use skep_jobs::Batch;
///
/// # #[derive(Serialize, Deserialize)] struct Resize { picture: i64 }
/// # impl Job for Resize {
/// #     const KIND: &'static str = "resize";
/// #     async fn run(self, _cx: &mut JobCx<'_>) -> Result<Outcome> { Ok(Outcome::Done) }
/// # }
/// /// Shows an album, if all of its pictures could be resized.
/// #[derive(Serialize, Deserialize)]
/// struct Publish { album: i64 }
///
/// impl Job for Publish {
///     const KIND: &'static str = "publish";
///
///     async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
///         match cx.dead_in_batch().await? {
///             0 => Ok(Outcome::Done),
///             dead => Ok(Outcome::GiveUp(format!("{dead} pictures cannot be resized"))),
///         }
///     }
/// }
///
/// async fn upload(cx: &Cx<'_>, album: i64, pictures: &[i64]) -> Result<()> {
///     let resize = pictures.iter().map(|picture| Resize { picture: *picture });
///     cx.later_batch(Batch::ending_with(Publish { album }).jobs(resize)).await?;
///     Ok(())
/// }
/// ```
///
/// Without a job, or if the [keys](Order::unique_for) of all are taken, the one at the end runs at once. It may enqueue
/// another batch, and so on.
#[derive(Debug)]
#[must_use]
pub struct Batch {
    pub(crate) last: UntypedOrder,
    pub(crate) jobs: Vec<UntypedOrder>,
}

impl Batch {
    /// A batch with this job at its end.
    pub fn ending_with<J: Job>(last: impl Into<Order<J>>) -> Self {
        Self { last: last.into().into(), jobs: Vec::new() }
    }

    /// Adds a job.
    pub fn job<J: Job>(mut self, job: impl Into<Order<J>>) -> Self {
        self.jobs.push(job.into().into());
        self
    }

    /// Adds jobs of one type.
    pub fn jobs<J: Job, O: Into<Order<J>>>(mut self, jobs: impl IntoIterator<Item = O>) -> Self {
        self.jobs.extend(jobs.into_iter().map(|job| job.into().into()));
        self
    }
}

/// An order without the type of its job.
#[derive(Debug)]
pub(crate) struct UntypedOrder {
    name: &'static str,
    kind: &'static str,
    payload: serde_json::Result<String>,
    due: Due,
    priority: Priority,
    unique: Option<(String, Duration)>,
}

impl<J: Job> From<Order<J>> for UntypedOrder {
    fn from(Order { job, due, priority, unique }: Order<J>) -> Self {
        let payload = serde_json::to_string(&job);
        Self { name: std::any::type_name::<J>(), kind: J::KIND, payload, due, priority, unique }
    }
}

impl UntypedOrder {
    /// As it is enqueued.
    pub(crate) fn row<'n>(&'n self, jobs: &'n Jobs) -> Result<New<'n>> {
        let (name, now) = (self.name, jobs.now());
        let Some(kind) = jobs.kinds.get(self.kind) else {
            let problem = format!("the job `{name}` (kind {:?}) is not among jobs![...]", self.kind);
            return Err(Error::internal(problem));
        };
        let payload = self.payload.as_ref().map_err(|error| Error::internal(format!("the job `{name}`: {error}")))?;
        let unique = self.unique.as_ref().map(|(key, period)| (&**key, now.saturating_add(millis(*period))));
        Ok(New {
            kind: self.kind,
            queue: kind.queue,
            priority: self.priority.number(),
            at: self.due.millis(now),
            created: now,
            payload,
            unique,
            batch: None,
            state: WAITING,
        })
    }
}

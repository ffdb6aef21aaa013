//! Enqueues jobs, and cancels them.

use std::future::Future;
use std::sync::Arc;

use skep::mail::Mail;
use skep::sql::{Local, Transaction, query};
use skep::{Cx, Error, Result, Work};

use crate::cx::JobCx;
use crate::job::{Job, Order, millis};
use crate::jobs::Jobs;
use crate::mail::DeliverMail;
use crate::store::New;

/// Enqueues jobs: what [`Cx`], [`JobCx`] and [`Work`] can do where this trait is imported.
pub trait Later {
    /// What it is done with.
    #[doc(hidden)]
    fn job_context(&self) -> JobContext<'_>;

    /// Enqueues a job, and gives its number. If a transaction of the request is open, the job is a part of it: it
    /// exists once that is committed, and never if it is undone. Without one, it is enqueued at once.
    ///
    /// `None` if another one has its [key](Order::unique_for).
    ///
    /// # Errors
    /// If the application does not list the type in [`jobs!`](crate::jobs!), or of the database.
    fn later<J: Job>(&self, job: impl Into<Order<J>>) -> impl Future<Output = Result<Option<i64>>> {
        let order = job.into();
        async move { enqueue(self.job_context(), order).await }
    }

    /// The same in a transaction that is not the request's: of [`Local::transaction`].
    fn later_in<J: Job>(
        &self,
        db: &Transaction,
        job: impl Into<Order<J>>,
    ) -> impl Future<Output = Result<Option<i64>>> {
        let order = job.into();
        async move { enqueue(JobContext { transaction: Some(db), ..self.job_context() }, order).await }
    }

    /// Cancels a job: it is deleted. One that is running goes on, and what it writes in its transaction is undone.
    /// False if no job has this number any more.
    fn cancel_job(&self, id: i64) -> impl Future<Output = Result<bool>> {
        async move {
            let JobContext { db, transaction, .. } = self.job_context();
            let delete = query("delete from skep_job where id = ?", id).own();
            let changes = match transaction {
                Some(transaction) => transaction.execute(delete).await?,
                None => db.execute(delete).await?,
            };
            Ok(changes.rows > 0)
        }
    }

    /// Sends a mail by a job: with the request's transaction, again if the mail server cannot be reached or refuses it
    /// for now, and with one Message-ID each time. What it refuses for good is a dead letter. Until it is sent, its
    /// text is in the database.
    fn deliver_later(&self, mail: Mail) -> impl Future<Output = Result<()>> {
        async move { self.later(DeliverMail(mail)).await.map(drop) }
    }
}

/// A database, the transaction that is open, and the jobs of the application.
#[doc(hidden)]
#[derive(Debug)]
pub struct JobContext<'p> {
    pub(crate) db: &'p Local,
    pub(crate) transaction: Option<&'p Transaction>,
    pub(crate) jobs: &'p Jobs,
}

impl Later for Cx<'_> {
    fn job_context(&self) -> JobContext<'_> {
        JobContext { db: self.db(), transaction: self.open_transaction(), jobs: self.state() }
    }
}

impl Later for JobCx<'_> {
    fn job_context(&self) -> JobContext<'_> {
        self.work.job_context()
    }
}

impl Later for Work {
    fn job_context(&self) -> JobContext<'_> {
        JobContext { db: self.db(), transaction: self.open_transaction(), jobs: self.state() }
    }
}

async fn enqueue<J: Job>(context: JobContext<'_>, order: Order<J>) -> Result<Option<i64>> {
    let JobContext { db, transaction, jobs } = context;
    let Some(kind) = jobs.kinds.get(J::KIND) else {
        let (name, kind) = (std::any::type_name::<J>(), J::KIND);
        return Err(Error::internal(format!("the job `{name}` (kind {kind:?}) is not among jobs![...]")));
    };
    let (payload, now) = (serde_json::to_string(&order.job)?, jobs.now());
    let at = order.due.millis(now);
    let new = New {
        kind: J::KIND,
        queue: kind.queue,
        priority: order.priority.number(),
        at,
        created: now,
        payload: &payload,
    };
    let unique = order.unique.as_ref().map(|(key, period)| (&**key, now.saturating_add(millis(*period))));
    match (transaction, unique) {
        (Some(transaction), unique) => insert(transaction, jobs, &new, unique).await,
        (None, None) => {
            let row = db.one(jobs.store().insert(&new)).await?;
            jobs.wake.wake();
            Ok(row.map(|(id, _)| id))
        }
        (None, unique) => {
            let transaction = db.transaction().await?;
            let id = insert(&transaction, jobs, &new, unique).await?;
            transaction.commit().await?;
            Ok(id)
        }
    }
}

/// Inserts it in a transaction, which wakes who runs it once it is committed.
async fn insert(db: &Transaction, jobs: &Jobs, new: &New<'_>, unique: Option<(&str, i64)>) -> Result<Option<i64>> {
    if let Some((key, until)) = unique
        && !jobs.store().take_key(db, key, until, new.created).await?
    {
        return Ok(None);
    }
    let row = db.one(jobs.store().insert(new)).await?;
    let wake = Arc::clone(&jobs.wake);
    db.after_commit(move || wake.wake());
    Ok(row.map(|(id, _)| id))
}

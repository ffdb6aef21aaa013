//! Enqueues jobs, and cancels them.

use std::future::Future;
use std::sync::Arc;

use skep::mail::Mail;
use skep::sql::{Local, Transaction, query};
use skep::{Cx, Result, Work};

use crate::batch::{Batch, UntypedOrder};
use crate::cx::JobCx;
use crate::job::{Job, Order};
use crate::jobs::Jobs;
use crate::mail::DeliverMail;
use crate::schema::HELD;
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
        let order = UntypedOrder::from(job.into());
        async move { enqueue(self.job_context(), &order).await }
    }

    /// The same in a transaction that is not the request's: of [`Local::transaction`].
    fn later_in<J: Job>(
        &self,
        db: &Transaction,
        job: impl Into<Order<J>>,
    ) -> impl Future<Output = Result<Option<i64>>> {
        let order = UntypedOrder::from(job.into());
        async move { enqueue(JobContext { transaction: Some(db), ..self.job_context() }, &order).await }
    }

    /// Enqueues a [batch](Batch), all of it or nothing: in the transaction of the request if one is open, and otherwise
    /// in one of its own. Gives the number of the job at its end, and `None` if another one has the
    /// [key](Order::unique_for) of that.
    ///
    /// # Errors
    /// As [`later`](Self::later).
    fn later_batch(&self, batch: Batch) -> impl Future<Output = Result<Option<i64>>> {
        async move {
            let JobContext { db, transaction, jobs } = self.job_context();
            if let Some(transaction) = transaction {
                return insert_batch(transaction, jobs, &batch).await;
            }
            let transaction = db.transaction().await?;
            let id = insert_batch(&transaction, jobs, &batch).await?;
            transaction.commit().await?;
            Ok(id)
        }
    }

    /// Cancels a job: it is deleted. One that is running goes on, and what it writes in its transaction is undone. A
    /// batch goes on without it; without the one at its end, nothing follows it. False if no job has this number any
    /// more.
    fn cancel_job(&self, id: i64) -> impl Future<Output = Result<bool>> {
        async move {
            let JobContext { db, transaction, jobs } = self.job_context();
            let (delete, wake) = (query("delete from skep_job where id = ?", id).own(), Arc::clone(&jobs.wake));
            // It may have been the last one of a batch.
            let changes = match transaction {
                Some(transaction) => {
                    transaction.after_commit(move || wake.wake());
                    transaction.execute(delete).await?
                }
                None => {
                    let changes = db.execute(delete).await?;
                    wake.wake();
                    changes
                }
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

async fn enqueue(context: JobContext<'_>, order: &UntypedOrder) -> Result<Option<i64>> {
    let JobContext { db, transaction, jobs } = context;
    let new = order.row(jobs)?;
    match transaction {
        Some(transaction) => insert(transaction, jobs, &new).await,
        None if new.unique.is_none() => {
            let row = db.one(jobs.store().insert(&new)).await?;
            jobs.wake.wake();
            Ok(row.map(|(id, _)| id))
        }
        None => {
            let transaction = db.transaction().await?;
            let id = insert(&transaction, jobs, &new).await?;
            transaction.commit().await?;
            Ok(id)
        }
    }
}

/// Inserts it in a transaction, which wakes who runs it once it is committed.
async fn insert(db: &Transaction, jobs: &Jobs, new: &New<'_>) -> Result<Option<i64>> {
    if let Some((key, until)) = new.unique
        && !jobs.store().take_key(db, key, until, new.created).await?
    {
        return Ok(None);
    }
    let row = db.one(jobs.store().insert(new)).await?;
    let wake = Arc::clone(&jobs.wake);
    db.after_commit(move || wake.wake());
    Ok(row.map(|(id, _)| id))
}

async fn insert_batch(db: &Transaction, jobs: &Jobs, batch: &Batch) -> Result<Option<i64>> {
    let last = New { state: HELD, ..batch.last.row(jobs)? };
    let Some(id) = insert(db, jobs, &last).await? else { return Ok(None) };
    let mut is_empty = true;
    for order in &batch.jobs {
        let new = New { batch: Some(id), ..order.row(jobs)? };
        is_empty &= insert(db, jobs, &new).await?.is_none();
    }
    if is_empty {
        jobs.store().end_empty_batch(db, id).await?;
    }
    Ok(Some(id))
}

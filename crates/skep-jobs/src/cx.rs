//! What a job sees while it runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skep::fetch::{FetchError, FetchRequest, FetchResponse};
use skep::mail::{Failure, Mail};
use skep::sql::{self, query};
use skep::{Result, Site, Work};

use crate::schema::DEAD;
use crate::store::Claimed;

/// One attempt at a job, as the job sees it.
pub struct JobCx<'r> {
    pub(crate) work: &'r Work,
    pub(crate) site: &'r Arc<Site>,
    pub(crate) claimed: &'r Claimed,
    pub(crate) attempts: u32,
}

impl JobCx<'_> {
    /// The number of the job: the same at each attempt, and never given to another job of this database.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.claimed.id
    }

    /// A key for what the job asks other systems to do (`Idempotency-Key`): the same at each attempt, and of no other
    /// job. Letters, digits and `-`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("job-{}-{:x}", self.claimed.id, self.claimed.created)
    }

    /// Which attempt this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        u32::try_from(self.claimed.attempt).unwrap_or(u32::MAX)
    }

    /// True if there is no other attempt after this one.
    #[must_use]
    pub fn is_last_attempt(&self) -> bool {
        self.attempt() >= self.attempts
    }

    /// When it was due. Of one that a [schedule](crate::Jobs::cron) has enqueued, the moment of the schedule.
    #[must_use]
    pub fn due(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.claimed.at.cast_unsigned())
    }

    /// How many jobs of the [batch](crate::Batch) whose end this one is are dead letters now; 0 at the end of none.
    ///
    /// # Errors
    /// Of the database.
    pub async fn dead_in_batch(&self) -> Result<u64> {
        let count = query("select count(*) from skep_job where batch = ? and state = ?", (self.id(), DEAD)).own();
        Ok(self.db().one::<i64>(count).await?.unwrap_or_default().cast_unsigned())
    }

    /// The application: settings, state, absolute links.
    #[must_use]
    pub fn site(&self) -> &Site {
        self.site
    }

    /// The database.
    #[must_use]
    pub fn db(&self) -> &sql::Local {
        self.work.db()
    }

    /// The transaction of this attempt, begun by the first call. It commits if the job is done, together with the note
    /// that it is: what it writes happens exactly once, also if the process is killed. Other writers of SQLite wait
    /// while it is open, so do nothing slow in it.
    pub async fn transaction(&self) -> Result<&sql::Transaction> {
        self.work.transaction().await
    }

    /// Sends a mail, and waits until a mail server has taken it over. Each attempt of the job sends it with the same
    /// Message-ID, unless the mail has one; a job that sends several gives each its own ([`Mail::id`]).
    pub async fn send_mail(&self, mail: Mail) -> Result<(), Failure> {
        let mail = if mail.id.is_none() { mail.id(self.key()) } else { mail };
        self.work.send_mail(mail).await
    }

    /// Sends a request to another server: as [`Cx::fetch`](skep::Cx::fetch).
    pub async fn fetch(&self, request: impl Into<FetchRequest>) -> Result<FetchResponse, FetchError> {
        self.work.fetch(request).await
    }

    /// Runs work that blocks or computes for long on the thread pool for blocking work: other jobs share this thread.
    pub async fn offload<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.work.offload(work).await
    }
}

skep_units::opaque_debug!(JobCx<'_>);

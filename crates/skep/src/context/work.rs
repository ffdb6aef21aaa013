//! Work outside of a request: jobs, and what is mounted.
//!
//! [`Work`] has what of a request's context does not need a request: database, transaction, mail, requests to other
//! servers.

use std::cell::OnceCell;

use crate::context::cx::fetch::send;
use crate::context::resources::{Thread, ThreadResources};
use crate::host::mail::{Delivery, Mail};
use crate::offload::offload;
use crate::sql;
use skep_http::error::Result;
use skep_http::ext::FetchRequestExt as _;
use skep_http::fetch::{FetchError, FetchRequest, FetchResponse};

/// One piece of work outside of a request, tied to its thread: [`LocalSite::work`](crate::LocalSite::work), and of a
/// [mount](crate::mount::Mounted).
///
/// ```
/// # use std::sync::Arc;
/// use skep::sql::query;
/// # async fn example(site: &Arc<skep::Site>) -> skep::Result<()> {
/// let work = site.local().work();
/// work.transaction().await?.execute(query("update visit set closed = ?", true)).await?;
/// work.commit().await
/// # }
/// ```
pub struct Work {
    thread: Thread,
    /// Made by the first who asks: most requests of mounts need none.
    resources: OnceCell<Box<ThreadResources>>,
}

impl Work {
    pub(crate) fn new(resources: &ThreadResources) -> Self {
        Self { thread: resources.thread(), resources: OnceCell::new() }
    }

    fn resources(&self) -> &ThreadResources {
        self.resources.get_or_init(|| Box::new(self.thread.resources()))
    }

    /// True if the application has a database.
    #[must_use]
    pub fn has_database(&self) -> bool {
        self.resources().has_database()
    }

    /// The database.
    ///
    /// # Panics
    /// If the application has none: [`App::database`](crate::App::database).
    #[must_use]
    pub fn db(&self) -> &sql::Local {
        self.resources().db()
    }

    /// The transaction of this work, begun by the first call. [`commit`](Self::commit) keeps what it wrote; it is
    /// undone if the work is dropped.
    ///
    /// # Panics
    /// If the application has no database: [`App::database`](crate::App::database).
    pub async fn transaction(&self) -> Result<&sql::Transaction> {
        let transaction = self.resources().transaction();
        transaction.ensure_begun().await?;
        Ok(transaction)
    }

    /// The transaction, if it is open.
    #[must_use]
    pub fn open_transaction(&self) -> Option<&sql::Transaction> {
        self.resources().open_transaction()
    }

    /// Commits the transaction, if it is open.
    pub async fn commit(&self) -> Result<()> {
        match self.open_transaction() {
            Some(transaction) => Ok(transaction.keep_changes().await?),
            None => Ok(()),
        }
    }

    /// Undoes the transaction, if it is open.
    pub fn undo(&self) {
        if let Some(transaction) = self.open_transaction() {
            transaction.undo();
        }
    }

    /// The value of this type that was given to [`App::state`](crate::App::state).
    ///
    /// # Panics
    /// If there is no such state.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.resources().shared().value()
    }

    /// Sends a mail. The future completes when a mail server has taken it over, or with the reason why not.
    pub fn send_mail(&self, mail: Mail) -> Delivery {
        self.resources().shared().send_mail(mail)
    }

    /// Sends a request to another server: see [`Cx::fetch`](crate::Cx::fetch).
    pub async fn fetch(&self, request: impl Into<FetchRequest>) -> Result<FetchResponse, FetchError> {
        let shared = self.resources().shared();
        let (request, bounds) = request.into().into_http(shared.setup.fetch, None)?;
        send(shared, request, bounds).await
    }

    /// Runs work that blocks or computes for long on the thread pool for blocking work: see
    /// [`Cx::offload`](crate::Cx::offload).
    pub async fn offload<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        Ok(offload(&*self.resources().shared().setup.offload, work).await?)
    }
}

skep_units::opaque_debug!(Work);

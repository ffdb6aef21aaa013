//! What PostgreSQL alone has: channels, and a replica.

use super::error::{Error, Result};
use super::postgres::{Notifications, PoolHandle};
use super::{Database, Local};

impl Local {
    /// Listens on a channel of PostgreSQL: what anybody says there from now on, by `notify` or `pg_notify`, in whatever
    /// process, machine or program. With the feature `postgres`.
    ///
    /// A handler that listens first and then reads the database misses no change. All who listen on a thread share one
    /// connection, which is opened again when it is lost. Then, and when more than
    /// [`notifications`](super::Options::notifications) wait to be taken, the next one is
    /// [`Missed`](super::Notification::Missed).
    ///
    /// ```
    /// use skep_sql::{Local, Notification};
    ///
    /// async fn news(db: &Local) -> skep_sql::Result<()> {
    ///     let mut notifications = db.listen("news").await?;
    ///     loop {
    ///         match notifications.next().await {
    ///             Notification::Said(news) => println!("{news}"),
    ///             Notification::Missed => println!("read all of it again"),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// If PostgreSQL cannot be reached, the name is longer than 63 bytes, or the database is SQLite.
    pub async fn listen(&self, channel: &str) -> Result<Notifications> {
        listen(self.engine.postgres(), channel).await
    }
}

impl Database {
    /// Listens on a channel of PostgreSQL: [`Local::listen`].
    ///
    /// # Errors
    /// If PostgreSQL cannot be reached, the name is longer than 63 bytes, or the database is SQLite.
    pub async fn listen(&self, channel: &str) -> Result<Notifications> {
        listen(self.backend.postgres(), channel).await
    }
}

/// For `skep`.
#[doc(hidden)]
impl Local {
    /// The same handle, whose reads may go to the replica if that has the log of writes up to this position.
    #[must_use]
    pub fn replica(&self, position: u64) -> Self {
        let mut replica = self.clone();
        if let Some(handle) = self.engine.postgres() {
            replica.engine = handle.replica(position).into();
        }
        replica
    }

    pub fn has_replica(&self) -> bool {
        self.engine.postgres().is_some_and(PoolHandle::has_replica)
    }

    /// A position in the log of writes behind all that the request has written, if it has and there is a replica.
    pub fn written(&self) -> Option<u64> {
        self.engine.postgres().and_then(PoolHandle::written)
    }
}

async fn listen(handle: Option<&PoolHandle>, channel: &str) -> Result<Notifications> {
    let handle = handle.ok_or_else(|| Error::other("`listen` is for PostgreSQL, and the database is SQLite"))?;
    handle.pool().listen(channel).await
}

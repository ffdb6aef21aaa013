//! Databases beside the first one, and its replica.

use super::Cx;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
use crate::context::resources::WRITTEN_COOKIE;
use crate::sql;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
use skep_http::cookie;

impl Cx<'_> {
    /// One of the databases beside [`db`](Self::db). An example is at [`NamedDatabase`](sql::NamedDatabase).
    ///
    /// [`Cx::transaction`](Self::transaction) is of the first one; this one's are begun by its handle
    /// ([`Local::transaction`](sql::Local::transaction)).
    ///
    /// # Panics
    /// If the application does not have it: [`App::database_of`](crate::App::database_of).
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn db_of<D: sql::NamedDatabase>(&self) -> sql::Local {
        self.shared.db_of::<D>()
    }

    /// The database, for reads that need not be of this moment: they go to the replica that the setting
    /// `database_replica` names, if that has all that this user has written, and is not further behind than
    /// `database_replica_lag`. What it writes goes to the database itself, and so do reads if there is no replica.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/archive")]
    /// struct Archive;
    ///
    /// impl Handle for Archive {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let titles = cx.replica().all::<String>("select title from article order by title limit 100").await?;
    ///         Ok(Response::text(titles.join("\n")))
    ///     }
    /// }
    /// ```
    ///
    /// What goes into a cache is read by [`db`](Self::db): it would stay as old as it was. A user is known by a cookie,
    /// `skep-written`, that their writes leave for a minute and the lag; a client without cookies may find what it has
    /// written a moment later.
    ///
    /// # Panics
    /// If the application has no database: [`App::database`](crate::App::database).
    #[must_use]
    pub fn replica(&self) -> sql::Local {
        #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
        if self.db().has_replica() && !self.is_repeated() {
            let place = cookie::find(self.fields(), WRITTEN_COOKIE);
            return self.db().replica(place.and_then(|place| u64::from_str_radix(place, 16).ok()).unwrap_or(0));
        }
        self.db().clone()
    }
}

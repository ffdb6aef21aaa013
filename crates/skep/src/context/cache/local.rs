//! What this process alone has in its caches, and another one has written to.

use std::sync::Arc;

use super::Caches;
use crate::sql::{self, ANY_TABLE};
use skep_http::error::Result;

/// The caches of a process that no other one invalidates: [`Site::local_caches`](crate::Site::local_caches).
#[derive(Clone)]
pub struct LocalCaches {
    caches: Arc<Caches>,
    /// The ids of the tags of all tables.
    tables: Arc<[u64]>,
}

skep_units::opaque_debug!(LocalCaches);

impl LocalCaches {
    pub(crate) fn new(caches: &Arc<Caches>, database: &sql::Database) -> sql::Result<Self> {
        let mut tables = caches.tag_ids_of(database.tables()?.iter().map(String::as_str));
        tables.extend(caches.tag_ids_of([ANY_TABLE]));
        Ok(Self { caches: Arc::clone(caches), tables: tables.into() })
    }

    /// Invalidates what was made of the tables whose tags' ids are meant, in tiers that are in the memory of this
    /// process alone. Tiers that processes share were invalidated by the one that has written. Never waits.
    ///
    /// # Errors
    /// Of a cache.
    pub fn invalidate(&self, is_written: impl Fn(u64) -> bool) -> Result<()> {
        let written: Vec<u64> = self.tables.iter().copied().filter(|tag| is_written(*tag)).collect();
        skep_cache::driver::block_on(self.caches.invalidate_local(&written))
    }

    /// True if a tier is shared, of whose invalidations this process may learn a second later.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.caches.are_shared()
    }
}

//! The storage of an application, mounted in one line.

use std::time::Duration;

use skep::{App, services};

use crate::link::FileLink;
use crate::schema;
use crate::settings::StorageSettings;
use crate::storage::Opened;
use crate::sweep::{remove_deleted, remove_orphans};

/// Gives an application a place for its files.
pub trait StorageApp {
    /// Mounts the storage: the settings `storage.*`, the table `skep_file`, the path of links (`/-/files`), and what
    /// removes files that no transaction has. The application needs a database
    /// ([`App::database`](skep::App::database)). An example is at the [crate](crate).
    #[must_use]
    fn storage(self) -> Self;
}

/// How often files are removed whose transaction says so.
const DELETED: Duration = Duration::from_mins(1);

/// How often files are sought that no transaction has.
const ORPHANS: Duration = Duration::from_mins(10);

impl StorageApp for App {
    fn storage(self) -> Self {
        self.settings::<StorageSettings>()
            .tables(schema::SQLITE, schema::POSTGRES)
            .state(Opened::default())
            .on_start(|site| site.state::<Opened>().open(site))
            .serve(services![FileLink])
            .every("deleted files", DELETED, remove_deleted)
            .every("orphaned files", ORPHANS, remove_orphans)
    }
}

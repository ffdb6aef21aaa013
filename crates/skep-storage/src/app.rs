//! The storage of an application, mounted in one line.

use std::time::Duration;

use skep::settings::RawValue;
use skep::{App, Setup, StartError, services};

use crate::link::FileLink;
use crate::schema;
use crate::settings::StorageSettings;
use crate::storage::{OF_ONE_MACHINE, Opened};
use crate::sweep::{remove_deleted, remove_orphans};

/// Gives an application a place for its files.
pub trait StorageApp {
    /// Mounts the storage: the settings `storage.*`, the table `skep_file`, the path of links (`/-/files`), and what
    /// removes files that no transaction has. The application needs a database
    /// ([`App::database`](skep::App::database)). An example is at the [crate](crate).
    #[must_use]
    fn storage(self) -> Self;
}

/// What `--check` knows of the place that the settings name.
fn check(setup: &Setup) -> Result<Vec<String>, StartError> {
    // A later source wins.
    let at = setup.settings.iter().rfind(|setting| setting.name == "storage.at").map(|setting| &setting.value);
    let is_folder = at.is_none_or(|at| !matches!(at, RawValue::Text(at) if at.starts_with("s3:")));
    if setup.cluster && is_folder { Err(StartError::new(OF_ONE_MACHINE)) } else { Ok(Vec::new()) }
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
            .on_check(check)
            .serve(services![FileLink])
            .every("deleted files", DELETED, remove_deleted)
            .every("orphaned files", ORPHANS, remove_orphans)
    }
}

//! Opens a file of SQLite.

use std::path::Path;
use std::sync::Arc;

use super::Database;
use crate::migrations::{Migrations, Steps};
use crate::offload::Offload;
use crate::open_error::OpenError;
use crate::options::Options;
use crate::sqlite::File;
use crate::sqlite::open::{check, check_careful, describe_migrations};
use crate::sqlite::shared::{PerProcess, TemporaryFolder};

impl Database {
    /// Opens the file, creates it and its directory if need be, and runs the migrations it lacks.
    ///
    /// This may wait: for other processes that do the same, and for the disk. `offload` is where slow queries and all
    /// writes will run.
    pub fn open(
        path: impl AsRef<Path>,
        migrations: &Migrations,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<Self, OpenError> {
        PerProcess::open(None, path.as_ref(), &migrations.steps(), options, offload).map(Self::of_file)
    }

    /// Says what [`open`](Self::open) would find wrong with this file: that it is no database, is from a newer version,
    /// or that a migration was edited after it ran. Nothing is run or changed, and a missing file is no problem.
    pub fn check(path: impl AsRef<Path>, migrations: &Migrations) -> Result<(), OpenError> {
        check(path.as_ref(), &migrations.steps())
    }

    /// Says what [`open`](Self::open) would do that another version of the program, which uses this file meanwhile, may
    /// not work with: run a migration that does more than add. Nothing is run or changed.
    pub fn check_careful(path: impl AsRef<Path>, migrations: &Migrations) -> Result<(), OpenError> {
        check_careful(path.as_ref(), &migrations.steps())
    }

    /// A database for tests: a new file in the system's temporary directory, removed with the last handle to it. It is
    /// a file and not memory because only so several connections see the same data as they do in earnest.
    pub fn temporary(migrations: &Migrations, offload: Arc<dyn Offload>) -> Result<Self, OpenError> {
        let folder = TemporaryFolder::new()?;
        let path = folder.database();
        let options = Options { durable: false, ..Options::new() };
        PerProcess::open(Some(folder), &path, &migrations.steps(), options, offload).map(Self::of_file)
    }

    fn of_file(shared: Arc<PerProcess>) -> Self {
        Self::of(File::from(shared))
    }
}

/// For `skep`, and for hosts of components.
#[doc(hidden)]
impl Database {
    /// A line for each migration, for people: when it ran in this file, or that it is pending. Nothing is run or
    /// changed.
    pub fn describe_migrations(path: &Path, migrations: &Migrations) -> Result<Vec<String>, OpenError> {
        describe_migrations(path, &migrations.steps())
    }

    /// Opens the database of a component as [`open`](Self::open) does one of ours, for statements that are not trusted.
    /// With `carefully`, another version uses it meanwhile; with `temporary`, it is only looked at, and the one that is
    /// opened is a new one.
    pub fn open_for_guests(
        path: &Path,
        migrations: &[(u32, String, String)],
        options: Options,
        offload: Arc<dyn Offload>,
        (carefully, temporary): (bool, bool),
    ) -> Result<Self, OpenError> {
        let steps = Steps::of_guest(migrations);
        let options = options.for_guests();
        if temporary {
            check(path, &steps)?;
            let folder = TemporaryFolder::new()?;
            let path = folder.database();
            let options = Options { durable: false, ..options };
            return PerProcess::open(Some(folder), &path, &steps, options, offload).map(Self::of_file);
        }
        if carefully {
            check_careful(path, &steps)?;
        }
        PerProcess::open(None, path, &steps, options, offload).map(Self::of_file)
    }
}

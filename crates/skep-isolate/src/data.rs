//! The data of an application: its database, caches, keys and files.
//!
//! Each application has a folder of its own in the server's data directory: `DATA/NAME` holds its database, sessions
//! and keys, and `DATA/NAME/files` is what it sees as `/data`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use skep::cache::Tiers;
use skep::settings::RawSetting;
use skep::{Secret, Setup};

use crate::error::Error;
use crate::services::{Application, Taken, Version};
use crate::state::Dir;

/// The data of an application, opened for its first version and shared by all that follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppData {
    server: Arc<OnceLock<ServerSettings>>,
    application: Arc<OnceLock<Arc<Application>>>,
}

/// The settings of the server that its applications share.
#[derive(Clone, Debug)]
pub(crate) struct ServerSettings {
    pub(crate) setup: Setup,
    /// A new version may run migrations that do more than add.
    pub(crate) allow_breaking: bool,
    /// Which application has opened which database of PostgreSQL.
    pub(crate) taken: Taken,
}

impl ServerSettings {
    /// For a check, which changes nothing in the data directory: databases there are copied to temporary ones. One of
    /// PostgreSQL is made beside the one with this address.
    pub(crate) fn for_check(data: PathBuf, settings: Vec<RawSetting>, database: Option<Secret<String>>) -> Self {
        let mut setup = Setup::default();
        setup.data = data;
        setup.database = database;
        setup.temporary_database = true;
        setup.settings = settings;
        // As a server has it that is not told otherwise.
        setup.notices = true;
        Self { setup, allow_breaking: false, taken: Taken::default() }
    }
}

/// What the data of an application is opened with.
pub(crate) struct DataOptions<'o> {
    pub(crate) name: &'o str,
    /// Names and tiers of its caches.
    pub(crate) caches: &'o [(String, Vec<String>)],
    /// The names of the settings that it declares.
    pub(crate) declared: &'o [String],
    /// The most bytes of its database.
    pub(crate) database_size: u64,
    /// The address of its database of PostgreSQL, if it has one for itself.
    pub(crate) database: Option<&'o Secret<String>>,
}

/// The path at which an application sees the folder of its files.
pub(crate) const FOLDER: &str = "/data";
/// That folder on the host. The database and the keys next to it belong to the host, which maps them into its memory
/// and trusts their contents.
const FILES: &str = "files";

/// A version, and the environment and the folders of its instances.
type Opened = (Option<Arc<Version>>, Vec<(String, String)>, Vec<Dir>);

impl AppData {
    /// Sets the server's settings. Without them an application has no data.
    pub(crate) fn begin(&self, server: ServerSettings) {
        let _ = self.server.set(server);
    }

    /// True if nothing may be changed.
    pub(crate) fn is_check(&self) -> bool {
        self.server.get().is_some_and(|server| server.setup.temporary_database)
    }

    /// Opens the data for a version of the application `name`, and adds what its instances need for it to environment
    /// and folders.
    pub(crate) fn open(
        &self,
        options: &DataOptions<'_>,
        env: Vec<(String, String)>,
        mut dirs: Vec<Dir>,
    ) -> Result<Opened, Error> {
        let Some(server) = self.server.get() else {
            return Ok((None, env, dirs));
        };
        let application = match self.application.get() {
            Some(application) => Arc::clone(application),
            None => {
                let made = application(options, server)?;
                Arc::clone(self.application.get_or_init(|| made))
            }
        };
        let files = application.hosted.setup().data.join(FILES);
        let may_write = !server.setup.temporary_database;
        if dirs.iter().all(|dir| dir.guest != FOLDER) && (may_write || files.is_dir()) {
            dirs.push(Dir { host: files, guest: FOLDER.to_owned(), may_write });
        }
        Ok((Some(application.version()), with(application.hosted.environment(), env), dirs))
    }
}

fn application(options: &DataOptions<'_>, server: &ServerSettings) -> Result<Arc<Application>, Error> {
    let mut setup = server.setup.clone();
    setup.data = folder(&server.setup.data, options.name)?;
    setup.sql = setup.sql.max_bytes(options.database_size);
    if let Some(address) = options.database {
        setup.database = Some(address.clone());
    }
    setup.settings.retain(|raw| options.declared.contains(&raw.name));
    if !setup.temporary_database {
        let files = setup.data.join(FILES);
        std::fs::create_dir_all(&files)
            .map_err(|error| Error::io(format!("the data folder {}", files.display()), error))?;
    }
    for (name, tiers) in options.caches {
        let tiers = Tiers::parse(tiers).map_err(|error| Error::Invalid(format!("cache {name}: {error}")))?;
        setup.caches.insert(name.clone(), tiers);
    }
    let data = setup.data.clone();
    Application::new(options.name, setup, server.allow_breaking, server.taken.clone())
        .map_err(|error| Error::Invalid(format!("the data in {}: {error}", data.display())))
}

/// The folder of an application.
pub(crate) fn folder(data: &Path, name: &str) -> Result<PathBuf, Error> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        return Err(Error::Invalid(format!(
            "an application named {name:?} can have no folder for data: expected a name without slashes, and without a dot at \
             its beginning"
        )));
    }
    Ok(data.join(name))
}

/// Refuses two applications with one folder: each would have the other's data. Only links and letter case can lead
/// there.
pub(crate) fn ensure_distinct_data_dirs<'n>(data: &Path, names: impl Iterator<Item = &'n str>) -> Result<(), Error> {
    let mut folders: Vec<(PathBuf, &str)> = Vec::new();
    for name in names {
        let folder = folder(data, name)?;
        // A folder that does not exist yet is shared if names differ by case only and the file system ignores case.
        let real = folder.canonicalize().unwrap_or_else(|_| PathBuf::from(folder.to_string_lossy().to_lowercase()));
        if let Some((_, other)) = folders.iter().find(|(known, _)| *known == real) {
            return Err(Error::Invalid(format!(
                "{other} and {name} would share the folder {}: give each application a folder of its own",
                real.display()
            )));
        }
        folders.push((real, name));
    }
    Ok(())
}

/// Configured variables override our own.
fn with(ours: Vec<(String, String)>, configured: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all: Vec<_> =
        ours.into_iter().filter(|(name, _)| configured.iter().all(|(other, _)| other != name)).collect();
    all.extend(configured);
    all
}

#[cfg(test)]
#[path = "../tests/unit/data.rs"]
mod tests;

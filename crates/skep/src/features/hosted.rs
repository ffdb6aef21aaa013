//! What a host of components needs of this crate: an application's database, caches, sessions and keys, kept as a
//! native application keeps them, for a program that runs elsewhere. `skep-isolate` is its only user.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use skep_cache::Change;
use skep_settings::Group;
use skep_units::lock;

use crate::application::app::{App, keys_of};
use crate::application::site::Site;
use crate::context::cache::Backend;
use crate::context::session::SESSIONS;
use crate::context::setup::Setup;
use crate::contract::guard::limit::count_hosted;
use crate::security::secret::Secret;
use crate::settings::{self, RawSetting};
use crate::sql::{Blocking, Database};
use skep_http::error::{Error, Result};

pub use skep_http::quota::{Quota, Share};

/// What is kept for one application.
pub struct Hosted {
    site: Site,
    /// Of the application in the component: the host does not read them.
    settings: Vec<RawSetting>,
    /// Where sessions are that nobody has configured: a file that is opened once.
    sessions: OnceLock<Opened>,
}

/// A driver, and whether writing to it waits for a disk.
type Opened = (Arc<Backend>, bool);

/// The cache for all that have no tiers of their own.
const DEFAULT: &str = "default";
/// The file of the database in the data folder.
const DATABASE: &str = "database.sqlite";

impl Hosted {
    /// For the application of this name.
    ///
    /// # Errors
    /// If its caches cannot be opened.
    pub fn new(name: &str, mut setup: Setup) -> Result<Self> {
        let settings = std::mem::take(&mut setup.settings);
        let site =
            App::new().name(lasting(name), "").open(setup).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self { site, settings, sessions: OnceLock::new() })
    }

    /// Where the application was set up.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        self.site.setup()
    }

    /// The driver of the cache with this name, and whether writing to it waits for a disk. The first time it may itself
    /// wait for one.
    pub fn cache(&self, place: &str) -> Result<Opened> {
        let configured = self.site.resources.caches.configured(place)?;
        match configured {
            Some(configured) => Ok(configured),
            None if place == SESSIONS => {
                if let Some(opened) = self.sessions.get() {
                    return Ok(opened.clone());
                }
                let (place, blocks) = self.site.resources.sessions.usual_place()?;
                Ok(self.sessions.get_or_init(|| (Arc::new(place), blocks)).clone())
            }
            None => self.site.resources.caches.usual_place(),
        }
    }

    /// True if [`cache`](Self::cache) waits for nothing: the driver is open.
    #[must_use]
    pub fn is_open(&self, place: &str) -> bool {
        let is_usual_session = place == SESSIONS && !self.setup().caches.contains_key(SESSIONS);
        if is_usual_session { self.sessions.get().is_some() } else { self.site.resources.caches.is_open(place) }
    }

    /// The names of all caches that have tiers of their own, and of the one for all others.
    pub fn caches(&self) -> impl Iterator<Item = &str> {
        self.setup().caches.keys().map(String::as_str).filter(|name| *name != DEFAULT).chain([DEFAULT])
    }

    /// Counts for an instance, as `guard::limit` and `rate` count: in the table, unless the cache of this name is
    /// configured. The microseconds to wait, or 0.
    pub async fn count(&self, place: &str, key: &str, change: Change, network: &[u8]) -> Result<u64> {
        let allowed = count_hosted(&self.site.resources, place, key, change, network).await?;
        Ok(allowed.map_or_else(|wait| u64::try_from(wait.as_micros()).unwrap_or(u64::MAX).max(1), |()| 0))
    }

    /// The keys that seal what browsers keep, as they stand in their file.
    pub fn keys(&self) -> Result<String> {
        keys_of(self.setup()).checked_text()
    }

    /// Opens the database, and runs what it lacks of the migrations (number, name of the file, text) and these
    /// statements. With `carefully`, another version uses it meanwhile. It may wait for the disk.
    pub fn open_database(
        &self,
        migrations: &[(u32, String, String)],
        tables: &[String],
        carefully: bool,
    ) -> Result<Database, String> {
        let setup = self.setup();
        let how = (carefully, setup.temporary_database);
        let database = match &setup.database {
            Some(address) => open_postgres(address, migrations, setup, how)?,
            None => {
                let (path, offload) = (setup.data.join(DATABASE), Arc::clone(&setup.offload));
                let database = Database::open_for_guests(&path, migrations, setup.sql.clone(), offload, how);
                database.map_err(|error| error.to_string())?
            }
        };
        let make = |db: &mut Blocking<'_>| tables.iter().try_for_each(|table| db.execute(table).map(drop));
        if !tables.is_empty() {
            database.write(|db| db.transaction(make)).map_err(|error| error.to_string())?;
        }
        Ok(database)
    }

    /// The settings of the application, as its environment has them: `wit/skep.wit`. That its host is Skep, the host
    /// says.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let level = tracing::level_filters::LevelFilter::current().into_level();
        let own = [
            level.map(|level| ("SKEP_LOG", level.as_str().to_ascii_lowercase())),
            (!self.settings.is_empty()).then(|| (settings::VARIABLE, settings::encode(&self.settings))),
        ];
        let variables = own.into_iter().flatten().chain(self.setup().variables());
        variables.map(|(name, text)| (name.to_owned(), text)).collect()
    }
}

#[cfg(feature = "postgres")]
fn open_postgres(
    address: &Secret<String>,
    migrations: &[(u32, String, String)],
    setup: &Setup,
    how: (bool, bool),
) -> Result<Database, String> {
    let (options, offload) = (setup.sql.clone(), Arc::clone(&setup.offload));
    let database = Database::open_postgres_for_guests(address.reveal(), migrations, options, offload, how);
    database.map_err(|error| error.to_string())
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(
    _: &Secret<String>,
    _: &[(u32, String, String)],
    _: &Setup,
    _: (bool, bool),
) -> Result<Database, String> {
    Err("the setting `database` names PostgreSQL, which needs the cargo feature `postgres` of skep-isolate".to_owned())
}

/// A name that a native program has in its executable, and settings say of a component. Each is kept once, however
/// often it is opened.
fn lasting(text: &str) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = lock(&KEPT);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(text) {
        return known;
    }
    let lasting: &'static str = String::leak(text.to_owned());
    kept.insert(lasting);
    lasting
}

skep_units::opaque_debug!(Hosted, data: site.resources.setup.data);

//! The settings that an application starts with, and start-up errors.

mod folder;
mod limits;
pub(crate) mod websocket;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::context::cache::{Clock, Tiers};
use crate::context::session;
use crate::host::mail::Mailer;
use crate::link::BaseUrl;
use crate::offload::{Inline, Offload};
use crate::security::access_rule::AccessRule;
use crate::security::secret::Secret;
use crate::settings::RawSetting;
#[cfg(not(target_family = "wasm"))]
use crate::sql;
pub(crate) use folder::TemporaryFolder;
pub use limits::Limits;
use skep_http::compression;
use skep_http::ext::OptionsExt as _;
use skep_http::fetch::{self, Fetcher};

/// The settings of an application. A server fills them in; [`Setup::default`] suits tests: it keeps nothing, and
/// touches no file of the application.
#[derive(Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Setup {
    /// The data directory. Empty, as by default, it is a temporary one, removed at the end, and so is the database if
    /// [`database`](Self::database) names none: no test touches what the application keeps.
    pub data: PathBuf,
    /// The address of a database of PostgreSQL, `postgres://USER:PASSWORD@HOST/NAME`, instead of the SQLite file in
    /// [`data`](Self::data). Needs the feature `postgres`.
    pub database: Option<Secret<String>>,
    /// The addresses of databases of PostgreSQL, by the names of [`NamedDatabase`](crate::sql::NamedDatabase); of the
    /// others, the files are in [`data`](Self::data).
    pub databases: HashMap<String, Secret<String>>,
    /// Use a new, temporary database instead of the one in [`data`](Self::data), or beside the one of PostgreSQL.
    pub temporary_database: bool,
    /// The file with the keys that encrypt cookies and tokens, one per line. Default: `secret` in [`data`](Self::data),
    /// or temporary keys with a [`temporary_database`](Self::temporary_database). Outside of
    /// [`development`](Self::development), a file that is named here must be there.
    pub secret: Option<PathBuf>,
    /// The keys themselves, instead of a file.
    pub secret_keys: Option<Secret<String>>,
    /// Options of the database.
    #[cfg(not(target_family = "wasm"))]
    pub sql: sql::Options,
    /// The prefix of absolute URLs; overrides [`App::base_url`](crate::App::base_url).
    pub base_url: Option<BaseUrl>,
    /// Cookies are `Secure` on every connection, not only on those that are known to be encrypted.
    pub secure_cookies: bool,
    /// The tiers of caches by name; `default` applies to all others.
    pub caches: HashMap<String, Tiers>,
    /// Differs between builds of the application: builds do not share entries in caches that several processes use.
    pub build: u32,
    /// What files, variables and flags say about settings that the application declares:
    /// [`App::settings`](crate::App::settings).
    pub settings: Vec<RawSetting>,
    /// New versions may run migrations that the version before cannot work with.
    pub allow_breaking_migration: bool,
    /// Rules of who may reach what, besides those of the application ([`App::access`](crate::App::access)).
    pub access: Vec<AccessRule>,
    /// Lifetimes of sessions.
    pub session: session::Rules,
    /// Compression of responses. No codings by default: the client of tests reads what handlers write.
    pub compression: compression::Options,
    /// WebSockets.
    pub websocket: websocket::Options,
    /// The clock of caches and sessions. Tests use one that they advance.
    pub clock: Clock,
    /// Development mode: error pages show all details.
    pub development: bool,
    /// Limits of a request.
    pub limits: Limits,
    /// Refuse migrations that are incompatible with another version that is still running.
    pub careful: bool,
    /// Several processes serve requests: what one of them remembers in memory is unknown to the others, so one-shot
    /// forms require the database.
    pub several_processes: bool,
    /// Sends requests of handlers to other servers, unless the application has its own
    /// ([`App::fetcher`](crate::App::fetcher)).
    pub fetcher: Option<Arc<dyn Fetcher>>,
    /// What each of these requests may take.
    pub fetch: fetch::Bounds,
    /// Sends mail, before [`App::mailer`](crate::App::mailer).
    pub mailer: Option<Arc<dyn Mailer>>,
    /// Who sends mail that does not say so.
    pub mail_from: Option<String>,
    /// Owners of accounts get mails about what has happened to them, such as a sign-in from a new device.
    pub notices: bool,
    /// Runs blocking work.
    pub offload: Arc<dyn Offload>,
    /// What the host of this component offers.
    #[cfg(target_family = "wasm")]
    pub(crate) host: &'static crate::host::component::functions::Host,
    /// The database of that host is PostgreSQL.
    #[cfg(target_family = "wasm")]
    pub(crate) is_on_postgres: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            data: PathBuf::new(),
            database: None,
            databases: HashMap::new(),
            temporary_database: false,
            secret: None,
            secret_keys: None,
            #[cfg(not(target_family = "wasm"))]
            sql: sql::Options::default(),
            base_url: None,
            secure_cookies: false,
            caches: HashMap::new(),
            build: 0,
            settings: Vec::new(),
            allow_breaking_migration: false,
            access: Vec::new(),
            session: session::Rules::default(),
            // The client of tests reads what handlers write.
            compression: compression::Options::none(),
            websocket: websocket::Options::default(),
            clock: Clock::system(),
            development: false,
            limits: Limits::default(),
            careful: false,
            several_processes: false,
            fetcher: None,
            fetch: fetch::Bounds::default(),
            mailer: None,
            mail_from: None,
            notices: false,
            offload: Arc::new(Inline),
            #[cfg(target_family = "wasm")]
            host: crate::host::component::functions::Host::NONE,
            #[cfg(target_family = "wasm")]
            is_on_postgres: false,
        }
    }
}

impl Setup {
    /// True if nothing is left of the application when it ends.
    pub(crate) fn keeps_nothing(&self) -> bool {
        self.temporary_database || (self.data.as_os_str().is_empty() && self.database.is_none())
    }
}

/// Why an application cannot start: all problems, one per line.
#[derive(Debug)]
pub struct StartError {
    pub(crate) problems: Vec<String>,
}

impl StartError {
    /// One that has this text.
    #[must_use]
    pub fn new(problem: impl Into<String>) -> Self {
        Self { problems: vec![problem.into()] }
    }

    /// The problems.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

skep_units::error_text!(StartError, |error| error.problems.join("\n"));

skep_units::opaque_debug!(Setup, data: data);

#[cfg(test)]
#[path = "../../tests/unit/setup.rs"]
mod tests;

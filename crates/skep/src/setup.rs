//! The settings that an application starts with, and start-up errors.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cache::{Clock, Tiers};
use crate::compression;
use crate::fetch::{self, Fetcher};
use crate::guard::AccessRule;
use crate::link::BaseUrl;
use crate::mail::Mailer;
use crate::offload::{Inline, Offload};
use crate::secret::Secret;
use crate::session;
use crate::settings::RawSetting;
#[cfg(not(target_family = "wasm"))]
use crate::sql;
use crate::websocket;

/// The settings of an application. A server fills them in; [`Setup::default`] suits tests.
#[derive(Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Setup {
    /// The data directory.
    pub data: PathBuf,
    /// The address of a database of PostgreSQL, `postgres://USER:PASSWORD@HOST/NAME`, instead of the SQLite file in [`data`](Self::data).
    /// Needs the feature `postgres`.
    pub database: Option<Secret<String>>,
    /// The addresses of databases of PostgreSQL, by the names of [`NamedDatabase`](crate::sql::NamedDatabase); of the others, the files are in
    /// [`data`](Self::data).
    pub databases: HashMap<String, Secret<String>>,
    /// Use a new, temporary database instead of the one in [`data`](Self::data), or beside the one of PostgreSQL.
    pub temporary_database: bool,
    /// The file with the keys that encrypt cookies and tokens, one per line. Default: `secret` in [`data`](Self::data), or
    /// temporary keys with a [`temporary_database`](Self::temporary_database). Outside of [`development`](Self::development), a file
    /// that is named here must be there.
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
    /// What files, variables and flags say about settings that the application declares: [`App::settings`](crate::App::settings).
    pub settings: Vec<RawSetting>,
    /// New versions may run migrations that the version before cannot work with.
    pub allow_breaking_migration: bool,
    /// Rules of who may reach what, besides those of the application ([`App::access`](crate::App::access)).
    pub access: Vec<AccessRule>,
    /// Lifetimes of sessions.
    pub session: session::Rules,
    /// Compression of responses. None by default: the client of tests reads what handlers write.
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
    /// Several processes serve requests: what one of them remembers in memory is unknown to the others, so one-shot forms require
    /// the database.
    pub several_processes: bool,
    /// Sends requests of handlers to other servers, unless the application has its own ([`App::fetcher`](crate::App::fetcher)).
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
    pub(crate) host: &'static crate::component::Host,
    /// The database of that host is PostgreSQL.
    #[cfg(target_family = "wasm")]
    pub(crate) is_on_postgres: bool,
}

with_defaults! {
    /// Limits of requests.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Limits {
        /// Memory in bytes for the counters of attempts and rates, 8 for each: of sign-ins, mails, rate limits,
        /// sessions and one-shot forms of a client (4 MiB). It is taken as it is used.
        pub counters: u64 = 4 << 20,
        /// Maximum size of a body in bytes, unless the service sets its own (1 MiB).
        pub body: u64 = 1 << 20,
        /// The most bytes of request bodies held in memory at once, by all requests of this process (256 MiB); more are a 503.
        pub bodies: u64 = 256 << 20,
        /// Maximum number of fields of a form (1000).
        pub form_fields: usize = 1000,
        /// Maximum number of filled-in rows of a list in a form (256).
        pub form_rows: usize = 256,
        /// Maximum number of submissions of one-shot forms that this process remembers (100 000): without a database until they
        /// expire, with one only while they are handled. For one more, the oldest form counts as expired.
        pub once: usize = 100_000,
        /// Maximum number of submissions of one-shot forms from one address in a minute (1000); 0 means no limit.
        /// Networks around it have 4 (/56) and 32 times (/48, /24) as many.
        pub once_per_address: u32 = 1000,
        /// Maximum size of a cached page in bytes ([`PublicPage`](crate::cache::PublicPage)), streams included (8 MiB).
        pub page: u64 = 8 << 20,
        /// Maximum number of entries of one type of page or fragment that this process adds to the cache in a minute (10 000); 0 means
        /// no limit. Beyond it they are made for their request alone.
        pub page_variants: u32 = 10_000,
        /// Maximum number of query parameters (1000).
        pub query_parameters: usize = 1000,
        /// Maximum size of a session in bytes: its names, and its values as JSON (64 KiB).
        pub session: usize = 64 << 10,
        /// Maximum number of sessions in the default store, a SQLite file: the least recently used are evicted (1 000 000). The
        /// list of a user's sessions counts as one.
        pub sessions: u64 = 1_000_000,
        /// Maximum number of new sessions from one address in a minute (1000), and from the networks around it as
        /// above; 0 means no limit.
        pub sessions_per_address: u32 = 1000,
        /// Maximum size in bytes of the default store of sessions (1 GiB).
        pub session_store: u64 = 1 << 30,
        /// Maximum number of sessions of one user ([`Session::belongs_to`](crate::session::Session::belongs_to)): the oldest end (100).
        pub user_sessions: usize = 100,
        /// Maximum size of an uploaded file in bytes (16 MiB); a field may allow fewer.
        pub upload_file: u64 = 16 << 20,
        /// Maximum size of a form with files in bytes, unless the service sets its own (64 MiB).
        pub upload_total: u64 = 64 << 20,
        /// Maximum disk space in bytes for the uploads of all requests in flight in this process (1 GiB).
        pub upload_quota: u64 = 1 << 30,
    }
}

/// The limits that a component keeps itself, and the variables of its environment that have them: `wit/skep.wit`.
macro_rules! environment {
    ($($variable:literal $field:ident)*) => {
        impl Limits {
            /// The variables, for a component.
            #[cfg(not(target_family = "wasm"))]
            pub(crate) fn to_environment(self) -> Vec<(String, String)> {
                vec![$(($variable.to_owned(), self.$field.to_string())),*]
            }

            /// Reads the variables that are set.
            #[cfg(any(target_family = "wasm", test))]
            pub(crate) fn read_environment(&mut self, variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
                $(
                    if let Some(text) = variable($variable) {
                        self.$field = text.parse().map_err(|_| format!("{}={text:?} is no number", $variable))?;
                    }
                )*
                Ok(())
            }
        }
    };
}

environment! {
    "SKEP_LIMIT_BODY" body
    "SKEP_LIMIT_BODIES" bodies
    "SKEP_LIMIT_FORM_FIELDS" form_fields
    "SKEP_LIMIT_FORM_ROWS" form_rows
    "SKEP_LIMIT_ONCE" once
    "SKEP_LIMIT_ONCE_PER_ADDRESS" once_per_address
    "SKEP_LIMIT_PAGE" page
    "SKEP_LIMIT_PAGE_VARIANTS" page_variants
    "SKEP_LIMIT_QUERY_PARAMETERS" query_parameters
    "SKEP_LIMIT_SESSION" session
    "SKEP_LIMIT_SESSIONS_PER_ADDRESS" sessions_per_address
    "SKEP_LIMIT_USER_SESSIONS" user_sessions
    "SKEP_LIMIT_UPLOAD_FILE" upload_file
    "SKEP_LIMIT_UPLOAD_TOTAL" upload_total
    "SKEP_LIMIT_UPLOAD_QUOTA" upload_quota
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            data: PathBuf::from("data"),
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
            compression: compression::Options::default(),
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
            host: crate::component::Host::NONE,
            #[cfg(target_family = "wasm")]
            is_on_postgres: false,
        }
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
#[path = "../tests/unit/setup.rs"]
mod tests;

//! The settings that an application starts with, and start-up errors.
//!
//! A setting is one row of [`Setup`], or of a group in it: what a server reads, and what a component has of it, follow.

mod folder;
mod limits;
pub(crate) mod websocket;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::context::cache::{Clock, Tiers};
use crate::context::session;
use crate::host::mail::{Mailbox, Mailer};
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
use skep_settings::{FromSetting, settings};

settings! {
    /// The settings of an application, and what it has of its server, which fills them in. [`Setup::default`] suits
    /// tests: it keeps nothing, and touches no file of the application. Without a data directory there is a temporary
    /// one, removed at the end, with the database if none is named; keys are temporary with a
    /// [`temporary_database`](Setup::temporary_database); responses are not compressed, since tests read what handlers
    /// write; and nobody gets notices. The defaults at the fields are those of a server.
    #[derive(Clone)]
    #[non_exhaustive]
    pub struct Setup in "" adjusted by for_tests {
        /// Data directory: everything that outlives the process. It is created if it is missing.
        data: PathBuf = Path, "data", flag "--data" "DIR";
        /// Address of a PostgreSQL database, `postgres://USER:PASSWORD@HOST/NAME`; over a unix socket
        /// `postgres:///NAME?host=/run/postgresql&user=USER`. Needs the cargo feature `postgres`; [the
        /// guide](../guides/data/postgresql.md) has its parameters. Empty means SQLite: `database.sqlite` in the data
        /// directory.
        database: Option<Secret<String>> = Text, "", variable "SKEP_DATABASE" as engine;
        /// Scheme and host of the site, such as `https://example.org`, for links in feeds and mails. Without it, they
        /// are built from the `Host` field of a request, which clients can forge. It has no path.
        base_url: Option<BaseUrl> = Url, "", flag "--base-url" "URL", variable "SKEP_BASE_URL" as text;
        /// File with the keys that seal cookies and tokens, each 64 hexadecimal digits on a line: the first one seals,
        /// all of them open. Outside of `development` it must be there; `--generate-secret` prints a key. Empty means
        /// the credential `skep-secret` of systemd (`LoadCredential=skep-secret:FILE`) if there is one, and else
        /// `secret` in the data directory, created when it is first needed.
        secret: Option<PathBuf> = Path, "";
        /// The keys themselves instead of a file, for environments that pass secrets in variables. Separated by spaces
        /// or line breaks. Empty means those of `secret`.
        secret_keys: Option<Secret<String>> = Text, "";
        /// Show all details on error pages, causes included. Never set it where strangers have access.
        development: bool = Bool, false, variable "SKEP_DEVELOPMENT" as flag;
        /// Allow a swap to run migrations that the old version may not work with: those that do more than add.
        allow_breaking_migration as "swap.allow_breaking_migration": bool = Bool, false,
            flag "--allow-breaking-migration" "";
        /// Whether cookies are `Secure` and have the prefix `__Host-`. `auto`: if the client's connection is encrypted,
        /// as the server or a trusted proxy knows, or `base_url` begins with `https://`. `always`: all.
        secure_cookies as "cookies.secure": bool = Choice(&["auto", "always"]), "auto", by are_always_secure,
            variable "SKEP_SECURE_COOKIES" as flag;
        /// Sender of mail that names none, such as `Shop <shop@example.org>`, or `"Shop, Berlin" <shop@example.org>`.
        /// Needed with `mail.smtp`.
        mail_from as "mail.from": Option<String> = Text, "", by sender;
        /// Tell owners of accounts by mail what has happened to them: a sign-in from a new device, another password, a
        /// new second factor or passkey, another address. Sends nothing without a way to send mail.
        notices as "mail.notices": bool = Bool, true, variable "SKEP_MAIL_NOTICES" as flag;
        /// Lifetimes of sessions.
        session: session::Rules;
        /// Compression of responses.
        compression: compression::Options;
        /// WebSockets.
        websocket: websocket::Options;
        /// Limits of a request.
        limits: Limits;
        /// What a request of a handler to another server may take.
        fetch: fetch::Bounds;
    } and {
        /// The addresses of databases of PostgreSQL, by the names of [`NamedDatabase`](crate::sql::NamedDatabase); of
        /// the others, the files are in [`data`](Setup::data).
        pub databases: HashMap<String, Secret<String>>,
        /// Use a new, temporary database instead of the one in [`data`](Setup::data), or beside the one of PostgreSQL.
        pub temporary_database: bool,
        /// Options of the database.
        #[cfg(not(target_family = "wasm"))]
        pub sql: sql::Options,
        /// The tiers of caches by name; `default` applies to all others.
        pub caches: HashMap<String, Tiers>,
        /// Differs between builds of the application: builds do not share entries in caches that several processes use.
        pub build: u32,
        /// What files, variables and flags say about settings that the application declares:
        /// [`App::settings`](crate::App::settings).
        pub settings: Vec<RawSetting>,
        /// Rules of who may reach what, besides those of the application ([`App::access`](crate::App::access)).
        pub access: Vec<AccessRule>,
        /// The clock of caches and sessions. Tests use one that they advance.
        pub clock: Clock = Clock::system(),
        /// Refuse migrations that are incompatible with another version that is still running.
        pub careful: bool,
        /// Several processes serve requests: what one of them remembers in memory is unknown to the others, so one-shot
        /// forms require the database.
        pub several_processes: bool,
        /// Several machines serve the application, by the settings `cluster.*` of their servers: what would be of one
        /// of them keeps it from starting, and the data directory does not tell them apart.
        pub cluster: bool,
        /// Sends requests of handlers to other servers, unless the application has its own
        /// ([`App::fetcher`](crate::App::fetcher)).
        pub fetcher: Option<Arc<dyn Fetcher>>,
        /// Sends mail, before [`App::mailer`](crate::App::mailer).
        pub mailer: Option<Arc<dyn Mailer>>,
        /// Runs blocking work.
        pub offload: Arc<dyn Offload> = Arc::new(Inline),
        /// What the host of this component offers.
        #[cfg(target_family = "wasm")]
        pub(crate) host: &'static crate::host::component::functions::Host =
            crate::host::component::functions::Host::NONE,
    }
}

/// The defaults of settings, but for those that tests do without.
fn for_tests(setup: Setup) -> Setup {
    Setup { data: PathBuf::new(), compression: compression::Options::none(), notices: false, ..setup }
}

#[expect(clippy::unnecessary_wraps, reason = "as all that reads a setting")]
fn are_always_secure(word: &str) -> Result<bool, String> {
    Ok(word == "always")
}

/// A sender as it is written.
fn sender(text: &str) -> Result<Option<String>, String> {
    Option::<Mailbox>::from_setting(text).map(|sender| sender.map(|sender| sender.to_string()))
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

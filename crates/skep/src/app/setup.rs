//! Where an application runs and what a request may cost, and why it cannot start.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cache::{Clock, Tiers};
use crate::link::BaseUrl;
use crate::offload::{Inline, Offload};
use crate::session;
#[cfg(not(target_family = "wasm"))]
use crate::sql;

/// What an application needs to know of where it runs. A server fills it in; [`Setup::default`] is good for tests.
#[derive(Clone)]
#[non_exhaustive]
pub struct Setup {
    /// The folder for everything that outlives the process.
    pub data: PathBuf,
    /// The database is a new one that goes away with the application, and not the one in [`data`](Self::data).
    pub temporary_database: bool,
    /// The file with the keys that seal what browsers keep, one on a line; `secret` in [`data`](Self::data) if none is named. With
    /// a [`temporary_database`](Self::temporary_database) the keys are temporary, too.
    pub secret: Option<PathBuf>,
    /// How the database is used.
    #[cfg(not(target_family = "wasm"))]
    pub sql: sql::Options,
    /// Scheme and host under which the site is reached; goes before what [`App::base_url`](crate::App::base_url) says.
    pub base_url: Option<BaseUrl>,
    /// The tiers of caches, by name; `default` is for those that are not named.
    pub caches: HashMap<String, Tiers>,
    /// A number that is another one for another build of the application: what is kept where several processes see it is kept for
    /// each build apart.
    pub build: u32,
    /// How long sessions last.
    pub session: session::Rules,
    /// What time it is for caches and sessions. Tests give one that they move.
    pub clock: Clock,
    /// Error pages show all.
    pub development: bool,
    /// What a request may cost.
    pub limits: Limits,
    /// Another version of the application serves meanwhile: migrations that it may not get on with are refused.
    pub careful: bool,
    /// Where work that blocks is done.
    pub offload: Arc<dyn Offload>,
    /// What the host of this component offers.
    #[cfg(target_family = "wasm")]
    pub(crate) host: &'static crate::component::Host,
}

/// What one request may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes of a body, unless the service says otherwise (1 MiB).
    pub body: u64,
    /// The most fields of a form (1000).
    pub form_fields: usize,
    /// The most submissions of one-shot forms that are kept in mind in this process (100 000): without a database until their
    /// time is over, with one while they are being answered.
    pub once: usize,
    /// The most bytes of a page that is kept ([`PublicPage`](crate::cache::PublicPage)), streams included (8 MiB).
    pub page: u64,
    /// The most parameters of a query (1000).
    pub query_parameters: usize,
    /// The most bytes of one session: its names, and its values as JSON (64 KiB).
    pub session: usize,
    /// The most sessions in all, where they are kept if nobody has configured it, a file of SQLite: those go that nobody used for longest
    /// (1 000 000). What lists the sessions of a user counts as one.
    pub sessions: u64,
    /// The most sessions of one user ([`Session::belongs_to`](crate::session::Session::belongs_to)): the oldest end (100).
    pub user_sessions: usize,
    /// The most bytes of one file that a form brings (16 MiB); a field may allow fewer.
    pub upload_file: u64,
    /// The most bytes of a form with files, all together, unless the service says otherwise (64 MiB).
    pub upload_total: u64,
    /// The most bytes of the disk that files of requests take which are being answered, in this process (1 GiB).
    pub upload_quota: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            form_fields: 1000,
            once: 100_000,
            page: 8 << 20,
            query_parameters: 1000,
            session: 64 << 10,
            sessions: 1_000_000,
            user_sessions: 100,
            upload_file: 16 << 20,
            upload_total: 64 << 20,
            upload_quota: 1 << 30,
        }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            data: PathBuf::from("data"),
            temporary_database: false,
            secret: None,
            #[cfg(not(target_family = "wasm"))]
            sql: sql::Options::default(),
            base_url: None,
            caches: HashMap::new(),
            build: 0,
            session: session::Rules::default(),
            clock: Clock::system(),
            development: false,
            limits: Limits::default(),
            careful: false,
            offload: Arc::new(Inline),
            #[cfg(target_family = "wasm")]
            host: crate::component::Host::NONE,
        }
    }
}

/// Why an application cannot start: all that was found wrong, one line each.
#[derive(Debug)]
pub struct StartError {
    pub(super) problems: Vec<String>,
}

impl StartError {
    /// What is wrong, one entry each.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for StartError {}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("data", &self.data).finish_non_exhaustive()
    }
}

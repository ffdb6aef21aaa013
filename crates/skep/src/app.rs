//! The application, as its author puts it together.
//!
//! [`App`] only notes. [`App::open`] acts: it finds what is wrong before any socket opens, and gives back a [`Site`].

mod job;
mod mounted;
mod setup;

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Method;

use crate::cache::{Caches, Store};
use crate::endpoint::Endpoint;
use crate::error::Result;
use crate::error_page::{self, ErrorPage};
use crate::files::Files;
use crate::form::once;
use crate::form::once::Ledger;
use crate::form::{Messages, Quota, remove_old_uploads};
use crate::link::BaseUrl;
use crate::mount::{self, Mount};
use crate::panic;
use crate::router::{Demand, Entry, Router};
use crate::secret::Secret;
use crate::service::{Handle, Registry, Services};
use crate::session::Sessions;
use crate::site::{Forms, Site, Values};
use crate::status::Say;

pub use self::job::Job;
use self::mounted::LeftOut;
pub use self::setup::{Limits, Setup, StartError};
use crate::sql;

/// The file of the database in the data folder.
#[cfg(not(target_family = "wasm"))]
const DATABASE: &str = "database.sqlite";

/// An application: its services and what they share.
///
/// ```
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text("Hello, world!"))
///     }
/// }
///
/// let app = App::new().serve::<(Index,)>();
/// assert_eq!(skep::test::Client::new(app).get("/").text(), "Hello, world!");
/// ```
pub struct App {
    name: Option<(&'static str, &'static str)>,
    pub(crate) services: Vec<Entry<Endpoint>>,
    folders: Vec<Folder>,
    mounts: Vec<mount::Place>,
    values: Values,
    trusted_origins: Vec<String>,
    base_url: Option<BaseUrl>,
    left_out: Vec<LeftOut>,
    error_page: ErrorPage,
    database: Option<(sql::Migrations, OpenDatabase)>,
    starts: Vec<Start>,
    jobs: Vec<Job>,
    pub(crate) says: Vec<Say>,
    languages: Vec<Messages>,
    /// The names of its caches.
    stores: Vec<&'static str>,
    #[cfg(feature = "openapi")]
    pub(crate) document: Option<crate::openapi::Made>,
    pub(crate) problems: Vec<String>,
    /// A form of it is accepted once only.
    has_once: bool,
}

/// Files below a prefix that begins and ends with a slash.
struct Folder {
    prefix: String,
    files: Arc<Files>,
}

/// What is done before the first request: [`App::on_start`].
type Start = Box<dyn FnOnce(&Site) -> Result<()> + Send>;

/// Opens the database. Behind a pointer, so that a component without a database does not ask its host for one.
type OpenDatabase = fn(&sql::Migrations, &Setup, bool) -> Result<sql::Database, StartError>;

/// Why an application does not start as a component.
const ONCE: &str =
    "a form that is accepted once needs App::database in a component: its instances forget what they accepted";

/// A line of the table of routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteLine {
    /// The method, such as `GET`.
    pub method: String,
    /// The path with its parameters, such as `/writings/{page}`; required query parameters follow a `?`.
    pub path: String,
    /// The service, or the folder behind it.
    pub target: String,
}

impl Default for App {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    /// An application without services.
    #[must_use]
    pub fn new() -> Self {
        Self {
            name: None,
            services: Vec::new(),
            folders: Vec::new(),
            mounts: Vec::new(),
            values: HashMap::new(),
            trusted_origins: Vec::new(),
            base_url: None,
            left_out: Vec::new(),
            error_page: error_page::default_page,
            database: None,
            starts: Vec::new(),
            jobs: Vec::new(),
            says: Vec::new(),
            languages: Vec::new(),
            stores: Vec::new(),
            #[cfg(feature = "openapi")]
            document: None,
            has_once: false,
            problems: Vec::new(),
        }
    }

    /// The name and version that `--version` and the start line show; `named!()`-like use:
    /// `.named(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))`.
    #[must_use]
    pub fn named(mut self, name: &'static str, version: &'static str) -> Self {
        self.name = Some((name, version));
        self
    }

    /// Mounts services: `.serve::<(Index, Article)>()`. May be called more than once.
    ///
    /// Two services of one call that no request can tell apart are an error when the program is built, and otherwise
    /// when it starts:
    ///
    /// ```compile_fail,E0080
    /// # use skep::prelude::*;
    /// #[derive(Service)]
    /// #[service(GET "/writings/{page}")]
    /// struct Article { page: Slug }
    ///
    /// #[derive(Service)]
    /// #[service(GET "/writings/{number}")]
    /// struct Numbered { number: u32 }
    /// # impl Handle for Article { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    /// # impl Handle for Numbered { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// // Article and Numbered cannot be told apart: both answer at /writings/{page}, ...
    /// let app = App::new().serve::<(Article, Numbered)>();
    /// ```
    #[must_use]
    pub fn serve<S: Services>(mut self) -> Self {
        const { S::TOLD_APART };
        S::register(&mut self);
        self
    }

    /// Serves files below a prefix: a folder of the disk by its path, or [`assets!`](crate::assets) of the executable.
    ///
    /// A service at the same address wins. What is asked for and not there is a 404.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// let app = App::new().files("/downloads", skep::files::Files::dir("public").listing(true));
    /// ```
    #[must_use]
    pub fn files(mut self, prefix: &str, files: impl Into<Files>) -> Self {
        let files = files.into();
        let inner = prefix.trim_matches('/');
        let prefix = if inner.is_empty() { "/".to_owned() } else { format!("/{inner}/") };
        if let Some(fixed) = files.prefix().filter(|fixed| fixed.trim_matches('/') != inner) {
            self.problems.push(format!("these assets link to {fixed}: mount them there, and not at {prefix}"));
        }
        self.folders.push(Folder { prefix, files: Arc::new(files) });
        self
    }

    /// Has something else answer what comes below a prefix, `/` for all that no service and no folder answers. An example is
    /// at [`Mount`]. Of two prefixes the longer one wins.
    #[must_use]
    pub fn mount(mut self, prefix: &str, mount: impl Mount) -> Self {
        self.mounts.push(mount::Place::new(prefix, mount));
        self.mounts.sort_by_key(|place| std::cmp::Reverse(place.depth()));
        self
    }

    /// Gives the application a SQLite database, `database.sqlite` in the folder for data, with these
    /// [`migrations!`](crate::sql::migrations): [`Cx::db`](crate::cache::Public::db), [`Site::db`].
    #[must_use]
    pub fn database(mut self, migrations: sql::Migrations) -> Self {
        if self.database.replace((migrations, open_database)).is_some() {
            self.problems.push("an application has one database: App::database was called twice".into());
        }
        self
    }

    /// Gives handlers a value to share, one of each type: [`Cx::get`](crate::cache::Public::get) lends it out.
    ///
    /// It lives as long as the process and is seen by all requests; what belongs to one user does not belong here.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        if self.values.insert(TypeId::of::<T>(), Box::new(value)).is_some() {
            self.problems.push(format!("two values of type `{}` were given to App::with", std::any::type_name::<T>()));
        }
        self
    }

    /// Makes a [`Store`] known, so that the configuration may name tiers of its own for it: `[cache.NAME]`. Tiers for a name that
    /// nobody knows are most likely misspelt, and an error when the application starts or is checked.
    #[must_use]
    pub fn store<K: ?Sized, V>(mut self, store: &Store<K, V>) -> Self {
        self.stores.push(store.name());
        self
    }

    /// Lets pages of another site (`https://partner.example`) send forms to this one.
    #[must_use]
    pub fn trust_origin(mut self, origin: impl Into<String>) -> Self {
        self.trusted_origins.push(origin.into());
        self
    }

    /// Says under which scheme and host the site is reached, `https://example.org`, unless the setting `base_url` says
    /// otherwise. What leaves the site begins with it: [`Cx::absolute`](crate::cache::Public::absolute), an example is there.
    #[must_use]
    pub fn base_url(mut self, url: &str) -> Self {
        match url.parse() {
            Ok(url) => self.base_url = Some(url),
            Err(error) => self.problems.push(format!("App::base_url: {error}")),
        }
        self
    }

    /// Draws error pages in the application's own style.
    #[must_use]
    pub fn error_page(mut self, page: ErrorPage) -> Self {
        self.error_page = page;
        self
    }

    /// The languages of the messages beside the fields of forms. A browser says which its user likes (`Accept-Language`);
    /// who likes none of them gets the first. Without this call they are in English.
    ///
    /// ```
    /// use skep::form::Messages;
    /// use skep::prelude::*;
    ///
    /// const GERMAN: Messages = Messages { language: "de", missing: "Bitte ausfüllen.", ..Messages::ENGLISH };
    ///
    /// let app = App::new().languages([Messages::ENGLISH, GERMAN]);
    /// ```
    #[must_use]
    pub fn languages(mut self, languages: impl IntoIterator<Item = Messages>) -> Self {
        self.languages = languages.into_iter().collect();
        self
    }

    /// Does something before the first request, with all that [`Site`] lends out: fill a table, read templates. If it fails, the
    /// application does not start.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// let app = App::new().with(vec![1, 2, 3]).on_start(|site| {
    ///     assert_eq!(site.get::<Vec<i32>>().len(), 3);
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    #[must_use]
    pub fn on_start(mut self, work: impl FnOnce(&Site) -> Result<()> + Send + 'static) -> Self {
        self.starts.push(Box::new(work));
        self
    }

    /// Does something again and again beside the requests, on a thread where blocking harms no one: `period` after its last run
    /// has ended, never twice at a time. `name` is how the log calls it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// let app = App::new().every("tidy", Duration::from_secs(60), |_site| Ok(()));
    /// ```
    #[must_use]
    pub fn every(
        mut self,
        name: &'static str,
        period: Duration,
        work: impl Fn(&Site) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.jobs.push(Job::new(name, period, Box::new(work)));
        self
    }

    /// Name and version, where [`named`](Self::named) gave them.
    #[must_use]
    pub fn name(&self) -> Option<(&'static str, &'static str)> {
        self.name
    }

    /// The table of routes, in the order in which they were mounted.
    #[must_use]
    pub fn routes(&self) -> Vec<RouteLine> {
        let services = self.services.iter().map(route_line);
        let folders = self.folders.iter().map(|folder| RouteLine {
            method: "GET".to_owned(),
            path: format!("{}{{*path}}", folder.prefix),
            target: folder.files.to_string(),
        });
        services.chain(folders).chain(self.mounts.iter().map(mount::Place::route)).collect()
    }

    /// Makes the application ready to answer, or says all that keeps it from it.
    pub fn open(self, setup: Setup) -> Result<Site, StartError> {
        panic::install_hook();
        let (site, starts) = self.put_together(setup)?;
        // A component's files belong to many instances at once, and its start must leave no file open.
        if !cfg!(target_family = "wasm") {
            remove_old_uploads(site.data());
        }
        site.open_caches().map_err(|error| StartError { problems: vec![error.to_string()] })?;
        for start in starts {
            start(&site).map_err(|error| StartError { problems: vec![error.at_start()] })?;
        }
        Ok(site)
    }

    /// Says all that would keep the application from starting with this setup, as far as that shows without the work
    /// of [`on_start`](Self::on_start). Nothing is done and nothing is changed: migrations that are pending are tried
    /// on an empty database, and the one in the data folder is only looked at.
    pub fn check(self, setup: &Setup) -> Result<(), StartError> {
        #[cfg(not(target_family = "wasm"))]
        if let Some((migrations, _)) = self.database.as_ref().filter(|_| !setup.temporary_database) {
            sql::Database::check(setup.data.join(DATABASE), migrations)
                .map_err(|error| StartError { problems: vec![error.to_string()] })?;
        }
        let nowhere = Setup { temporary_database: true, caches: setup.caches.clone(), ..Setup::default() };
        self.put_together(nowhere).map(drop)
    }

    fn put_together(mut self, setup: Setup) -> Result<(Site, Vec<Start>), StartError> {
        let base_url = setup.base_url.clone().or(self.base_url.take());
        #[cfg(feature = "openapi")]
        self.problems.extend(self.describe(base_url.as_ref().map(BaseUrl::as_str)));
        let mut problems = self.problems;
        problems.extend(Caches::unknown(&setup.caches, &self.stores));
        problems.extend(mounted::both(&self.services, &self.left_out));
        problems
            .extend(self.folders.iter().filter_map(|folder| folder.files.check().err()).map(|error| error.to_string()));
        let router = match Router::new(with_folders(self.services, &self.folders)) {
            Ok(router) => Some(router),
            Err(conflicts) => {
                problems.extend(conflicts.iter().map(ToString::to_string));
                None
            }
        };
        let Some(router) = router.filter(|_| problems.is_empty()) else { return Err(StartError { problems }) };
        let database = match self.database {
            Some((migrations, open)) => Some(open(&migrations, &setup, self.has_once)?),
            None if self.has_once && cfg!(target_family = "wasm") => {
                return Err(StartError { problems: vec![ONCE.into()] });
            }
            None => None,
        };
        let once = Ledger::new(setup.limits.once);
        let program = self.name.map_or("skep", |(name, _)| name);
        let site = Site {
            router,
            database,
            mounts: self.mounts,
            values: self.values,
            trusted_origins: self.trusted_origins,
            caches: Caches::new(&setup, self.name.map_or("skep", |(name, _)| name), base_url.as_ref()),
            base_url,
            error_page: self.error_page,
            jobs: self.jobs,
            says: self.says,
            sessions: Sessions::new(&setup, program),
            forms: Forms { languages: self.languages, quota: Quota::default(), secret: secret(&setup), once },
            setup,
        };
        Ok((site, self.starts))
    }
}

impl Registry for App {
    fn add<S: Handle>(&mut self) {
        self.services.push(Entry::of_route(S::ROUTE, TypeId::of::<S>(), Endpoint::of_service::<S>()));
        self.has_once |= S::ROUTE.once.is_some();
        if S::ROUTE.from_query {
            self.services.push(Entry::of_query(S::ROUTE, Endpoint::of_query::<S>));
        }
    }
}

fn secret(setup: &Setup) -> Secret {
    #[cfg(target_family = "wasm")]
    if setup.secret.is_none() {
        return Secret::of_host(setup.host.keys);
    }
    match &setup.secret {
        Some(file) => Secret::in_file(file.clone()),
        None if setup.temporary_database => Secret::temporary(),
        None => Secret::in_folder(&setup.data),
    }
}

#[cfg(not(target_family = "wasm"))]
fn open_database(migrations: &sql::Migrations, setup: &Setup, has_once: bool) -> Result<sql::Database, StartError> {
    let offload = Arc::clone(&setup.offload);
    let database = if setup.temporary_database {
        sql::Database::temporary(migrations, offload)
    } else {
        let path = setup.data.join(DATABASE);
        if setup.careful {
            sql::Database::check_careful(&path, migrations)
                .map_err(|error| StartError { problems: vec![error.to_string()] })?;
        }
        sql::Database::open(path, migrations, setup.sql.clone(), offload)
    };
    let database = database.map_err(|error| StartError { problems: vec![error.to_string()] })?;
    if has_once {
        // The framework's own table: it is no migration of the application's.
        let made = database.write(|db| db.execute(once::TABLE));
        made.map_err(|error| StartError { problems: vec![format!("the table of one-shot forms: {error}")] })?;
    }
    Ok(database)
}

/// The host opens it, and has the settings for that.
#[cfg(target_family = "wasm")]
fn open_database(migrations: &sql::Migrations, _: &Setup, has_once: bool) -> Result<sql::Database, StartError> {
    let own = if has_once { &[once::TABLE][..] } else { &[] };
    sql::Database::open(migrations, own).map_err(|problem| StartError { problems: vec![problem] })
}

/// A folder answers for its prefix and for all below it, where no service does.
fn with_folders(mut services: Vec<Entry<Endpoint>>, folders: &[Folder]) -> Vec<Entry<Endpoint>> {
    for Folder { prefix, files } in folders {
        let taken = services.iter().any(|entry| entry.method == Method::GET && entry.pattern == *prefix);
        let patterns = [Some(format!("{prefix}{{*path}}")), (!taken).then(|| prefix.clone())];
        services.extend(patterns.into_iter().flatten().map(|pattern| Entry {
            name: files.to_string(),
            method: Method::GET,
            pattern,
            demand: Demand::default(),
            id: None,
            endpoint: Endpoint::of_files(Arc::clone(files)),
        }));
    }
    services
}

fn route_line(entry: &Entry<Endpoint>) -> RouteLine {
    let required = entry.demand.required.iter().map(|name| format!("{name}="));
    let fixed = entry.demand.when.map(|(name, value)| format!("{name}={value}"));
    let query: Vec<String> = required.chain(fixed).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    let path = format!("{}{mark}{}", entry.pattern, query.join("&"));
    RouteLine { method: entry.method.to_string(), path, target: entry.name.clone() }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("services", &self.services.len()).finish_non_exhaustive()
    }
}

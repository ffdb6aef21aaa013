//! The application, as its author puts it together.
//!
//! [`App`] only notes. [`App::open`] acts: it finds what is wrong before any socket opens, and gives back a [`Site`].

mod around;
mod background;
#[cfg(not(target_family = "wasm"))]
mod backups;
mod checks;
mod database;
mod databases;
mod entries;
mod languages;
mod mounted;
mod previews;
mod routes;
mod security;
mod services;
mod settings;
mod status;
mod tasks;

use std::any::TypeId;
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::application::carry;
use crate::application::endpoint::Endpoint;
use crate::application::mount::{self, Mount};
use crate::application::site::{Site, StatusFn, observed};
use crate::context::cache::{Caches, Store, WriteObserver};
use crate::context::resources::{ErrorMap, Forms, Resources, Values};
use crate::context::session::Sessions;
use crate::contract::cors::CorsTable;
use crate::contract::form::remove_old_uploads;
use crate::contract::guard::AccessTable;
use crate::contract::service::Handle;
use crate::host::mail::Mailer;
use crate::link::BaseUrl;
use crate::routing::route::Route;
pub use crate::routing::route::RouteLine;
use crate::routing::router::{Entry, Router};
use crate::security::rate::Rate;
use crate::settings::{Declared, Row};
use skep_http::error::{Error, Result};
use skep_http::error_page::{self, ErrorPage};
use skep_http::ext::ErrorExt as _;
use skep_http::fetch::Fetcher;
use skep_http::files::Files;
use skep_http::response::security_headers::SecurityHeaders;
use skep_http::validation::Languages;

use self::around::Surroundings;
use self::checks::note;
pub(crate) use self::database::keys_of;
use self::database::{OwnTables, open_database, outbox};
use self::mounted::LeftOut;
#[doc(hidden)]
pub use self::services::ServiceEntry;
pub use self::services::Services;
pub use self::tasks::Task;
pub use crate::application::site::{Background, BackgroundWork, Job};
use crate::context::setup::{Setup, StartError, TemporaryFolder};
use crate::sql;

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
/// let app = App::new().serve(services![Index]);
/// assert_eq!(skep::test::Client::new(app).get("/").text(), "Hello, world!");
/// ```
#[derive(Default)]
pub struct App {
    name: Option<(&'static str, &'static str)>,
    pub(crate) services: Vec<Entry<Endpoint>>,
    folders: Vec<Folder>,
    mounts: Vec<mount::MountPoint>,
    values: Values,
    trusted_origins: Vec<String>,
    /// Those with a parameter that logs must not show.
    secret_routes: Vec<&'static Route>,
    base_url: Option<BaseUrl>,
    hosts: Vec<String>,
    security_headers: SecurityHeaders,
    cors: CorsTable,
    left_out: Vec<LeftOut>,
    surroundings: Surroundings,
    error_maps: Vec<ErrorMap>,
    error_page: Option<ErrorPage>,
    database: Option<(sql::Migrations, OpenDatabase)>,
    /// Those beside it.
    databases: Vec<databases::Named>,
    ignored_tables: Vec<&'static str>,
    write_observers: Vec<WriteObserver>,
    settings: Vec<Declared>,
    /// Settings that a mount reads itself.
    mounted_settings: Vec<Row>,
    mailer: Option<Arc<dyn Mailer>>,
    previews: previews::Previews,
    fetcher: Option<Arc<dyn Fetcher>>,
    access: AccessTable,
    starts: Vec<Start>,
    checks: Vec<Check>,
    jobs: Vec<Job>,
    tasks: Vec<Task>,
    background: Vec<BackgroundWork>,
    /// Of libraries, beside the migrations.
    tables: OwnTables,
    pub(crate) status_fns: Vec<StatusFn>,
    languages: Languages,
    /// The names of its caches.
    stores: Vec<&'static str>,
    /// Around the whole application, the outermost first.
    #[cfg(feature = "tower")]
    pub(crate) layers: Vec<crate::application::tower::MakeLayer>,
    #[cfg(feature = "openapi")]
    pub(crate) document: Option<crate::application::openapi::Made>,
    pub(crate) problems: Vec<String>,
    part_checks: Vec<checks::Check>,
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

/// What `--check` does besides: [`App::on_check`].
type Check = Box<dyn FnOnce(&Setup) -> Result<Vec<String>, StartError> + Send>;

/// Opens the database. Behind a pointer, so that a component without a database does not ask its host for one.
type OpenDatabase = fn(&sql::Migrations, &Setup, &OwnTables) -> Result<sql::Database, StartError>;

impl App {
    /// An application without services.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The name and version that `--version` and the start line show:
    /// `.name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))`.
    #[must_use]
    pub fn name(mut self, name: &'static str, version: &'static str) -> Self {
        self.name = Some((name, version));
        self
    }

    /// Mounts services: `.serve(services![Index, Article])`, or `.serve(services![Index])` for one. May be called more
    /// than once.
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
    /// // Article and Numbered cannot be distinguished: both answer at /writings/{page}, ...
    /// let app = App::new().serve(services![Article, Numbered]);
    /// ```
    #[must_use]
    pub fn serve(mut self, services: Services) -> Self {
        services.iter().for_each(|service| (service.mount)(&mut self));
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

    /// Has something else answer what comes below a prefix, `/` for all that no service and no folder answers. An
    /// example is at [`Mount`]. Of two prefixes the longer one wins.
    #[must_use]
    pub fn mount(mut self, prefix: &str, mount: impl Mount) -> Self {
        self.mounts.push(mount::MountPoint::new(prefix, mount));
        self.mounts.sort_by_key(|place| std::cmp::Reverse(place.depth()));
        self
    }

    /// Bytes that bodies of requests may have below a prefix where something is mounted already (413), instead of
    /// `limits.body`. An example is in `docs/guides/extend/tower.md`.
    #[must_use]
    pub fn mount_body_limit(mut self, prefix: &str, bytes: u64) -> Self {
        if !self.mounts.iter_mut().any(|place| place.limit_body(prefix, bytes)) {
            self.problems
                .push(format!("mount_body_limit({prefix:?}, ..): nothing is mounted there; call it after `mount`"));
        }
        self
    }

    /// Gives the application a SQLite database, `database.sqlite` in the folder for data, with these
    /// [`migrations!`](crate::sql::migrations): [`Cx::db`](crate::cache::SharedCx::db), [`Site::db`]. If the setting
    /// `database` has an address, it is PostgreSQL instead, with those [for
    /// PostgreSQL](crate::sql::Migrations::with_postgres).
    #[must_use]
    pub fn database(mut self, migrations: sql::Migrations) -> Self {
        if self.database.replace((migrations, open_database)).is_some() {
            self.problems
                .push("App::database was called twice: a second database has a name (App::database_of)".into());
        }
        self
    }

    /// Shares a value with all handlers, one of each type: [`Cx::state`](crate::cache::SharedCx::state) borrows it.
    ///
    /// All requests see it, as long as the process lives. Data of one user does not belong here.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        if self.values.insert(TypeId::of::<T>(), Arc::new(value)).is_some() {
            self.problems.push(format!("two values of type `{}` were given to App::state", std::any::type_name::<T>()));
        }
        self
    }

    /// Makes a [`Store`] known, so that the configuration may name tiers of its own for it: `[cache.NAME]`. Tiers for a
    /// name that nobody knows are most likely misspelt, and an error when the application starts or is checked.
    #[must_use]
    pub fn store<K: ?Sized, V>(mut self, store: &Store<K, V>) -> Self {
        self.stores.push(store.name());
        self
    }

    /// Renders error pages with the application's own function.
    #[must_use]
    pub fn error_page(mut self, page: ErrorPage) -> Self {
        self.error_page = Some(page);
        self
    }

    /// Decides what clients see of errors of a type of the application's own, wherever in the chain of causes they are:
    /// status, message and fields. Without it an error is a 500 that says nothing. The error itself stays the cause,
    /// which the log has.
    ///
    /// ```
    /// use std::fmt;
    /// use skep::prelude::*;
    ///
    /// #[derive(Debug)]
    /// enum OrderError { SoldOut, Warehouse(std::io::Error) } // thiserror writes the rest
    ///
    /// # impl fmt::Display for OrderError { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{self:?}") } }
    /// # impl std::error::Error for OrderError {}
    /// #[derive(Service)]
    /// #[service(POST "/orders")]
    /// struct Order;
    ///
    /// impl Handle for Order {
    ///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
    ///         Err(OrderError::SoldOut)?
    ///     }
    /// }
    ///
    /// let app = App::new().serve(services![Order]).map_error(|error: &OrderError| match error {
    ///     OrderError::SoldOut => Error::conflict("This is sold out."),
    ///     OrderError::Warehouse(_) => Error::new(StatusCode::BAD_GATEWAY),
    /// });
    /// let answer = skep::test::Client::new(app).post("/orders", &[]);
    /// assert_eq!(answer.status(), 409);
    /// assert!(answer.text().contains("This is sold out."));
    /// ```
    #[must_use]
    pub fn map_error<E: StdError + 'static>(mut self, map: impl Fn(&E) -> Error + Send + Sync + 'static) -> Self {
        self.error_maps.push(Box::new(move |cause| cause.downcast_ref().map(&map)));
        self
    }

    /// Runs before the first request: fill a table, read templates. If it fails, the application does not start.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// let app = App::new().state(vec![1, 2, 3]).on_start(|site| {
    ///     assert_eq!(site.state::<Vec<i32>>().len(), 3);
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    #[must_use]
    pub fn on_start(mut self, work: impl FnOnce(&Site) -> Result<()> + Send + 'static) -> Self {
        self.starts.push(Box::new(work));
        self
    }

    /// Checks something more when `--check` is asked, with what the server is configured as, and changes nothing. The
    /// lines are printed.
    #[must_use]
    pub fn on_check(mut self, work: impl FnOnce(&Setup) -> Result<Vec<String>, StartError> + Send + 'static) -> Self {
        self.checks.push(Box::new(work));
        self
    }

    /// Name and version, if [`name`](Self::name) set them.
    #[must_use]
    pub fn name_and_version(&self) -> Option<(&'static str, &'static str)> {
        self.name
    }

    /// Makes the application ready to answer, or says all that keeps it from it.
    pub fn open(self, mut setup: Setup) -> Result<Site, StartError> {
        carry::install(&mut setup);
        if setup.development {
            skep_units::panic::take_backtraces();
        }
        let keeps_nothing = setup.temporary_database;
        let folder = TemporaryFolder::for_data(&mut setup)?;
        if folder.is_some() && !keeps_nothing {
            tracing::warn!(target: "skep", "no data directory is named (Setup::data): what is written there, and what is sealed with keys that are drawn, is gone at the end");
        }
        let (mut site, starts, warnings) = self.mount_previews(setup.development).put_together(setup)?;
        site.folder = folder;
        // A test is no deployment.
        for warning in warnings.iter().filter(|_| !site.setup().temporary_database) {
            tracing::warn!(target: "skep::sql", "{warning}");
        }
        // A component's files belong to many instances at once, and its start must leave no file open.
        if !cfg!(target_family = "wasm") {
            remove_old_uploads(site.data());
        }
        site.resources.forms.secret.check().map_err(|error| StartError::new(error.at_start()))?;
        site.resources.open_caches().map_err(|error| StartError::new(error.to_string()))?;
        for start in starts {
            start(&site).map_err(|error| StartError::new(error.at_start()))?;
        }
        Ok(site)
    }

    /// Finds all that would keep the application from starting with this setup, except in the work of
    /// [`on_start`](Self::on_start), and returns what [`on_check`](Self::on_check) reports. Nothing is changed: pending
    /// migrations run on an empty database, and the one in the data directory is only read.
    pub fn check(mut self, setup: &Setup) -> Result<Vec<String>, StartError> {
        let mut problems = Vec::new();
        #[cfg(not(target_family = "wasm"))]
        if let Some((migrations, open)) = self.database.as_mut().filter(|_| !setup.keeps_nothing()) {
            note(&mut problems, database::check(migrations, setup));
            if setup.database.is_some() {
                // The empty database below is SQLite, and has none of them.
                self.ignored_tables.clear();
                *open = database::open_for_any;
            }
        }
        note(&mut problems, self.check_databases(setup));
        let checks = std::mem::take(&mut self.checks);
        let nowhere = Setup {
            temporary_database: true,
            // Nothing is opened in it.
            data: setup.data.clone(),
            caches: setup.caches.clone(),
            settings: setup.settings.clone(),
            ..Setup::default()
        };
        let warnings = note(&mut problems, self.put_together(nowhere)).map(|(.., warnings)| warnings);
        note(&mut problems, keys_of(setup).check().map_err(|error| StartError::new(error.at_start())));
        let reports: Vec<_> = checks.into_iter().filter_map(|check| note(&mut problems, check(setup))).collect();
        if !problems.is_empty() {
            return Err(StartError { problems });
        }
        // They are of SQLite, as the database is that was just made.
        let warnings = warnings.into_iter().flatten().filter(|_| setup.database.is_none());
        let warnings = warnings.map(|warning| format!("warning: {warning}"));
        Ok(warnings.chain(reports.into_iter().flatten()).collect())
    }

    /// The site, what is to be done at its start, and what people should know of its database.
    fn put_together(mut self, setup: Setup) -> Result<(Site, Vec<Start>, Vec<String>), StartError> {
        let base_url = setup.base_url.clone().or(self.base_url.take());
        let security_headers = self.compile_security_headers();
        let mut entries = entries::with_folders(std::mem::take(&mut self.services), &self.folders);
        self.surroundings.apply(&mut entries);
        #[cfg(feature = "openapi")]
        self.problems.extend(self.describe(&entries, base_url.as_ref().map(BaseUrl::as_str)));
        let mut problems = self.own_problems();
        match self.load_settings(setup.settings.clone()) {
            Ok(loaded) => self.values.extend(loaded),
            Err(wrong) => problems.extend(wrong),
        }
        self.access.rules.extend(setup.access.iter().cloned());
        problems.extend(self.access.problems());
        problems.extend(Caches::unknown(&setup.caches, &self.stores));
        problems.extend(databases::unknown(&self.databases, &setup));
        problems.extend(mounted::both(&entries, &self.left_out));
        problems.extend(self.surroundings.problems(&entries, &self.values, self.database.is_some()));
        problems.extend(entries::of_folders(&self.folders));
        let (service_names, service_routes) = observed::number(&mut entries, &self.mounts);
        let masks = entries::masks(&self.secret_routes, &entries, &self.mounts);
        let names_rows = database::names_rows(&entries, self.database.as_ref());
        let router = Router::new(entries).map_err(|all| problems.extend(all.iter().map(ToString::to_string)));
        let (Ok(router), Some(security_headers), []) = (router, security_headers, &*problems) else {
            return Err(StartError { problems });
        };
        let database = database::open(self.database, &setup, self.tables, self.has_once)?;
        let warnings = database::warnings(database.as_ref().filter(|_| names_rows))?;
        let databases = databases::open(database.as_ref(), &self.databases, &setup, &self.ignored_tables)?;
        let program = self.name.map_or("skep", |(name, _)| name);
        let caches = Caches::new(&setup, program, base_url.as_ref(), (self.ignored_tables, self.write_observers));
        let caches = databases::watch(database.as_ref(), &databases, caches);
        let counters = database::counters(&setup)?;
        let site = Site {
            router,
            mounts: self.mounts,
            prefix_guards: self.surroundings.prefixes,
            access: self.access,
            hosts: self.hosts,
            cors: self.cors,
            #[cfg(feature = "tower")]
            layers: self.layers,
            error_page: self.error_page.unwrap_or(error_page::default_page),
            jobs: self.jobs,
            background: self.background,
            status_fns: self.status_fns,
            service_names,
            service_routes,
            resources: Arc::new(Resources {
                database,
                databases,
                values: self.values,
                caches,
                base_url,
                sessions: Sessions::new(&setup, program, &counters),
                forms: Forms::new(&setup.limits, keys_of(&setup), self.languages, &counters),
                outbox: outbox(&setup, self.mailer),
                fetcher: self.fetcher.or_else(|| setup.fetcher.clone()),
                page_variants: Rate::new("pages", setup.limits.page_variants, &counters),
                counters,
                made_values: Mutex::default(),
                security_headers,
                error_maps: self.error_maps,
                trusted_origins: self.trusted_origins,
                masks,
                drain: Arc::default(),
                setup,
            }),
            folder: None,
        };
        Ok((site, self.starts, warnings))
    }

    /// Mounts one service.
    fn add<S: Handle>(&mut self) {
        self.services.push(Entry::of_route(S::ROUTE, TypeId::of::<S>(), Endpoint::of_service::<S>()));
        self.has_once |= S::ROUTE.once.is_some();
        if S::ROUTE.secrets.iter().any(|(_, is_secret)| *is_secret) {
            self.secret_routes.push(S::ROUTE);
        }
        if S::ROUTE.from_query {
            self.services.push(Entry::of_query(S::ROUTE, Endpoint::of_query::<S>));
        }
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("services", &self.services.len()).finish_non_exhaustive()
    }
}

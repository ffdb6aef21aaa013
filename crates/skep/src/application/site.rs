//! A running application: a [`Site`] per process and a [`LocalSite`] per thread.
//!
//! Start reading at [`LocalSite::answer`], which handles every request.

mod background;
mod failures;
mod headers;
mod ids;
mod job;
#[cfg(feature = "tower")]
mod layers;
mod logged;
mod mail;
mod mounts;
pub(crate) mod observed;
mod parts;
mod respond;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use http::header::{ALLOW, LOCATION};
use http::{HeaderValue, Method, StatusCode};
use skep_units::panic;

use crate::application::endpoint::Endpoint;
use crate::application::mount;
use crate::base::percent;
use crate::context::cache::{Cache, LocalCaches, Store};
use crate::context::cx::Cx;
use crate::context::resources::{Answering, Resources, ThreadResources};
use crate::context::setup::{Setup, TemporaryFolder};
use crate::context::work::Work;
use crate::contract::cors::CorsTable;
use crate::contract::guard::{AccessTable, PrefixGuard};
use crate::contract::service::Input;
use crate::link::{self, BaseUrl, Destination};
use crate::routing::param::Pairs;
use crate::routing::router::Router;
use crate::security::origin;
use crate::settings::Settings;
use crate::sql;
#[cfg(not(target_family = "wasm"))]
use crate::sql::private;
use crate::status::Part;
pub use background::{Background, BackgroundWork};
#[cfg(target_family = "wasm")]
use failures::About;
use headers::{add_headers, depend_on_language};
use ids::Ids;
pub use job::Job;
use parts::{endpoint, page_of_form};
use respond::Exchange;
#[cfg(target_family = "wasm")]
use skep_html::nonce;
use skep_http::account;
use skep_http::body::Body;
use skep_http::body::drain::Draining;
use skep_http::error::Error;
use skep_http::error_page::ErrorPage;
use skep_http::ext::{ErrorExt as _, WatchedExt as _};
#[cfg(target_family = "wasm")]
use skep_http::ext::{RequestExt as _, ResponseExt as _};
use skep_http::files;
use skep_http::log;
#[cfg(target_family = "wasm")]
use skep_http::request::Received;
use skep_http::request::{Parts, Request};
use skep_http::response::{Response, Result};

/// An application that is ready to serve requests. Made by [`App::open`](crate::App::open).
///
/// It is immutable, and all threads share it. Each thread has its own [`LocalSite`].
pub struct Site {
    pub(crate) router: Router<Endpoint>,
    pub(crate) mounts: Vec<mount::MountPoint>,
    /// For mounts; an endpoint has its own.
    pub(crate) prefix_guards: Vec<PrefixGuard>,
    pub(crate) access: AccessTable,
    pub(crate) hosts: Vec<String>,
    pub(crate) cors: CorsTable,
    #[cfg(feature = "tower")]
    pub(crate) layers: Vec<crate::application::tower::MakeLayer>,
    pub(crate) error_page: ErrorPage,
    pub(crate) jobs: Vec<Job>,
    pub(crate) background: Vec<BackgroundWork>,
    pub(crate) status_fns: Vec<StatusFn>,
    pub(crate) service_names: Vec<String>,
    pub(crate) service_routes: Vec<String>,
    pub(crate) resources: Arc<Resources>,
    /// Dropped after what keeps files in it.
    pub(crate) folder: Option<TemporaryFolder>,
}

/// What [`App::on_status`](crate::App::on_status) was given.
pub(crate) type StatusFn = Box<dyn Fn(&Site) -> Vec<Part> + Send + Sync>;

/// One thread's view of a [`Site`]: it handles requests. Cloning is cheap.
#[derive(Clone)]
pub struct LocalSite {
    inner: Rc<LocalParts>,
}

struct LocalParts {
    site: Arc<Site>,
    thread: ThreadResources,
    ids: Ids,
    #[cfg(feature = "tower")]
    stack: std::cell::OnceCell<crate::application::tower::Stack>,
}

impl Answering for LocalParts {
    fn answer(self: Rc<Self>, request: Request) -> Pin<Box<dyn Future<Output = Response>>> {
        Box::pin(LocalSite { inner: self }.answer(request))
    }
}

impl Site {
    /// The view for this thread.
    #[must_use]
    pub fn local(self: &Arc<Self>) -> LocalSite {
        let thread = ThreadResources::new(Arc::clone(&self.resources));
        let parts = LocalParts {
            site: Arc::clone(self),
            thread,
            ids: Ids::new(),
            #[cfg(feature = "tower")]
            stack: std::cell::OnceCell::new(),
        };
        let inner = Rc::new(parts);
        let application = Rc::downgrade(&inner);
        inner.thread.set_application(application);
        LocalSite { inner }
    }

    /// True if error pages show all details.
    #[must_use]
    pub fn in_development(&self) -> bool {
        self.resources.setup.development
    }

    /// The settings, for a host of components.
    #[doc(hidden)]
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.resources.setup
    }

    /// The data directory of the application; [`Setup::data`] says which.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.resources.setup.data
    }

    /// The prefix of absolute URLs, if a setting or the application defines it.
    #[must_use]
    pub fn base_url(&self) -> Option<&BaseUrl> {
        self.resources.base_url.as_ref()
    }

    /// The hosts of [`App::hosts`](crate::App::hosts).
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// An absolute URL, for code outside a request, such as a job that sends mails. `None` without a base URL; in a
    /// request, [`Cx::absolute`](crate::cache::SharedCx::absolute) knows what the client used.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/news")]
    /// struct News;
    /// # impl Handle for News { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let app = App::new().serve(services![News]).base_url("https://example.org").on_start(|site| {
    ///     assert_eq!(site.absolute(News).as_deref(), Some("https://example.org/news"));
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    #[must_use]
    pub fn absolute(&self, to: impl Destination) -> Option<String> {
        self.base_url().map(|base| link::absolute(base.as_str(), &to))
    }

    /// The value given to [`App::state`](crate::App::state).
    ///
    /// # Panics
    /// If there is no such state: in a request this is a 500, and the log names the type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.resources.value()
    }

    /// The same, if one was given: for what an application may leave out. An example is at
    /// [`Cx::find_state`](crate::Cx::find_state).
    #[must_use]
    pub fn find_state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.resources.find_value()
    }

    /// The settings of this type: [`App::settings`](crate::App::settings).
    ///
    /// # Panics
    /// If the application does not declare them: a fault in the application, answered with 500 and named in the log.
    #[must_use]
    pub fn settings<T: Settings>(&self) -> &T {
        self.resources.settings()
    }

    /// The cache of this store, on the tiers that the configuration names. An example is at [`Store`].
    ///
    /// # Panics
    /// If another store with this name has other types, or a file of the cache cannot be opened: in a request this is a
    /// 500.
    #[must_use]
    pub fn cache<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Cache<K, V> {
        self.resources.cache(store)
    }

    /// Invalidates all cached entries with this tag, for code that may block: start-up work and jobs. In a request use
    /// [`SharedCx::invalidate`](crate::cache::SharedCx::invalidate).
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// let app = App::new().every("articles", Duration::from_secs(60), |site| site.invalidate("articles"));
    /// # let _ = app;
    /// ```
    pub fn invalidate(&self, tag: &str) -> Result<()> {
        skep_cache::driver::block_on(self.resources.caches.invalidate(tag))
    }

    /// What invalidates the caches of this process after a write that another one has made, for libraries that hear of
    /// such ([`App::on_write`](crate::App::on_write) is for one's own). An example is `skep-live`.
    ///
    /// # Errors
    /// If the tables of the database cannot be read.
    ///
    /// # Panics
    /// If the application has no database.
    pub fn local_caches(&self) -> Result<LocalCaches> {
        Ok(LocalCaches::new(&self.resources.caches, self.db())?)
    }

    /// Tells responses that go on that the server drains ([`Cx::draining`]). The server calls it.
    #[doc(hidden)]
    pub fn drain(&self) {
        self.resources.drain.begin();
    }

    /// Completes when the server drains, for work that goes on: see [`Cx::draining`].
    #[must_use]
    pub fn draining(&self) -> Draining {
        self.resources.drain.listen()
    }

    /// Writes back what caches have buffered (`writes=back`). The server calls it before the process exits.
    pub fn flush_caches(&self) -> Result<()> {
        skep_cache::driver::block_on(self.resources.caches.flush())
    }

    /// The database, for code that may block: start-up work and jobs.
    ///
    /// # Panics
    /// If the application has none: [`App::database`](crate::App::database).
    #[must_use]
    pub fn db(&self) -> &sql::Database {
        self.resources.database()
    }

    /// True if the application has a database: if [`db`](Self::db) does not panic.
    ///
    /// ```
    /// # let mut setup = skep::Setup::default();
    /// # setup.temporary_database = true;
    /// assert!(!skep::App::new().open(setup).unwrap().has_database());
    /// ```
    #[must_use]
    pub fn has_database(&self) -> bool {
        self.resources.database.is_some()
    }

    /// One of the databases beside it, for code that may block. An example is at [`NamedDatabase`](sql::NamedDatabase),
    /// for handlers.
    ///
    /// # Panics
    /// If the application does not have it: [`App::database_of`](crate::App::database_of).
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn db_of<D: sql::NamedDatabase>(&self) -> &sql::Database {
        self.resources.database_of::<D>()
    }

    /// Prepares a fork: reads the keys and detects the processor's cipher instructions once, instead of in each child.
    /// An example is at [`close_for_fork`](Self::close_for_fork).
    pub fn warm_up(&self) {
        // A failure is reported on first use.
        let _ = self.resources.forms.secret.seal_own("warm up", b"");
    }

    /// Closes connections that a forked child must not share: of the database and of caches. Each process reopens its
    /// own when it needs them. No other thread may be using them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use skep::prelude::*;
    ///
    /// # let mut setup = skep::Setup::default();
    /// # setup.temporary_database = true;
    /// let site = Arc::new(App::new().open(setup).unwrap());
    /// site.warm_up();
    /// site.close_for_fork();
    /// ```
    pub fn close_for_fork(&self) {
        self.resources.close_for_fork();
    }

    /// What the application says of itself: [`App::on_status`](crate::App::on_status). One that panics over it says
    /// that.
    #[must_use]
    pub fn status(&self) -> Vec<Part> {
        let panicked = |why| vec![Part::new("status").line(format!("cannot be told: {why}"))];
        self.status_fns.iter().flat_map(|say| panic::catch(|| say(self)).unwrap_or_else(panicked)).collect()
    }

    /// Why this process should get no requests for now: its data directory or its database is gone or cannot be
    /// written, or the database is damaged. A server answers `/-/ready` with it.
    ///
    /// ```
    /// # let mut setup = skep::Setup::default();
    /// # setup.temporary_database = true;
    /// let site = skep::App::new().open(setup).unwrap();
    /// assert_eq!(site.check_ready(), Ok(()));
    /// ```
    #[cfg(not(target_family = "wasm"))]
    pub fn check_ready(&self) -> std::result::Result<(), String> {
        if !self.setup().temporary_database && !self.data().is_dir() {
            return Err(format!("the data directory {} is gone", self.data().display()));
        }
        if !self.setup().temporary_database {
            private::check_writable(self.data()).map_err(|error| error.to_string())?;
        }
        self.resources.all_databases().try_for_each(|database| {
            database.check_file().map_err(|error| error.to_string())?;
            database.check_writable().map_err(|error| error.to_string())
        })
    }

    /// The bytes of request bodies that are in memory now: what [`Limits::bodies`](crate::Limits::bodies) limits.
    ///
    /// ```
    /// # let mut setup = skep::Setup::default();
    /// # setup.temporary_database = true;
    /// assert_eq!(skep::App::new().open(setup).unwrap().bodies_in_memory(), 0);
    /// ```
    #[must_use]
    pub fn bodies_in_memory(&self) -> u64 {
        self.resources.forms.memory.used()
    }

    /// The periodic jobs. The server runs them: [`Job::run`].
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The background work. The server runs it: [`BackgroundWork::run`].
    #[must_use]
    pub fn background(&self) -> &[BackgroundWork] {
        &self.background
    }
}

impl LocalSite {
    /// The application.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.inner.site
    }

    /// A piece of work outside of a request. An example is at [`Work`].
    #[must_use]
    pub fn work(&self) -> Work {
        Work::new(&self.inner.thread)
    }

    /// Routes a request, and has its service answer.
    async fn dispatch(&self, parts: &Parts, body: Body, exchange: &Exchange<'_>) -> Result {
        let Exchange { id, peer, resources, speaks_json, .. } = exchange;
        let (id, peer, site) = (*id, *peer, self.site());
        if site.access.has_any(parts.uri.path()) {
            // Boxed: most requests have no rule.
            Box::pin(self.check_access(parts, (peer, id), resources)).await?;
        }
        let path = percent::normalise_path(parts.uri.path());
        let query = Pairs::decode(parts.uri.query().unwrap_or_default(), site.resources.setup.limits.query_parameters)?;
        let Some(found) = site.router.find(&path) else { return self.elsewhere(parts, &path) };
        if parts.method == Method::OPTIONS {
            return Ok(Response::empty(StatusCode::NO_CONTENT).with_header(ALLOW, found.allow().clone()));
        }
        let mut input = Input::new(parts, &found.path, query);
        let endpoint = match endpoint(&found, &parts.method, &input.query) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                speaks_json.set(found.endpoints().all(Endpoint::speaks_json));
                return page_of_form(&found, &input).ok_or(error);
            }
        };
        account::set_service(endpoint.number());
        log::set_service(endpoint.number());
        speaks_json.set(endpoint.speaks_json());
        let is_known = origin::is_safe(&parts.method) || endpoint.is_open_to_others() || site.cors.admits(parts);
        let needs_token = !is_known && origin::check(parts, site.resources.own_origins(parts, peer))?;
        let limit = endpoint.body_limit().unwrap_or(site.resources.setup.limits.body);
        let mut cx = Cx::new(parts, peer, (body, limit), resources, id);
        cx.set_speaks_json(endpoint.speaks_json());
        if needs_token {
            endpoint.ask_for_token(&mut cx).await?;
        }
        let mut response = match endpoint.call(&mut cx, &mut input).await {
            Ok(response) => response,
            Err(mut error) => match error.take_response() {
                Some(response) => {
                    cx.undo();
                    response.into()
                }
                None => return Err(cx.fail(error)),
            },
        };
        cx.check_cookies(&response)?;
        if let Some(extra) = cx.complete().await? {
            add_headers(response.headers_mut(), *extra);
        }
        depend_on_language(&mut response, resources);
        if cx.is_rechecked() && response.body().goes_on() {
            // Boxed: most responses do not go on.
            Box::pin(cx.watch(&mut response)).await?;
        }
        files::conditional(response, &parts.method, &parts.headers)
    }

    /// A page has one canonical path. The path with a slash too many or too few redirects there; anything else is a
    /// 404.
    fn elsewhere(&self, parts: &Parts, path: &str) -> Result {
        let other = match path.strip_suffix('/') {
            Some(short) => short.to_owned(),
            None => format!("{path}/"),
        };
        // "//host" would be a link to another host.
        let leads_out = other.starts_with("//") || other.starts_with("/\\");
        if other.is_empty() || leads_out {
            return Err(Error::not_found());
        }
        // A folder has a page at its own path only if it has an index.
        let is_page = self.site().router.find(&other).is_some_and(|found| found.endpoints().any(Endpoint::has_page));
        if !is_page {
            return Err(Error::not_found());
        }
        let target = match parts.uri.query() {
            Some(query) => format!("{other}?{query}"),
            None => other,
        };
        let location = HeaderValue::try_from(target)?;
        Ok(Response::empty(StatusCode::PERMANENT_REDIRECT).with_header(LOCATION, location))
    }

    /// The error page for a request that failed elsewhere, where it was also logged: in another instance of this
    /// program.
    #[cfg(target_family = "wasm")]
    pub(crate) fn page_of(&self, request: &Request, error: &Error) -> Response {
        let Received { parts, id, peer, .. } = request.received();
        let id = id.unwrap_or_else(|| self.inner.ids.next());
        let site = self.site();
        let path = percent::normalise_path(parts.uri.path());
        let speaks_json = || {
            let most = site.resources.setup.limits.query_parameters;
            let query = Pairs::decode(parts.uri.query().unwrap_or_default(), most).ok()?;
            Some(endpoint(&site.router.find(&path)?, &parts.method, &query).ok()?.speaks_json())
        };
        let mut nonce = nonce::Scope::default();
        let about = About { parts: Some(parts), speaks_json: speaks_json().unwrap_or(false), ..About::default() };
        let mut response = nonce.enter(|| self.page(error, id, &about));
        response.note_hint(false);
        response.settle(parts.method == Method::HEAD);
        self.site().resources.add_security_headers(&mut response, &nonce, *peer);
        response
    }
}

skep_units::opaque_debug!(Site);
skep_units::opaque_debug!(LocalSite);

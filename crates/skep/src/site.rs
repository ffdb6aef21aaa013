//! A running application: a [`Site`] for the whole process, and a [`Local`] for each thread.
//!
//! Start reading at [`Local::answer`]: the way of every request.

mod ids;

use std::any::{Any, TypeId, type_name};
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use http::header::{ALLOW, CONTENT_LENGTH, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::app::{Job, Setup};
use crate::body::Body;
use crate::cache::{Cache, Caches, Pages, Store};
use crate::cx::{Cx, RequestId};
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::error_page::{self, ErrorPage, Failure};
use crate::form::once::Ledger;
use crate::form::{Messages, Quota};
use crate::link::{self, BaseUrl, Destination};
use crate::mount::{self, Mounted};
use crate::origin;
use crate::panic::{self, CatchPanic};
use crate::param::Pairs;
use crate::percent;
use crate::request::{Peer, Request};
use crate::response::Response;
use crate::router::{Found, NoEndpoint, Router};
use crate::secret::Secret;
use crate::service::Input;
use crate::session::{SESSIONS, Sessions};
use crate::sql;
use crate::status::Say;
use ids::Ids;

const NO_DATABASE: &str = "this application has no database: App::database gives it one";

/// An application that is ready to answer. Made by [`App::open`](crate::App::open).
///
/// It does not change while it runs, and all threads share it. Each thread asks it for a [`Local`] of its own.
pub struct Site {
    pub(crate) router: Router<Endpoint>,
    pub(crate) mounts: Vec<mount::Place>,
    pub(crate) database: Option<sql::Database>,
    pub(crate) values: Values,
    pub(crate) trusted_origins: Vec<String>,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) error_page: ErrorPage,
    pub(crate) jobs: Vec<Job>,
    pub(crate) says: Vec<Say>,
    pub(crate) forms: Forms,
    pub(crate) caches: Caches,
    pub(crate) sessions: Sessions,
    pub(crate) setup: Setup,
}

/// What the forms of an application share.
pub(crate) struct Forms {
    /// The first is for those who like none.
    pub(crate) languages: Vec<Messages>,
    pub(crate) quota: Quota,
    pub(crate) secret: Secret,
    pub(crate) once: Ledger,
}

/// One thread's view of a [`Site`]: it answers requests. Cloning it is cheap.
#[derive(Clone)]
pub struct Local {
    inner: Rc<LocalParts>,
}

struct LocalParts {
    site: Arc<Site>,
    db: Option<sql::Local>,
    pages: OnceCell<Option<Arc<Pages>>>,
    ids: Ids,
}

/// Values of an application, one of each type: [`App::with`](crate::App::with).
pub(crate) type Values = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

impl Site {
    /// This thread's view.
    #[must_use]
    pub fn local(self: &Arc<Self>) -> Local {
        // After a fork some are to be opened anew; what cannot be, whoever needs it is told.
        if let Err(error) = self.open_caches() {
            tracing::error!(target: "skep::request", "a cache cannot be opened: {error}");
        }
        let parts = LocalParts {
            site: Arc::clone(self),
            db: self.database.as_ref().map(sql::Database::local),
            pages: OnceCell::new(),
            ids: Ids::new(),
        };
        Local { inner: Rc::new(parts) }
    }

    /// True if error pages may show all.
    #[must_use]
    pub fn in_development(&self) -> bool {
        self.setup.development
    }

    /// All that the server said, for a host of components.
    #[doc(hidden)]
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The folder for everything that outlives the process.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.setup.data
    }

    /// Scheme and host under which the site is reached, if a setting or the application says so.
    #[must_use]
    pub fn base_url(&self) -> Option<&BaseUrl> {
        self.base_url.as_ref()
    }

    /// The whole URL, for what is written while nobody asks: mails that a job sends. `None` without a base URL; in a
    /// request, [`Cx::absolute`](crate::cache::Public::absolute) knows what the client used.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/news")]
    /// struct News;
    /// # impl Handle for News { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let app = App::new().serve::<(News,)>().base_url("https://example.org").on_start(|site| {
    ///     assert_eq!(site.absolute(News).as_deref(), Some("https://example.org/news"));
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    #[must_use]
    pub fn absolute(&self, to: impl Destination) -> Option<String> {
        self.base_url().map(|base| link::absolute(base.as_str(), &to))
    }

    /// The value given to [`App::with`](crate::App::with).
    ///
    /// # Panics
    /// If no value of this type was given: a fault in the application, answered with 500 and named in the log.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> &T {
        let value = self.values.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref());
        value.unwrap_or_else(|| panic!("no `{}` was given to App::with", type_name::<T>()))
    }

    /// Values that are kept, on the tiers that the configuration names for this store. An example is at [`Store`].
    ///
    /// # Panics
    /// If another store has this name and other types, or a file of the cache cannot be opened: answered with 500 and named in
    /// the log.
    #[must_use]
    pub fn cache<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Cache<K, V> {
        self.caches.of(store).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Voids all that was kept with this tag, for code that may block: start-up work and jobs. In a request, there is
    /// [`Public::invalidate`](crate::cache::Public::invalidate).
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// let app = App::new().every("articles", Duration::from_secs(60), |site| site.invalidate("articles"));
    /// # let _ = app;
    /// ```
    pub fn invalidate(&self, tag: &str) -> Result<()> {
        skep_cache::driver::block_on(self.caches.invalidate(tag))
    }

    /// Sends on what caches have kept for later (`writes=back`). Whoever runs the site calls it before the process ends.
    pub fn flush_caches(&self) -> Result<()> {
        skep_cache::driver::block_on(self.caches.flush())
    }

    /// Opens what is configured of caches and sessions, to find what is wrong with it before a request does.
    pub(crate) fn open_caches(&self) -> Result<()> {
        self.caches.open_configured()?;
        match self.caches.configured(SESSIONS)? {
            Some((driver, blocks)) => self.sessions.keep_on(driver, blocks),
            None => Ok(()),
        }
    }

    pub(crate) fn page_limit(&self) -> u64 {
        self.setup.limits.page
    }

    pub(crate) fn caches(&self) -> &Caches {
        &self.caches
    }

    /// The database, for code that may block: start-up work and jobs.
    ///
    /// # Panics
    /// If the application has none: [`App::database`](crate::App::database).
    #[must_use]
    pub fn db(&self) -> &sql::Database {
        self.database.as_ref().expect(NO_DATABASE)
    }

    /// Does once what each copy of this process would otherwise do for itself, for a server that forks: it reads the keys, and finds
    /// out what the processor offers a cipher. An example is at [`close_for_fork`](Self::close_for_fork).
    pub fn warm_up(&self) {
        // Without keys, whoever needs them is told so then.
        let _ = self.forms.secret.seal("warm up", b"");
    }

    /// Closes what must not be shared with a copy of this process, for a server that forks: connections to the database and of caches. They are
    /// opened again, in each process its own, when they are needed. Nobody may be using them.
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
        #[cfg(not(target_family = "wasm"))]
        if let Some(database) = &self.database {
            database.close_idle();
        }
        self.caches.close_for_fork();
        self.sessions.close_for_fork();
    }

    /// What is to be done again and again beside the requests. Whoever runs the site sees to it: [`Job::run`].
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }
}

impl Local {
    /// Answers a request. It never fails: what goes wrong becomes an error page, and a panic costs its request only.
    pub fn answer(&self, request: Request) -> impl Future<Output = Response> + use<> {
        let local = self.clone();
        // Taken apart out here: what a future takes apart inside, it holds twice.
        let Request { mut parts, body, peer, id } = request;
        let id = id.unwrap_or_else(|| self.inner.ids.next());
        async move {
            let speaks_json = Cell::new(false);
            let result = match mount::find(local.site(), &parts) {
                Some(mount) => mount.catching(Mounted::new(&mut parts, body, peer, id)).await,
                None => CatchPanic(pin!(local.dispatch(&parts, body, (peer, id), &speaks_json))).await,
            };
            let mut response = match result.unwrap_or_else(|panicked| Err(Error::internal(panicked))) {
                Ok(response) => response,
                Err(error) => local.fail(&error, id, Some(&parts), speaks_json.get()),
            };
            if parts.method == Method::HEAD {
                drop_body(&mut response);
            }
            response
        }
    }

    /// The error page for a failure that no service had a part in, such as a broken request line.
    #[must_use]
    pub fn failure(&self, error: &Error) -> Response {
        self.fail(error, self.inner.ids.next(), None, false)
    }

    pub(crate) fn has_database(&self) -> bool {
        self.inner.db.is_some()
    }

    pub(crate) fn db(&self) -> &sql::Local {
        self.inner.db.as_ref().expect(NO_DATABASE)
    }

    /// The cache of pages and fragments, if it keeps any.
    pub(crate) fn pages(&self) -> Result<Option<&Pages>> {
        if let Some(pages) = self.inner.pages.get() {
            return Ok(pages.as_deref());
        }
        let pages = self.site().caches().pages()?;
        Ok(self.inner.pages.get_or_init(|| pages).as_deref())
    }

    /// The application.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.inner.site
    }

    /// Whether what was asked speaks JSON is noted in `speaks_json`: it matters most where there is no answer.
    async fn dispatch(
        &self,
        parts: &Parts,
        body: Body,
        (peer, id): (Peer, RequestId),
        speaks_json: &Cell<bool>,
    ) -> Result {
        let site = self.site();
        if let Some(answer) = without_path(parts) {
            return answer;
        }
        let path = percent::normalise_path(parts.uri.path());
        let query = Pairs::decode(parts.uri.query().unwrap_or_default(), site.setup.limits.query_parameters)?;
        let Some(found) = site.router.find(&path) else { return self.elsewhere(parts, &path) };
        if parts.method == Method::OPTIONS {
            return Ok(Response::of_status(StatusCode::NO_CONTENT).with_header(ALLOW, found.allow().clone()));
        }
        let mut input = Input::new(parts, &found.path, query);
        let endpoint = match endpoint(&found, &parts.method, &input.query) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                speaks_json.set(found.endpoints().all(Endpoint::speaks_json));
                return page_of_form(&found, &input).ok_or(error);
            }
        };
        speaks_json.set(endpoint.speaks_json());
        let needs_token = !endpoint.is_open_to_others() && origin::check(parts, &site.trusted_origins)?;
        let limit = endpoint.body_limit().unwrap_or(site.setup.limits.body);
        let mut cx = Cx::new(parts, peer, (body, limit), self, id);
        if needs_token {
            endpoint.ask_for_token(&mut cx).await?;
        }
        let mut response = match endpoint.call(&mut cx, &mut input).await {
            Ok(response) => response,
            Err(error) => return Err(cx.fail(error)),
        };
        if let Some(extra) = cx.complete().await? {
            add_headers(response.headers_mut(), *extra);
        }
        Ok(response)
    }

    /// There is one address for a page: the path as its service declares it. The same with or without a slash at its
    /// end leads there; anything else is a 404.
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
        // Most addresses that are none lead to no page with a slash either; a folder has one there only with an index.
        let is_page = self.site().router.find(&other).is_some_and(|found| found.endpoints().any(Endpoint::has_page));
        if !is_page {
            return Err(Error::not_found());
        }
        let target = match parts.uri.query() {
            Some(query) => format!("{other}?{query}"),
            None => other,
        };
        let location = HeaderValue::try_from(target)?;
        Ok(Response::of_status(StatusCode::PERMANENT_REDIRECT).with_header(LOCATION, location))
    }

    /// The error page for a request that failed elsewhere, where it was also logged: in another instance of this program.
    #[cfg(target_family = "wasm")]
    pub(crate) fn page_of(&self, request: &Request, error: &Error) -> Response {
        let (parts, id) = (&request.parts, request.id.unwrap_or_else(|| self.inner.ids.next()));
        let site = self.site();
        let path = percent::normalise_path(parts.uri.path());
        let speaks_json = || {
            let most = site.setup.limits.query_parameters;
            let query = Pairs::decode(parts.uri.query().unwrap_or_default(), most).ok()?;
            Some(endpoint(&site.router.find(&path)?, &parts.method, &query).ok()?.speaks_json())
        };
        let mut response = self.page(error, id, Some(parts), speaks_json().unwrap_or(false));
        if parts.method == Method::HEAD {
            drop_body(&mut response);
        }
        response
    }

    fn fail(&self, error: &Error, id: RequestId, parts: Option<&Parts>, speaks_json: bool) -> Response {
        log(error, id, parts);
        self.page(error, id, parts, speaks_json)
    }

    fn page(&self, error: &Error, id: RequestId, parts: Option<&Parts>, speaks_json: bool) -> Response {
        let site = self.site();
        let failure = Failure::new(error, id, site.in_development());
        let in_json = parts.is_some_and(|parts| error_page::wants_json(&parts.headers, speaks_json));
        panic::catch(|| error_page::render(&failure, error, in_json, site.error_page)).unwrap_or_else(|panicked| {
            tracing::error!(target: "skep::request", %id, "the error page of the application {panicked}");
            error_page::render(&failure, error, in_json, error_page::default_page)
        })
    }
}

/// The answer to what asks for no path: `OPTIONS *` for the server as a whole, and a proxy's `CONNECT host:80` (RFC 9112,
/// 3.2.3 and 3.2.4).
fn without_path(parts: &Parts) -> Option<Result> {
    if parts.uri.path().starts_with('/') {
        return None;
    }
    Some(match parts.method {
        Method::OPTIONS if parts.uri.path() == "*" => Ok(Response::of_status(StatusCode::NO_CONTENT)),
        Method::CONNECT => Err(Error::new(StatusCode::NOT_IMPLEMENTED).with_message("this server is no proxy")),
        _ => Err(Error::bad_request("the address has no path")),
    })
}

fn endpoint<'s>(found: &Found<'s, '_, Endpoint>, method: &Method, query: &Pairs<'_>) -> Result<&'s Endpoint> {
    found.endpoint(method, query).map_err(|reason| match reason {
        NoEndpoint::Method => Error::new(StatusCode::METHOD_NOT_ALLOWED).with_header(ALLOW, found.allow().clone()),
        NoEndpoint::Parameters(sets) => Error::bad_request(format!("the query needs {}", sets.join(", or "))),
    })
}

/// Who asks for the address of a form that was not accepted, by a reload or a bookmark, is led to the page that holds it.
fn page_of_form(found: &Found<'_, '_, Endpoint>, input: &Input<'_>) -> Option<Response> {
    if !matches!(input.parts.method, Method::GET | Method::HEAD) {
        return None;
    }
    let form = found.endpoint(&Method::POST, &input.query).ok()?;
    Some(Response::redirect(StatusCode::SEE_OTHER, &form.page_url(input)?))
}

/// Adds what the handler said through its [`Cx`]; the answer's own fields win, cookies add up.
fn add_headers(own: &mut HeaderMap, extra: HeaderMap) {
    let mut last = None;
    for (name, value) in extra {
        let Some(name) = name.or_else(|| last.clone()) else { continue };
        if name == SET_COOKIE || !own.contains_key(&name) {
            own.append(name.clone(), value);
        }
        last = Some(name);
    }
}

/// HEAD: the header block of GET's answer, and nothing behind it (RFC 9110, 9.3.2).
fn drop_body(response: &mut Response) {
    let body = std::mem::take(response.body_mut());
    if let Some(len) = body.len() {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert(len.into());
    }
}

fn log(error: &Error, id: RequestId, parts: Option<&Parts>) {
    let method = parts.map_or("-", |parts| parts.method.as_str());
    let path = parts.map_or("-", |parts| parts.uri.path());
    if error.is_ours() {
        tracing::error!(target: "skep::request", %id, method, path, "{error}");
    } else {
        tracing::debug!(target: "skep::request", %id, method, path, "{error}");
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").finish_non_exhaustive()
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

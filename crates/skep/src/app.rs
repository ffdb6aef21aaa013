//! The application, as its author puts it together.
//!
//! [`App`] only notes. [`App::open`] acts: it finds what is wrong before any socket opens, and gives back a [`Site`].

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use crate::cx::{Cx, read_whole};
use crate::error::{Error, Result};
use crate::error_page::{self, ErrorPage};
use crate::offload::{Inline, Offload};
use crate::panic;
use crate::param::Pairs;
use crate::request::header_text;
use crate::response::Response;
use crate::router::{Entry, Router};
use crate::service::{BodyKind, Handle, Input, Registry, Route, Services};
use crate::site::{Site, Values};

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
    services: Vec<Entry<Endpoint>>,
    values: Values,
    trusted_origins: Vec<String>,
    error_page: ErrorPage,
    starts: Vec<Start>,
    jobs: Vec<Job>,
    problems: Vec<String>,
}

/// What is done before the first request: [`App::on_start`].
type Start = Box<dyn FnOnce(&Site) -> Result<()> + Send>;

/// What is done again and again while the application runs: [`App::every`].
pub struct Job {
    name: &'static str,
    period: Duration,
    work: Box<dyn Fn(&Site) -> Result<()> + Send + Sync>,
}

impl Job {
    /// How the log names it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The time from the end of one run to the start of the next.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Runs it once, on this thread. A failure or a panic goes to the log, and the next run comes all the same.
    pub fn run(&self, site: &Site) {
        let result = panic::catch(|| (self.work)(site)).unwrap_or_else(|panicked| Err(Error::internal(panicked)));
        if let Err(error) = result {
            tracing::error!(target: "skep::job", job = self.name, "{error}");
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} every {:?}", self.name, self.period)
    }
}

/// What an application needs to know of where it runs. A server fills it in; [`Setup::default`] is good for tests.
#[derive(Clone)]
#[non_exhaustive]
pub struct Setup {
    /// The folder for everything that outlives the process.
    pub data: PathBuf,
    /// Error pages show all.
    pub development: bool,
    /// What a request may cost.
    pub limits: Limits,
    /// Where work that blocks is done.
    pub offload: Arc<dyn Offload>,
}

/// What one request may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes of a body, unless the service says otherwise (1 MiB).
    pub body: u64,
    /// The most fields of a form (1000).
    pub form_fields: usize,
    /// The most parameters of a query (1000).
    pub query_parameters: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 1 << 20, form_fields: 1000, query_parameters: 1000 }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self { data: PathBuf::from("data"), development: false, limits: Limits::default(), offload: Arc::new(Inline) }
    }
}

/// Why an application cannot start: all that was found wrong, one line each.
#[derive(Debug)]
pub struct StartError {
    problems: Vec<String>,
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
            values: HashMap::new(),
            trusted_origins: Vec::new(),
            error_page: error_page::default_page,
            starts: Vec::new(),
            jobs: Vec::new(),
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
    #[must_use]
    pub fn serve<S: Services>(mut self) -> Self {
        S::register(&mut self);
        self
    }

    /// Gives handlers a value to share, one of each type: [`Cx::get`] lends it out.
    ///
    /// It lives as long as the process and is seen by all requests; what belongs to one user does not belong here.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        if self.values.insert(TypeId::of::<T>(), Box::new(value)).is_some() {
            self.problems.push(format!("two values of type `{}` were given to App::with", std::any::type_name::<T>()));
        }
        self
    }

    /// Lets pages of another site (`https://partner.example`) send forms to this one.
    #[must_use]
    pub fn trust_origin(mut self, origin: impl Into<String>) -> Self {
        self.trusted_origins.push(origin.into());
        self
    }

    /// Draws error pages in the application's own style.
    #[must_use]
    pub fn error_page(mut self, page: ErrorPage) -> Self {
        self.error_page = page;
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
        self.jobs.push(Job { name, period, work: Box::new(work) });
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
        self.services.iter().map(route_line).collect()
    }

    /// Makes the application ready to answer, or says all that keeps it from it.
    pub fn open(self, setup: Setup) -> Result<Site, StartError> {
        panic::install_hook();
        let mut problems = self.problems;
        let router = match Router::new(self.services) {
            Ok(router) => Some(router),
            Err(conflicts) => {
                problems.extend(conflicts.iter().map(ToString::to_string));
                None
            }
        };
        let Some(router) = router.filter(|_| problems.is_empty()) else { return Err(StartError { problems }) };
        let site = Site {
            router,
            values: self.values,
            trusted_origins: self.trusted_origins,
            error_page: self.error_page,
            jobs: self.jobs,
            setup,
        };
        for start in self.starts {
            start(&site).map_err(|error| StartError { problems: vec![error.to_string()] })?;
        }
        Ok(site)
    }
}

impl Registry for App {
    fn add<S: Handle>(&mut self) {
        let endpoint = Endpoint { answers: Box::new(Typed::<S>(PhantomData)), route: S::ROUTE };
        self.services.push(Entry::of_route(endpoint.route, endpoint));
    }
}

fn route_line(entry: &Entry<Endpoint>) -> RouteLine {
    let mut path = entry.pattern.clone();
    for (position, name) in entry.required.iter().enumerate() {
        path.push(if position == 0 { '?' } else { '&' });
        path.push_str(name);
        path.push('=');
    }
    RouteLine { method: entry.method.to_string(), path, target: entry.name.clone() }
}

/// A service without its type.
pub(crate) struct Endpoint {
    answers: Box<dyn Answers>,
    route: &'static Route,
}

/// A future of a handler: it stays on its thread.
type Answering<'r> = Pin<Box<dyn Future<Output = Result> + 'r>>;

trait Answers: Send + Sync {
    fn call<'r>(&self, cx: Cx<'r>, input: Input<'r>) -> Answering<'r>;
}

impl Endpoint {
    pub(crate) fn call<'r>(&self, cx: Cx<'r>, input: Input<'r>) -> Answering<'r> {
        self.answers.call(cx, input)
    }

    pub(crate) fn cross_origin(&self) -> Option<&'static str> {
        self.route.cross_origin
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.route.service)
    }
}

struct Typed<S>(PhantomData<fn() -> S>);

impl<S: Handle> Answers for Typed<S> {
    fn call<'r>(&self, mut cx: Cx<'r>, input: Input<'r>) -> Answering<'r> {
        Box::pin(async move {
            // A constant of the service: the branches for other kinds of body do not exist in its code.
            let service = match S::ROUTE.body {
                BodyKind::Unread => S::parse(&input)?,
                kind => read_fields::<S>(&mut cx, input, kind).await?,
            };
            let response = service.handle(&mut cx).await?;
            Ok(with_headers(response, cx.into_headers()))
        })
    }
}

async fn read_fields<S: Handle>(cx: &mut Cx<'_>, mut input: Input<'_>, kind: BodyKind) -> Result<S> {
    expect_type(cx.request_headers(), kind)?;
    let limits = cx.limits();
    let body = read_whole(cx.take_body(), S::ROUTE.body_limit.unwrap_or(limits.body)).await?;
    let mut input = Input {
        parts: input.parts,
        path: input.path,
        query: std::mem::take(&mut input.query),
        body: &body,
        form: Pairs::default(),
    };
    if kind == BodyKind::Form {
        let text = std::str::from_utf8(&body).map_err(|_| Error::bad_request("the form is not UTF-8"))?;
        input.form = Pairs::decode(text, limits.form_fields)?;
    }
    S::parse(&input)
}

/// 415 unless the body is of the type that the service reads.
fn expect_type(headers: &HeaderMap, kind: BodyKind) -> Result<()> {
    let sent = header_text(headers, &CONTENT_TYPE).unwrap_or_default();
    let sent = sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (fits, wanted) = match kind {
        BodyKind::Json => (sent == "application/json" || sent.ends_with("+json"), "application/json"),
        // Without a type there is nothing to contradict; a form says so in every browser.
        _ => (sent == FORM_TYPE || sent.is_empty(), FORM_TYPE),
    };
    if fits {
        return Ok(());
    }
    let sent = if sent.is_empty() { "a body without a type".to_owned() } else { sent };
    Err(Error::new(StatusCode::UNSUPPORTED_MEDIA_TYPE).with_message(format!("{sent} came where {wanted} is expected")))
}

const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// Adds what the handler said through its [`Cx`]; the answer's own fields win, cookies add up.
fn with_headers(mut response: Response, extra: HeaderMap) -> Response {
    let own = response.headers_mut();
    let mut last = None;
    for (name, value) in extra {
        let Some(name) = name.or_else(|| last.clone()) else { continue };
        if name == http::header::SET_COOKIE || !own.contains_key(&name) {
            own.append(name.clone(), value);
        }
        last = Some(name);
    }
    response
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("services", &self.services.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("data", &self.data).finish_non_exhaustive()
    }
}

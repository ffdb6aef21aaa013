//! Which pages of other origins may read responses: Cross-Origin Resource Sharing (Fetch, 3.3). Off, unless an
//! application says otherwise.
//!
//! Start reading at [`Cors`], which [`App::cors`](crate::App::cors) takes.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    CONTENT_TYPE, COOKIE, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::routing::path_prefix::PathPrefix;
use skep_http::request::Parts;
use skep_http::response::Response;

/// The origins are listed, and may be allowed to send cookies.
#[derive(Debug)]
pub enum Listed {}

/// Every origin is allowed, and none may send cookies.
#[derive(Debug)]
pub enum Any {}

/// Which pages of other origins may call what is below a prefix, and read the responses.
///
/// ```
/// use skep::cors::Cors;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/api/hives")]
/// struct Hives;
///
/// impl Handle for Hives {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("[]")) }
/// }
///
/// let cors = Cors::origins(["https://app.example"]).credentials();
/// let client = skep::test::Client::new(App::new().serve(services![Hives]).cors("/api", cors));
/// let answer = client.request(skep::Method::GET, "/api/hives").header("origin", "https://app.example").send();
/// assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
/// ```
///
/// Which methods are allowed is known: those of the services on the path. Of request headers, `Content-Type` is allowed
/// unless [`headers`](Self::headers) says more.
///
/// A page of a listed origin may also send forms to services below the prefix, which are refused otherwise: with
/// cookies if [`credentials`](Cors::credentials) are allowed, and without cookies if not.
///
/// Cookies for any origin would let every page on the web act as your users, and browsers refuse it, so it cannot be
/// written:
///
/// ```compile_fail,E0599
/// skep::cors::Cors::any_origin().credentials();
/// ```
pub struct Cors<O = Listed> {
    rules: Rules,
    kind: PhantomData<O>,
}

#[derive(Debug)]
pub(crate) struct Rules {
    /// `None` is every origin.
    origins: Option<Vec<String>>,
    credentials: bool,
    headers: Vec<HeaderName>,
    exposed: Vec<HeaderName>,
    max_age: Duration,
}

impl Cors<Listed> {
    /// Allows these origins, each as browsers write it: `https://app.example` or `http://localhost:5173`, without a
    /// path.
    #[must_use]
    pub fn origins(origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(Some(origins.into_iter().map(Into::into).collect()))
    }

    /// Allows their requests to carry cookies, and so to be a user's (`fetch(url, { credentials: "include" })`). The
    /// cookies of a session are `SameSite=Lax`, so they come along from other origins of the same site only, such as
    /// `app.example.org` for `api.example.org`.
    #[must_use]
    pub fn credentials(mut self) -> Self {
        self.rules.credentials = true;
        self
    }
}

impl Cors<Any> {
    /// Allows all origins, for what is public: `Access-Control-Allow-Origin: *`.
    #[must_use]
    pub fn any_origin() -> Self {
        Self::new(None)
    }
}

impl<O> Cors<O> {
    fn new(origins: Option<Vec<String>>) -> Self {
        let max_age = Duration::from_mins(10);
        let rules = Rules { origins, credentials: false, headers: vec![CONTENT_TYPE], exposed: Vec::new(), max_age };
        Self { rules, kind: PhantomData }
    }

    /// Request headers that scripts may set besides `Content-Type`, such as `Authorization`.
    #[must_use]
    pub fn headers(mut self, headers: impl IntoIterator<Item = HeaderName>) -> Self {
        self.rules.headers.extend(headers);
        self
    }

    /// Response headers that scripts may read besides those that they always may (`Cache-Control`, `Content-Language`,
    /// `Content-Length`, `Content-Type`, `Expires`, `Last-Modified`).
    #[must_use]
    pub fn expose(mut self, headers: impl IntoIterator<Item = HeaderName>) -> Self {
        self.rules.exposed.extend(headers);
        self
    }

    /// How long browsers may remember the answer to a preflight. Default: 10 minutes.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.rules.max_age = max_age;
        self
    }

    pub(crate) fn into_rules(self) -> Rules {
        self.rules
    }
}

impl<O> fmt::Debug for Cors<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.fmt(f)
    }
}

/// All rules of an application, by prefix.
#[derive(Debug, Default)]
pub(crate) struct CorsTable(Vec<(PathPrefix, Rules)>);

impl CorsTable {
    pub(crate) fn add(&mut self, prefix: &str, rules: Rules) {
        self.0.push((PathPrefix::new(prefix), rules));
    }

    /// The rules of the longest prefix.
    pub(crate) fn find(&self, path: &str) -> Option<&Rules> {
        if self.0.is_empty() {
            return None;
        }
        let matching = self.0.iter().filter(|(prefix, _)| prefix.begins_literally(path));
        matching.max_by_key(|(prefix, _)| prefix.len()).map(|(_, rules)| rules)
    }

    /// True if the request comes from another origin that may send it, so that it needs no other proof of where it
    /// comes from.
    pub(crate) fn admits(&self, parts: &Parts) -> bool {
        let Some(rules) = self.find(parts.uri.path()) else { return false };
        let has_cookies = parts.headers.contains_key(COOKIE);
        parts.headers.get(ORIGIN).is_some_and(|origin| rules.allows(origin.as_bytes()))
            && (rules.credentials || !has_cookies)
    }
}

impl Rules {
    /// What is wrong with them.
    pub(crate) fn problems(&self) -> Vec<String> {
        let origins = self.origins.iter().flatten().filter(|origin| !is_origin(origin));
        let problem = |origin: &String| {
            format!(
                "App::cors: {origin:?} is no origin; expected one as browsers write it, in lower case, without a path and the port of its \
                 scheme: \"https://app.example\""
            )
        };
        origins.map(problem).collect()
    }

    fn allows(&self, origin: &[u8]) -> bool {
        self.origins.as_ref().is_none_or(|listed| listed.iter().any(|listed| listed.as_bytes() == origin))
    }

    /// The answer to the request by which a browser asks whether it may send another one; `methods` are those of the
    /// path.
    pub(crate) fn preflight(&self, methods: HeaderValue) -> Response {
        let seconds = HeaderValue::from(self.max_age.as_secs());
        let response = Response::empty(StatusCode::NO_CONTENT)
            .with_header(ACCESS_CONTROL_ALLOW_METHODS, methods)
            .with_header(ACCESS_CONTROL_MAX_AGE, seconds);
        match names(&self.headers) {
            Some(names) => response.with_header(ACCESS_CONTROL_ALLOW_HEADERS, names),
            None => response,
        }
    }

    /// Adds what a response to this origin says of it. The fields of a refusal are removed: a browser would take them
    /// for a permission.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap, origin: Option<&HeaderValue>) {
        if self.origins.is_none() {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        } else {
            // A cache must not give the response for one origin to another.
            headers.append(VARY, HeaderValue::from_static("origin"));
            let Some(origin) = origin.filter(|origin| self.allows(origin.as_bytes())) else {
                return REFUSED.iter().for_each(|name| drop(headers.remove(name)));
            };
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        }
        if self.credentials {
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        if let Some(names) = names(&self.exposed) {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, names);
        }
    }
}

const REFUSED: [HeaderName; 3] = [ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_MAX_AGE];

/// The methods of what is mounted, which nobody knows.
pub(crate) const ANY_METHOD: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");

/// True if a browser asks whether it may send another request (Fetch, 4.8).
pub(crate) fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS
        && parts.headers.contains_key(ORIGIN)
        && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn names(names: &[HeaderName]) -> Option<HeaderValue> {
    let names: Vec<&str> = names.iter().map(HeaderName::as_str).collect();
    (!names.is_empty()).then(|| HeaderValue::try_from(names.join(", ")).expect("names of header fields are tokens"))
}

/// An origin as it is serialised (HTML, 7.1.1), and none that is opaque (`null`), which every sandboxed page has.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic());
    let has_own_port = matches!(scheme, "http") && authority.ends_with(":80")
        || matches!(scheme, "https") && authority.ends_with(":443");
    is_part(scheme)
        && is_part(authority)
        && !authority.contains(['/', '?', '#', '@', '*', '\\'])
        && !text.bytes().any(|byte| byte.is_ascii_uppercase())
        && !has_own_port
}

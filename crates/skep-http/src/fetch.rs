//! Requests to other servers: what a handler asks, what it gets, and why it gets nothing.
//!
//! Nothing here opens a socket: a server brings a [`Fetcher`], in a component the host sends the request. Start reading
//! at `Cx::fetch`.

mod error;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skep_settings::{GIB, HOUR, MIB, SECOND, settings};

pub use error::{FetchError, invalid, no_fetcher};

/// A request to another server. A URL alone is a GET.
///
/// ```
/// use skep::fetch::FetchRequest;
/// use skep::{HeaderValue, header};
///
/// let order = [("article", 7)];
/// let request = FetchRequest::post("https://api.example.org/orders")
///     .json(&order)
///     .header(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"))
///     .timeout(std::time::Duration::from_secs(2));
/// # let _ = request;
/// ```
#[derive(Debug)]
#[must_use]
pub struct FetchRequest {
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Bytes,
    timeout: Option<Duration>,
    /// What is wrong with it already.
    problem: Option<FetchError>,
}

impl FetchRequest {
    /// A request with this method. The URL begins with `https://` or `http://`.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        Self { method, url: url.into(), headers, body, timeout: None, problem: None }
    }

    /// GET.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// POST.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new(Method::POST, url)
    }

    /// Sets a header field.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The body, of this type.
    pub fn body(self, content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self.header(CONTENT_TYPE, content_type) }
    }

    /// The body as JSON.
    pub fn json(mut self, value: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.body(HeaderValue::from_static("application/json"), body),
            Err(error) => {
                self.problem = Some(FetchError::invalid(format!("the body has no JSON form: {error}")));
                self
            }
        }
    }

    /// The most time that it may take, from the call to the last byte of the response, where that is less than
    /// `limits.fetch_time`.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

extension! {
    /// What a framework does with a request to another server.
    pub trait FetchRequestExt for FetchRequest {
        /// As it goes to a [`Fetcher`]. `traceparent` is for requests that have none.
        fn into_http(
            self,
            own: Bounds,
            traceparent: Option<&str>,
        ) -> Result<(http::Request<Bytes>, Bounds), FetchError> {
            if let Some(problem) = self.problem {
                return Err(problem);
            }
            // Neither text nor cause repeats a URL: it may hold a secret.
            let uri: Uri = self.url.parse().map_err(|error| FetchError::invalid(format!("this is no URL: {error}")))?;
            let is_http = uri.scheme_str().is_some_and(|scheme| matches!(scheme, "http" | "https"));
            if !is_http || uri.host().is_none_or(str::is_empty) {
                return Err(FetchError::invalid("expected a URL with a host, such as https://api.example.org/users"));
            }
            if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
                return Err(FetchError::invalid("a URL cannot hold a password: set the header field authorization"));
            }
            let mut request = http::Request::new(self.body);
            (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (self.method, uri, self.headers);
            let headers = request.headers_mut();
            if let Some(value) = traceparent.and_then(|text| HeaderValue::from_str(text).ok()) {
                headers.entry("traceparent").or_insert(value);
            }
            headers.entry(http::header::USER_AGENT).or_insert(AGENT);
            Ok((request, Bounds { time: self.timeout.unwrap_or(own.time).min(own.time), ..own }))
        }
    }
}

/// Some servers answer no request without one.
const AGENT: HeaderValue = HeaderValue::from_static(concat!("skep/", env!("CARGO_PKG_VERSION")));

impl From<&str> for FetchRequest {
    fn from(url: &str) -> Self {
        Self::get(url)
    }
}

impl From<String> for FetchRequest {
    fn from(url: String) -> Self {
        Self::get(url)
    }
}

/// The response of another server, read to its end. Any status is a response, not an error.
#[derive(Clone, Debug)]
pub struct FetchResponse {
    inner: http::Response<Bytes>,
}

impl FetchResponse {
    /// The status. Redirects are not followed: `Location` says where one leads.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The header fields.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// One header field, if it is there and is visible ASCII.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// The body.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        self.inner.body()
    }

    /// The body as text; what is not UTF-8 becomes U+FFFD.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The body from JSON.
    ///
    /// # Errors
    /// If the status is no success, or the body is not JSON of this type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, FetchError> {
        if !self.status().is_success() {
            return Err(FetchError::unsuccessful(self.status()));
        }
        serde_json::from_slice(self.bytes()).map_err(FetchError::not_json)
    }
}

extension! {
    /// What a framework does with a response of another server.
    pub trait FetchResponseExt for FetchResponse {
        /// One that has come.
        fn of(inner: http::Response<Bytes>) -> Self {
            Self { inner }
        }
    }
}

settings! {
    /// What a request may take: the settings `limits.fetch_time` and `limits.fetch_body`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Bounds in "limits" {
        /// Maximum size of the body of a response to `cx.fetch` (an error for the handler, 502 if it does not expect
        /// one).
        body as "limits.fetch_body": u64 = Size(0..=GIB), 8 * MIB, variable "SKEP_FETCH_BODY" as number;
        /// Time for a `cx.fetch`, from the call to the last byte of the response, waiting for a connection included
        /// (504).
        time as "limits.fetch_time": Duration = Duration(10..=HOUR), 10 * SECOND, variable "SKEP_FETCH_TIME" as milliseconds;
    }
}

/// A response, in a while. It stays on the thread of its request.
pub type Fetching<'f> = Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, FetchError>> + 'f>>;

/// Sends requests to other servers. `skep-server` has one, with the cargo feature `fetch`; a test can bring its own
/// (`App::fetcher`).
pub trait Fetcher: Send + Sync {
    /// Sends one request and reads the response. The URI is absolute. It keeps the bounds, and follows no redirect.
    fn fetch(&self, request: http::Request<Bytes>, bounds: Bounds) -> Fetching<'_>;
}

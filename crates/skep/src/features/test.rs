//! Drives an application without a socket.
//!
//! ```
//! use skep::prelude::*;
//! use skep::test::Client;
//!
//! #[derive(Service)]
//! #[service(GET "/")]
//! struct Index;
//!
//! impl Handle for Index {
//!     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("hello")) }
//! }
//!
//! let client = Client::new(App::new().serve(services![Index]));
//! let answer = client.get("/");
//! assert_eq!((answer.status().as_u16(), answer.text()), (200, "hello"));
//! ```
//!
//! The application runs on a thread of its own with a tokio runtime, as it does in a server. So timers and everything
//! else of tokio works in handlers, and a [`Client`] may go to any thread, also to one that runs tokio:
//! `client.get(..)` blocks it, and `client.request(..).await` does not.

#![allow(clippy::missing_panics_doc, reason = "a test fails by panicking: `Client` says when")]

use std::collections::BTreeMap;
use std::future::{Future, IntoFuture};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use skep_cache::driver::block_on;
use skep_units::lock;

use crate::application::app::App;
use crate::application::site::Site;
use crate::base::percent::{self, EncodeSet};
use crate::context::cx::Cx;
use crate::context::setup::Setup;
use crate::host::mail::Mail;
use crate::settings::{RawSetting, RawValue, Source};
use skep_http::body::Body;
use skep_http::error::{Error, Result};
use skep_http::request::{Peer, Request};
use skep_http::response::Cause;

use self::driver::Driver;

#[cfg(feature = "browser")]
mod browser;
mod driver;
mod form;
mod response;
mod stream;

#[cfg(feature = "browser")]
pub use browser::Browser;
pub use form::FormFiller;
pub use response::TestResponse;
pub use stream::TestStream;

/// A browser of sorts: it keeps cookies, follows redirects and fills in forms. Clones share their cookies.
///
/// # Panics
/// Its methods panic where a test should fail: an application that does not start, an invalid address.
#[derive(Clone, Debug)]
pub struct Client {
    driver: Arc<Driver>,
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
    /// It says where its requests come from, as browsers since 2023 do.
    sends_fetch_metadata: bool,
    /// None, unless a test says so.
    address: Option<SocketAddr>,
}

/// How many redirects are followed before it counts as a loop.
const MAX_REDIRECTS: usize = 10;

impl Client {
    /// Opens the application as [`Setup::default`] says, but with a temporary database.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self::with_setup(app, Setup { temporary_database: true, ..Setup::default() })
    }

    /// Opens the application like [`new`](Self::new), with these [settings](crate::settings) of its own.
    #[must_use]
    pub fn with_settings(app: App, settings: &[(&str, &str)]) -> Self {
        let raw = |(name, value): &(&str, &str)| RawSetting {
            name: (*name).to_owned(),
            value: RawValue::Text((*value).to_owned()),
            source: Source::Fixed,
        };
        let settings = settings.iter().map(raw).collect();
        Self::with_setup(app, Setup { temporary_database: true, settings, ..Setup::default() })
    }

    /// Opens the application with this setup.
    #[must_use]
    pub fn with_setup(app: App, setup: Setup) -> Self {
        let site = app.open(setup).unwrap_or_else(|error| panic!("the application does not start:\n{error}"));
        Self::of_site(&Arc::new(site))
    }

    /// One more client of an application that is open already.
    #[must_use]
    pub fn of_site(site: &Arc<Site>) -> Self {
        Self { driver: Driver::start(site), cookies: Arc::default(), sends_fetch_metadata: true, address: None }
    }

    /// A browser that does not say where its requests come from: one before `Sec-Fetch-Site`, and without `Origin`.
    #[must_use]
    pub fn without_fetch_metadata(mut self) -> Self {
        self.sends_fetch_metadata = false;
        self
    }

    /// A browser at this address, for what is limited by address.
    ///
    /// ```
    /// use skep::prelude::*;
    /// # #[derive(Service)] #[service(GET "/")] struct Index;
    /// # impl Handle for Index {
    /// #     async fn handle(self, cx: &mut Cx<'_>) -> Result { Ok(Response::text(format!("{:?}", cx.peer().address))) }
    /// # }
    /// let client = skep::test::Client::new(App::new().serve(services![Index])).at_address("192.0.2.1");
    /// assert!(client.get("/").text().contains("192.0.2.1"));
    /// ```
    ///
    /// # Panics
    /// If it is no address.
    #[must_use]
    pub fn at_address(mut self, address: &str) -> Self {
        let address: IpAddr = address.parse().unwrap_or_else(|_| panic!("{address:?} is no address"));
        self.address = Some(SocketAddr::new(address, 49_152));
        self
    }

    /// The answer to GET, redirects followed.
    #[must_use]
    pub fn get(&self, url: &str) -> TestResponse {
        self.request(Method::GET, url).send()
    }

    /// The answer to a form, redirects followed.
    pub fn post(&self, url: &str, fields: &[(&str, &str)]) -> TestResponse {
        self.request(Method::POST, url).form(fields).send()
    }

    /// A request to be given more before it is sent.
    pub fn request(&self, method: Method, url: &str) -> RequestBuilder<'_> {
        RequestBuilder {
            client: self,
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            follow: true,
        }
    }

    /// Tells the application that the server drains, as before it stops: [`Cx::draining`](crate::Cx::draining).
    pub fn drain(&self) {
        self.driver.site().drain();
    }

    /// Runs `work` as if a request of this client had reached a handler, for functions that take a [`Cx`]. The client
    /// keeps the cookies that it sets.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::session::Key;
    ///
    /// const NAME: Key<String> = Key::new("name");
    /// # #[derive(Service)] #[service(GET "/")] struct Index;
    /// # impl Handle for Index {
    /// #     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    /// #         Ok(Response::text(cx.session().get(&NAME).await?.unwrap_or_default()))
    /// #     }
    /// # }
    /// # fn app() -> App { App::new().serve(services![Index]) }
    ///
    /// let client = skep::test::Client::new(app());
    /// client.with_cx(async |cx| cx.session().set(&NAME, &"Ada".to_owned()).await).unwrap();
    /// assert_eq!(client.get("/").text(), "Ada");
    /// ```
    pub fn with_cx<T: Send + 'static>(
        &self,
        work: impl AsyncFnOnce(&mut Cx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (parts, peer) = (self.parts(&Method::POST, "/", &HeaderMap::new()), Peer::new(self.address, false));
        let (value, headers) = block_on(self.driver.run(move |local| async move {
            let resources = local.resources_for_request();
            let parts = parts.into();
            let mut cx = Cx::new(&parts, peer, (Body::empty(), 0), &resources, local.next_id().into());
            let value = work(&mut cx).await?;
            let mut headers = cx.complete().await?.map(|headers| *headers).unwrap_or_default();
            for cookie in resources.cookies().take() {
                headers.append(SET_COOKIE, cookie);
            }
            Ok::<_, Error>((value, headers))
        }))?;
        self.keep_cookies(&headers);
        Ok(value)
    }

    /// The application, for what tests do beside requests.
    #[must_use]
    pub fn site(&self) -> &Arc<Site> {
        self.driver.site()
    }

    /// The value of a cookie that the client keeps.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<String> {
        lock(&self.cookies).get(name).cloned()
    }

    /// The mails that the application has sent so far.
    ///
    /// # Panics
    /// If the setup has a [`mailer`](Setup::mailer), or keeps its data: [`Setup::data`] names a folder, or
    /// [`Setup::database`] a PostgreSQL, without [`Setup::temporary_database`].
    #[must_use]
    pub fn mails(&self) -> Vec<Mail> {
        let mails = self.driver.site().mails();
        mails.expect("mail is collected only with `temporary_database` and without `mailer` in `Setup`")
    }

    fn parts(&self, method: &Method, url: &str, headers: &HeaderMap) -> Parts {
        let uri: Uri = url.parse().unwrap_or_else(|error| panic!("{url:?} is no address: {error}"));
        let (mut parts, ()) = http::Request::new(()).into_parts();
        (parts.method, parts.uri, parts.headers) = (method.clone(), uri, headers.clone());
        parts.headers.entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        if self.sends_fetch_metadata {
            parts.headers.entry("sec-fetch-site").or_insert(HeaderValue::from_static("same-origin"));
        }
        if let Some(cookies) = self.cookie_field() {
            parts.headers.insert(COOKIE, cookies);
        }
        parts
    }

    /// The response to one request, its body not yet read.
    async fn once(&self, method: &Method, url: &str, headers: &HeaderMap, body: &Bytes) -> (TestResponse, Body) {
        let request = Request::new(self.parts(method, url, headers), body.clone().into());
        let request = request.with_peer(Peer::new(self.address, false));
        let response = self.driver.run(|local| async move { local.answer(request).await }).await;
        self.keep_cookies(response.headers());
        let (parts, body) = response.into_http().into_parts();
        let cause = parts.extensions.get::<Cause>().map(|Cause(cause)| Arc::clone(cause));
        if let Some(cause) = &cause {
            // A test that fails shows what was printed; the page hides it, as it does from clients.
            eprintln!("{method} {url}: {cause}");
        }
        (TestResponse::new(parts.status, parts.headers, url, cause, self), body)
    }

    fn cookie_field(&self) -> Option<HeaderValue> {
        let cookies = lock(&self.cookies);
        let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| HeaderValue::try_from(pairs.join("; ")).expect("cookies are visible ASCII"))
    }

    fn keep_cookies(&self, headers: &HeaderMap) {
        let mut cookies = lock(&self.cookies);
        for field in headers.get_all(SET_COOKIE) {
            let field = field.to_str().expect("cookies are visible ASCII");
            let (pair, attributes) = field.split_once(';').unwrap_or((field, ""));
            let (name, value) = pair.split_once('=').expect("a cookie is name=value");
            if attributes.split(';').any(|attribute| attribute.trim() == "Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.into(), value.into());
            }
        }
    }
}

/// A request that is being put together.
///
/// ```
/// use skep::prelude::*;
/// use skep::Method;
///
/// let client = skep::test::Client::new(App::new());
/// let answer = client.request(Method::GET, "/").header("accept", "application/json").send();
/// assert_eq!(answer.status(), 404);
/// ```
#[derive(Debug)]
#[must_use = "a draft is not sent until `send`"]
pub struct RequestBuilder<'c> {
    client: &'c Client,
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Bytes,
    follow: bool,
}

impl RequestBuilder<'_> {
    /// Adds a header field.
    ///
    /// # Panics
    /// If name or value is invalid.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap_or_else(|_| panic!("{name:?} is no header name"));
        self.headers.append(name, value.parse().unwrap_or_else(|_| panic!("{value:?} is no header value")));
        self
    }

    /// Sends these fields as a form.
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        self.body("application/x-www-form-urlencoded", encoded(fields))
    }

    /// Sends these fields and files as a form does that has files. A file is the name of its field, its own name, its
    /// kind and its content.
    pub fn files(mut self, fields: &[(&str, &str)], files: &[(&str, &str, &str, &[u8])]) -> Self {
        const BOUNDARY: &str = "----skep-boundary-of-the-test-client";
        let mut body = Vec::new();
        let mut part = |head: String, content: &[u8]| {
            body.extend_from_slice(
                format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(),
            );
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        };
        for (name, value) in fields {
            part(format!("name=\"{name}\""), value.as_bytes());
        }
        for (name, file_name, kind, content) in files {
            part(format!("name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {kind}"), content);
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        self.body = body.into();
        let kind = HeaderValue::try_from(format!("multipart/form-data; boundary={BOUNDARY}"));
        self.headers.insert(CONTENT_TYPE, kind.expect("a boundary is visible ASCII"));
        self
    }

    /// Sends this value as JSON.
    ///
    /// # Panics
    /// If it has no JSON form.
    pub fn json(self, value: &impl serde::Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("the value has a JSON form");
        self.body("application/json", body)
    }

    /// Sends any body.
    pub fn body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        self.body = body.into();
        self
    }

    /// Gives back a redirect as it is.
    pub fn without_redirects(mut self) -> Self {
        self.follow = false;
        self
    }

    /// The answer.
    pub fn send(self) -> TestResponse {
        block_on(self.answer())
    }

    /// The answer as soon as its head is there: [`TestStream`] reads the body piece by piece.
    pub fn open(self) -> TestStream {
        let driver = Arc::clone(&self.client.driver);
        let (response, body) = block_on(self.follow());
        TestStream::new(response, body, driver)
    }

    async fn answer(self) -> TestResponse {
        let driver = Arc::clone(&self.client.driver);
        let (response, body) = self.follow().await;
        let whole = driver.run(|_| async move { body.collect(u64::MAX).await }).await;
        response.with_body(whole)
    }

    /// Sends it, and what redirects ask for.
    async fn follow(self) -> (TestResponse, Body) {
        let Self { client, mut method, mut url, mut headers, mut body, follow } = self;
        for _ in 0..=MAX_REDIRECTS {
            let (answer, rest) = client.once(&method, &url, &headers, &body).await;
            let Some(target) = answer.header("location").filter(|_| follow && answer.status().is_redirection()) else {
                return (answer, rest);
            };
            target.clone_into(&mut url);
            // 307 and 308 repeat the request; after the others, browsers GET (Fetch, 4.4).
            if !matches!(answer.status().as_u16(), 307 | 308) {
                method = Method::GET;
                body = Bytes::new();
                headers.remove(CONTENT_TYPE);
            }
        }
        panic!("{url}: more than {MAX_REDIRECTS} redirects");
    }
}

/// `client.request(..).await`: the answer, without blocking the thread.
///
/// ```
/// # use skep::prelude::*;
/// # use skep::Method;
/// # #[derive(Service)] #[service(GET "/")] struct Index;
/// # impl Handle for Index { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("hello")) } }
/// # fn app() -> App { App::new().serve(services![Index]) }
/// # async fn test() {
/// let client = skep::test::Client::new(app());
/// assert_eq!(client.request(Method::GET, "/").await.text(), "hello"); // in a `#[tokio::test]`
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test());
/// ```
impl<'c> IntoFuture for RequestBuilder<'c> {
    type Output = TestResponse;
    type IntoFuture = Pin<Box<dyn Future<Output = TestResponse> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.answer())
    }
}

/// Pairs as the body of a form, and as a query.
fn encoded(fields: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (position, (name, value)) in fields.iter().enumerate() {
        if position > 0 {
            text.push('&');
        }
        percent::encode_written(&mut text, EncodeSet::Form, |text| text.push_str(name));
        text.push('=');
        percent::encode_written(&mut text, EncodeSet::Form, |text| text.push_str(value));
    }
    text
}

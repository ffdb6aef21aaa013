//! Responses.

pub(crate) mod coding;
mod content;
mod header_block;
pub mod security_headers;

use std::cell::OnceCell;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, LOCATION};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode};

use self::coding::{Whole, Wish};
use self::security_headers::SecurityHeaders;
use crate::account::{Account, Rendering};
use crate::body::{Body, pages};
use crate::error::{Error, ErrorExt as _};
use crate::wire::Hint;
use skep_html::{Destination, Html};

pub use header_block::HeaderBlock;
pub use security_headers::SecurityHeadersExt;

/// The result of a handler: `-> Result` for a [`Response`], or `Result<T>` for any other value.
pub type Result<T = Response, E = Error> = std::result::Result<T, E>;

/// The media type of every page.
const HTML: &str = "text/html; charset=utf-8";

/// In bytes, what most JSON has room in. A buffer that grows is copied each time.
const USUAL_JSON: usize = 1000;

/// A response: status, header fields and a [`Body`].
///
/// ```
/// use skep::Response;
///
/// let response = Response::text("Hello, world!");
/// assert_eq!(response.status(), 200);
/// assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
/// ```
#[derive(Debug, Default)]
pub struct Response {
    status: StatusCode,
    body: Body,
    /// All that nearly every response has, and so written without a map of fields. Where there is a map, that has it.
    content_type: Option<&'static str>,
    /// Most responses set no other fields, and have no map unless somebody asks for it.
    map: OnceCell<Box<HeaderMap>>,
    extensions: Extensions,
    /// Fields that are sent behind the others.
    block: Option<HeaderBlock>,
    /// What it cost, for a server that asked.
    account: Option<Box<Account>>,
}

impl Response {
    /// 200 with this body and no `Content-Type`.
    #[must_use]
    pub fn new(body: impl Into<Body>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// A status without a body.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self::new(Body::empty()).with_status(status)
    }

    /// `text/plain`, in UTF-8.
    #[must_use]
    pub fn text(text: impl Into<Body>) -> Self {
        Self::of_type("text/plain; charset=utf-8", text)
    }

    /// A body of the media type that `content_type` names.
    #[must_use]
    pub fn with_content_type(content_type: &'static str, body: impl Into<Body>) -> Self {
        // Panics, as it always has, for what is no value of a field.
        let _ = HeaderValue::from_static(content_type);
        Self::of_type(content_type, body)
    }

    fn of_type(content_type: &'static str, body: impl Into<Body>) -> Self {
        Self { content_type: Some(content_type), ..Self::new(body) }
    }

    /// `text/html`, in UTF-8: a page, or a piece of one for a script that asked for it.
    ///
    /// ```
    /// use skep::Response;
    ///
    /// let response = Response::html(skep::html! { p { "Hello" } });
    /// assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    /// assert_eq!(response.body().as_whole(), Some(&b"<p>Hello</p>"[..]));
    /// ```
    #[must_use]
    pub fn html<C, H>(html: Html<C, H>) -> Self {
        Self::of_type(HTML, html)
    }

    /// A page sent piece by piece, each as soon as it is made. The example is at `html::stream` of `skep`.
    #[must_use]
    pub fn html_stream<C, H, S, E>(pieces: S) -> Self
    where
        C: 'static,
        H: 'static,
        S: futures_core::Stream<Item = Result<Html<C, H>, E>> + 'static,
        E: Into<crate::body::BodyError> + 'static,
    {
        Self::of_type(HTML, pages::stream(pieces))
    }

    /// `application/json`. A value that has no JSON form (a map with keys that are no strings) is an error.
    pub fn json(value: &impl serde::Serialize) -> crate::Result {
        let rendering = Rendering::begin();
        let mut text = Vec::with_capacity(USUAL_JSON);
        serde_json::to_writer(&mut text, value)?;
        drop(rendering);
        Ok(Self::of_type("application/json", text))
    }

    /// 303 See Other: the redirect after a POST, so that reloading the page does not repeat it.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/thanks")]
    /// struct Thanks;
    /// # impl Handle for Thanks { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// assert_eq!(Response::see_other(Thanks).headers()["location"], "/thanks");
    /// assert_eq!(Response::see_other(Thanks.at("next")).headers()["location"], "/thanks#next");
    /// ```
    #[must_use]
    pub fn see_other(to: impl Destination) -> Self {
        Self::redirect_to(StatusCode::SEE_OTHER, &to)
    }

    /// 302 Found: a temporary redirect. Destinations are those of [`see_other`](Self::see_other).
    #[must_use]
    pub fn redirect(to: impl Destination) -> Self {
        Self::redirect_to(StatusCode::FOUND, &to)
    }

    /// 308 Permanent Redirect. Destinations are those of [`see_other`](Self::see_other).
    #[must_use]
    pub fn permanent_redirect(to: impl Destination) -> Self {
        Self::redirect_to(StatusCode::PERMANENT_REDIRECT, &to)
    }

    fn redirect_to(status: StatusCode, to: &impl Destination) -> Self {
        let mut url = String::new();
        to.write_url(&mut url);
        Self::redirect_with_status(status, &url)
    }

    /// Changes the status.
    #[must_use]
    #[inline]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Sets a header field.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers_mut().insert(name, value);
        self
    }

    /// Security headers for this response alone, in place of those of the application. What is wrong with them is an
    /// error.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::SecurityHeaders;
    ///
    /// fn widget() -> Result {
    ///     let embeddable = SecurityHeaders::new().directive("frame-ancestors", "https://partner.example");
    ///     Response::html(html! { p { "12 °C" } }).with_security_headers(&embeddable)
    /// }
    /// # assert!(widget().is_ok());
    /// ```
    pub fn with_security_headers(mut self, headers: &SecurityHeaders) -> Result {
        let headers = headers.compile().map_err(Error::internal)?;
        self.extensions.insert(headers);
        Ok(self)
    }

    /// Whether this response may be compressed, if clients, its media type and its size allow it. Without it, that
    /// depends on whether it holds what is one user's: the setting `compression.private`. Say `true` of a page which
    /// holds nothing secret, or repeats nothing that requests bring; `false` of one that holds a secret beside what
    /// others can write.
    ///
    /// ```
    /// use skep::Response;
    ///
    /// let chart = Response::text("a\t1\n".repeat(1000)).with_compression(true);
    /// # let _ = chart;
    /// ```
    #[must_use]
    pub fn with_compression(mut self, wanted: bool) -> Self {
        self.extensions.insert(Wish(wanted));
        self
    }

    /// That of [`with_compression`](Self::with_compression).
    #[cfg(feature = "compression")]
    pub(crate) fn take_wish(&mut self) -> Option<Wish> {
        self.extensions.remove()
    }

    /// Has a host of components compress this response as a native application would.
    #[doc(hidden)]
    pub fn set_hint(&mut self, hint: Hint) {
        self.extensions.insert(hint);
    }

    /// Those of [`with_security_headers`](Self::with_security_headers).
    pub(crate) fn take_security_headers(&mut self) -> Option<security_headers::Compiled> {
        self.extensions.remove()
    }

    /// Notes what the response would be as a whole: a 200 whose body is left out or sent in part.
    pub(crate) fn set_whole(&mut self, whole: Whole) {
        self.extensions.insert(whole);
    }

    /// Adds fields that the response does not have, as its last step: [`headers`](Self::headers) is without them.
    pub(crate) fn set_block(&mut self, block: HeaderBlock) {
        self.block = Some(block);
    }

    #[cfg(feature = "compression")]
    pub(crate) fn hint(&self) -> Option<Hint> {
        self.extensions.get().copied()
    }

    /// The user of the request, if something named one: `Cx::set_user`.
    #[doc(hidden)]
    #[must_use]
    pub fn user(&self) -> Option<Arc<str>> {
        self.extensions.get().map(|User(user)| Arc::clone(user))
    }

    /// What it cost: [`Request::with_account`](crate::Request::with_account).
    #[doc(hidden)]
    pub fn take_account(&mut self) -> Option<Box<Account>> {
        self.account.take()
    }

    /// The status.
    #[must_use]
    #[inline]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The header fields.
    #[must_use]
    #[inline]
    pub fn headers(&self) -> &HeaderMap {
        self.map.get_or_init(|| Box::new(self.first_fields()))
    }

    /// The header fields, to change.
    #[inline]
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        if let Some(block) = self.block.take() {
            block.add_to(self.own_headers_mut());
        }
        self.own_headers_mut()
    }

    fn first_fields(&self) -> HeaderMap {
        self.content_type.map(|text| (CONTENT_TYPE, HeaderValue::from_static(text))).into_iter().collect()
    }

    /// That of [`set_whole`](Self::set_whole).
    #[cfg(feature = "compression")]
    pub(crate) fn take_whole(&mut self) -> Option<Whole> {
        self.extensions.remove()
    }

    /// The body.
    #[must_use]
    #[inline]
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The body, to take or to replace.
    #[inline]
    pub fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }

    /// Only the body.
    #[must_use]
    pub fn into_body(self) -> Body {
        self.body
    }

    /// Converts into the type of the `http` crate.
    #[must_use]
    pub fn into_http(mut self) -> http::Response<Body> {
        let headers = std::mem::take(self.headers_mut());
        let mut response = http::Response::new(self.body);
        *response.status_mut() = self.status;
        (*response.headers_mut(), *response.extensions_mut()) = (headers, self.extensions);
        response
    }

    /// For a server that writes header fields itself: the response without the map of fields that few need.
    ///
    /// ```
    /// let written = skep::Response::text("Hello").into_written();
    /// assert_eq!(written.content_type, Some("text/plain; charset=utf-8"));
    /// assert!(written.headers.is_none() && written.block.is_none());
    /// ```
    #[must_use]
    #[inline]
    pub fn into_written(self) -> Written {
        let Self { status, body, content_type, map, block, .. } = self;
        let headers = map.into_inner();
        Written { status, content_type: content_type.filter(|_| headers.is_none()), headers, block, body }
    }
}

extension! {
    /// What a framework does with a response.
    pub trait ResponseExt for Response {
        /// Any redirect. `url` is visible ASCII.
        fn redirect_with_status(status: StatusCode, url: &str) -> Self {
            Self::empty(status).with_header(LOCATION, HeaderValue::try_from(url).expect("a link is visible ASCII"))
        }

        /// Notes for the host of this component, which compresses, what a native application does with the response at
        /// this moment.
        fn note_hint(&mut self, is_private: bool) {
            let wish = self.extensions.remove().map(|Wish(wish)| wish);
            let before = self.headers().keys_len();
            self.set_hint(Hint { before, is_private, wish });
        }

        /// Why it is an error page, for the client of tests: no server sends it.
        fn set_cause(&mut self, cause: String) {
            self.extensions.insert(Cause(cause.into()));
        }

        /// For whom it was made, for the access log of a server.
        fn set_user(&mut self, user: Arc<str>) {
            self.extensions.insert(User(user));
        }

        /// Why it is an error page.
        fn cause(&self) -> Option<&str> {
            self.extensions.get::<Cause>().map(|cause| &*cause.0)
        }

        /// Notes what it cost.
        fn set_account(&mut self, account: Option<Box<Account>>) {
            self.account = account;
        }

        /// The header fields to change, without those that are the same in many responses.
        fn own_headers_mut(&mut self) -> &mut HeaderMap {
            let _ = self.headers();
            self.content_type = None;
            self.map.get_mut().expect("it was just made")
        }

        /// The header fields, if there is anything but a `Content-Type`.
        fn map(&self) -> Option<&HeaderMap> {
            self.map.get().map(|map| &**map)
        }

        /// The first value of a field, which makes no map.
        fn field(&self, name: &HeaderName) -> Option<&[u8]> {
            match self.map() {
                Some(map) => map.get(name).map(HeaderValue::as_bytes),
                None => self.content_type.filter(|_| *name == CONTENT_TYPE).map(str::as_bytes),
            }
        }

        /// The body, if it upgrades the connection.
        fn take_upgrade(&mut self) -> Option<Body> {
            let body = self.body_mut();
            body.is_upgrade().then(|| std::mem::replace(body, Body::empty()))
        }
    }
}

/// A response whose header fields are sent one part after the other: [`Response::into_written`].
#[derive(Debug)]
pub struct Written {
    /// The status.
    pub status: StatusCode,
    /// The value of `Content-Type`.
    pub content_type: Option<&'static str>,
    /// Other fields, or all of them.
    pub headers: Option<Box<HeaderMap>>,
    /// Fields that are the same in many responses.
    pub block: Option<HeaderBlock>,
    /// The body.
    pub body: Body,
}

#[derive(Clone)]
struct User(Arc<str>);

/// Why a response is an error page.
#[derive(Clone)]
pub struct Cause(pub Arc<str>);

/// Ends a handler, a guard or a function of theirs early with this response:
/// `return Err(Response::see_other(SignIn).into())`. It is sent as it is, with cookies and flash messages. What the
/// request's transaction wrote is rolled back, as after any `Err`.
///
/// ```
/// use skep::prelude::*;
///
/// fn only_in_summer(month: u8) -> Result<()> {
///     if (6..=8).contains(&month) { Ok(()) } else { Err(Response::text("closed").into()) }
/// }
/// assert_eq!(only_in_summer(12).unwrap_err().status(), 200);
/// ```
impl From<Response> for Error {
    fn from(response: Response) -> Self {
        Self::of_response(response.into_http())
    }
}

impl Error {
    /// The response with which a guard or a handler left by `?`, for a [layer](../skep/layer/index.html) that changes
    /// it: `Err` with the error itself if it is one.
    ///
    /// # Errors
    /// The error, unchanged.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// let left: Error = Response::text("closed").into();
    /// assert_eq!(left.into_response().unwrap().status(), 200);
    /// assert_eq!(Error::not_found().into_response().unwrap_err().status(), 404);
    /// ```
    pub fn into_response(mut self) -> std::result::Result<Response, Self> {
        self.take_response().map(Response::from).ok_or(self)
    }
}

impl From<http::Response<Body>> for Response {
    fn from(response: http::Response<Body>) -> Self {
        let (http::response::Parts { status, headers, extensions, .. }, body) = response.into_parts();
        Self { status, body, map: Box::new(headers).into(), extensions, ..Self::default() }
    }
}

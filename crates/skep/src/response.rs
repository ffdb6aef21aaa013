//! What a handler answers with.

use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::body::Body;
use crate::link::{self, Destination};

/// What a handler answers with: a status, header fields and a [`Body`].
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
    inner: http::Response<Body>,
}

impl Response {
    /// 200 with this body and no `Content-Type`.
    #[must_use]
    pub fn new(body: impl Into<Body>) -> Self {
        Self { inner: http::Response::new(body.into()) }
    }

    /// No body, only a status.
    #[must_use]
    pub fn of_status(status: StatusCode) -> Self {
        Self::new(Body::empty()).with_status(status)
    }

    /// `text/plain`, in UTF-8.
    #[must_use]
    pub fn text(text: impl Into<Body>) -> Self {
        Self::typed("text/plain; charset=utf-8", text)
    }

    /// A body of the media type that `content_type` names.
    #[must_use]
    pub fn typed(content_type: &'static str, body: impl Into<Body>) -> Self {
        let mut response = Self::new(body);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        response
    }

    /// `application/json`. A value that has no JSON form (a map with keys that are no strings) is an error.
    pub fn json(value: &impl serde::Serialize) -> crate::Result {
        Ok(Self::typed("application/json", serde_json::to_vec(value)?))
    }

    /// 303: the answer is on another page. Right after a POST, so that reloading does not repeat it.
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
        Self::redirect(StatusCode::SEE_OTHER, &link::url(&to))
    }

    /// 308: the page has moved there for good. Destinations are those of [`see_other`](Self::see_other).
    #[must_use]
    pub fn moved(to: impl Destination) -> Self {
        Self::redirect(StatusCode::PERMANENT_REDIRECT, &link::url(&to))
    }

    pub(crate) fn redirect(status: StatusCode, url: &str) -> Self {
        Self::of_status(status).with_header(LOCATION, HeaderValue::try_from(url).expect("a link is visible ASCII"))
    }

    /// The same answer with another status.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        *self.inner.status_mut() = status;
        self
    }

    /// The same answer with this header field set.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers_mut().insert(name, value);
        self
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The header fields.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The header fields, to change.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        self.inner.headers_mut()
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Body {
        self.inner.body()
    }

    /// The body, to take or to replace.
    pub fn body_mut(&mut self) -> &mut Body {
        self.inner.body_mut()
    }

    /// Only the body.
    #[must_use]
    pub fn into_body(self) -> Body {
        self.inner.into_body()
    }

    /// The same in the type of the `http` crate.
    #[must_use]
    pub fn into_http(self) -> http::Response<Body> {
        self.inner
    }
}

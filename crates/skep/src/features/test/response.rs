//! What came back.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::Client;
use skep_http::body::BodyError;

/// What came back.
#[derive(Clone, Debug)]
pub struct TestResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    url: String,
    cause: Option<Arc<str>>,
    client: Client,
}

impl TestResponse {
    pub(super) fn new(
        status: StatusCode,
        headers: HeaderMap,
        url: &str,
        cause: Option<Arc<str>>,
        client: &Client,
    ) -> Self {
        Self { status, headers, body: Bytes::new(), url: url.into(), cause, client: client.clone() }
    }

    pub(super) fn with_body(mut self, whole: Result<Bytes, BodyError>) -> Self {
        self.body = whole.unwrap_or_else(|error| panic!("{}: the body broke off: {error}", self.url));
        self
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// A header field, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// All header fields.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Why the status is 5xx: the error with its causes, or where a handler panicked and what it said. It is printed,
    /// too, which a test that fails shows.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/")]
    /// struct Index;
    ///
    /// impl Handle for Index {
    ///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { panic!("the shelf is empty") }
    /// }
    /// let answer = skep::test::Client::new(App::new().serve(services![Index])).get("/");
    /// assert!(answer.cause().unwrap().contains("the shelf is empty"));
    /// assert!(!answer.text().contains("the shelf is empty"));
    /// ```
    #[must_use]
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body as text.
    ///
    /// # Panics
    /// If it is not UTF-8.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    /// The body of what is no text, such as a picture.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # #[derive(Service)] #[service(GET "/dot")] struct Dot;
    /// # impl Handle for Dot {
    /// #     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
    /// #         Ok(Response::with_content_type("image/png", b"\x89PNG".to_vec()))
    /// #     }
    /// # }
    /// # let client = skep::test::Client::new(App::new().serve(services![Dot]));
    /// assert_eq!(client.get("/dot").bytes(), b"\x89PNG");
    /// ```
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Where the last redirect led, or what was asked for.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

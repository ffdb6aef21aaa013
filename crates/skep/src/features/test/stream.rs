//! A response whose body is read piece by piece.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use skep_cache::driver::block_on;

use super::TestResponse;
use super::driver::Driver;
use skep_http::body::{Body, next_bytes};

/// A response whose head is there and whose body is read as the test asks for it, from
/// [`RequestBuilder::open`](super::RequestBuilder::open). As an iterator it gives the pieces, as the handler's stream
/// made them. Dropping it disconnects.
///
/// ```
/// use std::convert::Infallible;
/// use skep::prelude::*;
/// use skep::{Body, Method};
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         let pieces = ["one ", "two"].map(Ok::<_, Infallible>);
///         Ok(Response::with_content_type("text/plain", Body::from_stream(futures_util::stream::iter(pieces))))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Index]));
/// let mut stream = client.request(Method::GET, "/").open();
/// assert_eq!(stream.next().unwrap(), "one ");
/// assert_eq!(stream.rest(), "two");
/// ```
#[derive(Debug)]
pub struct TestStream {
    head: TestResponse,
    driver: Arc<Driver>,
    /// `None` after its end.
    body: Option<Body>,
    /// Text of which the end of the event has not come.
    text: String,
}

impl TestStream {
    pub(super) fn new(head: TestResponse, body: Body, driver: Arc<Driver>) -> Self {
        Self { head, driver, body: Some(body), text: String::new() }
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.head.status()
    }

    /// A header field, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// All header fields.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.head.headers()
    }

    /// The next piece; `None` at the end. It waits without blocking the thread; as an iterator, the stream blocks.
    ///
    /// # Panics
    /// If the body breaks off.
    pub async fn piece(&mut self) -> Option<Bytes> {
        let mut body = self.body.take()?;
        let read = move |_| async move {
            let piece = next_bytes(&mut body).await;
            (body, piece)
        };
        let (body, piece) = self.driver.run(read).await;
        let piece = piece.unwrap_or_else(|error| panic!("{}: the body broke off: {error}", self.head.url()));
        self.body = piece.is_some().then_some(body);
        piece
    }

    /// What is left of the body, as text.
    ///
    /// # Panics
    /// If the body breaks off or is not UTF-8.
    pub fn rest(&mut self) -> String {
        let bytes = self.flatten().collect();
        std::mem::take(&mut self.text) + &String::from_utf8(bytes).expect("the body is UTF-8")
    }

    /// The next [server-sent event](crate::sse), without the blank line that ends it; comments, such as heartbeats, are
    /// events here too. `None` at the end.
    ///
    /// # Panics
    /// If the body breaks off or is not UTF-8.
    pub fn next_event(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = event.to_owned();
                self.text = rest.to_owned();
                return Some(event);
            }
            let piece = self.next()?;
            self.text.push_str(std::str::from_utf8(&piece).expect("events are UTF-8"));
        }
    }
}

/// What the stream owns may be of the application's thread, and ends there.
impl Drop for TestStream {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            block_on(self.driver.run(|_| async { drop(body) }));
        }
    }
}

impl Iterator for TestStream {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        block_on(self.piece())
    }
}

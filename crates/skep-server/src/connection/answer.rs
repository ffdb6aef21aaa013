//! From a request to its answer.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Instant;

use bytes::Buf;
use http::header::CONNECTION;
use http::{HeaderValue, Method, StatusCode, Uri, Version};
use http_body::Frame;
use hyper::body::{Body as _, Incoming};
use skep::{Body, Error, Request, Response};

use super::Connection;
use super::incoming::Arriving;
use super::outgoing::{Answered, Chunk, Outgoing};
use crate::log::Line;

/// Has the application answer. It never fails; what fails was answered with an error page.
pub(super) fn answer(
    connection: &Rc<Connection>,
    request: http::Request<Incoming>,
) -> impl Future<Output = Answered> + use<> {
    let (parts, incoming) = request.into_parts();
    let answer = Answer::begin(connection, &parts);
    let last = answer.is_last(&parts);
    let too_long = parts.uri.path_and_query().is_some_and(|uri| uri.as_str().len() > connection.longest_target());
    let body = if incoming.is_end_stream() {
        Body::empty()
    } else {
        Body::stream(Arriving::new(incoming, connection.context.limits.body_idle))
    };
    let request = Request::new(parts, body).with_peer(connection.peer);
    let answering = (!too_long).then(|| connection.context.local.answer(request));
    async move {
        let mut response = match answering {
            Some(answering) => answering.await,
            None => answer.connection.too_long(),
        };
        if last {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let mut answer = answer;
        answer.status = Some(response.status());
        Ok::<_, Infallible>(response.into_http().map(|body| Outgoing::new(body, answer)))
    }
}

impl Connection {
    fn longest_target(&self) -> usize {
        self.context.limits.head.target
    }

    fn too_long(&self) -> Response {
        self.context.local.failure(&Error::new(StatusCode::URI_TOO_LONG).with_message("the address is too long"))
    }
}

/// A request that is being answered. Dropped when its last byte is handed over, or when its connection ends: then it
/// becomes a line of the access log.
pub(crate) struct Answer {
    connection: Rc<Connection>,
    entry: Option<Entry>,
    status: Option<StatusCode>,
    bytes: u64,
}

/// What the access log wants to know of a request.
struct Entry {
    start: Instant,
    method: Method,
    uri: Uri,
}

impl Answer {
    fn begin(connection: &Rc<Connection>, parts: &http::request::Parts) -> Self {
        connection.requests.set(connection.requests.get().saturating_add(1));
        connection.running.set(connection.running.get() + 1);
        connection.quiet.set(false);
        let entry = connection.context.access.as_ref().map(|_| Entry {
            start: Instant::now(),
            method: parts.method.clone(),
            uri: parts.uri.clone(),
        });
        Self { connection: Rc::clone(connection), entry, status: None, bytes: 0 }
    }

    pub(super) fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }

    /// Notes what is sent.
    pub(super) fn count(&mut self, frame: Frame<Chunk>) -> Frame<Chunk> {
        self.bytes += frame.data_ref().map_or(0, Buf::remaining) as u64;
        frame
    }

    /// True if the connection ends with this answer: it had its share of requests, or a chunked body hides from the gate
    /// where the next request would begin.
    fn is_last(&self, parts: &http::request::Parts) -> bool {
        if parts.version == Version::HTTP_2 {
            return false;
        }
        let share = self.connection.context.limits.requests;
        (share > 0 && self.connection.requests.get() >= share)
            || (self.connection.wire().in_chunked() && parts.headers.contains_key(http::header::TRANSFER_ENCODING))
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.running.set(self.connection.running.get() - 1);
        let Some((entry, access)) = self.entry.take().zip(self.connection.context.access.as_ref()) else { return };
        access.write(&Line {
            peer: &self.connection.peer_text,
            method: entry.method.as_str(),
            target: entry.uri.path_and_query().map_or("*", |target| target.as_str()),
            status: self.status,
            bytes: self.bytes,
            time: entry.start.elapsed(),
        });
    }
}

//! From a request to its answer.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use http::header::CONNECTION;
use http::{HeaderValue, Method, StatusCode, Uri, Version};
use hyper::body::{Body as _, Incoming};
use skep::{Body, Error, Request, Response};

use super::Connection;
use super::incoming::Arriving;
use super::outgoing::{Answered, Direct, Outgoing};
use crate::log::Line;

/// Has the application answer. It never fails; what fails was answered with an error page.
pub(super) fn answer(
    connection: &Rc<Connection>,
    request: http::Request<Incoming>,
) -> Answering<impl Future<Output = Response> + use<>> {
    let (parts, incoming) = request.into_parts();
    let answer = Answer::begin(connection, &parts);
    let context = &connection.context;
    let last = answer.is_last(&parts);
    let mut ended = None;
    let too_long = parts.uri.path_and_query().is_some_and(|target| target.as_str().len() > context.limits.head.target);
    let body = if incoming.is_end_stream() {
        Body::empty()
    } else {
        let ended = Arc::clone(ended.insert(Arc::default()));
        Body::stream(Arriving::new(incoming, context.limits.body_idle, ended))
    };
    let health = is_health_check(&parts.uri).then(|| connection.health(&parts.uri));
    let request = Request::new(parts, body).with_peer(connection.peer);
    // hyper moves what it is given several times before it polls it; what the application does is too large for that.
    let application = (!too_long && health.is_none()).then(|| Box::pin(context.local.answer(request)));
    Answering { application, answer: Some(answer), last, ended, health }
}

/// The paths that whoever spreads the load asks for: `/-/live`, `/-/ready`.
fn is_health_check(uri: &Uri) -> bool {
    matches!(uri.path(), "/-/live" | "/-/ready")
}

/// An answer that is on its way.
pub(super) struct Answering<F> {
    application: Option<Pin<Box<F>>>,
    answer: Option<Answer>,
    last: bool,
    /// The answer to a health check.
    health: Option<Response>,
    /// Whether the last byte of the request's body has been read, if it has one.
    ended: Option<Arc<AtomicBool>>,
}

impl<F: Future<Output = Response>> Future for Answering<F> {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answered> {
        // The wire holds one body at a time, so the next answer begins when the one before has left. If that one cannot
        // leave, the connection ends: see `Connection::settle`.
        if self.answer.as_ref().is_some_and(|answer| !answer.connection.has_sent_body(cx)) {
            return Poll::Pending;
        }
        let connection = self.answer.as_ref().map(|answer| Rc::clone(&answer.connection));
        if let Some((connection, answer)) = connection.zip(self.answer.as_mut())
            && !answer.turn
        {
            if !connection.context.poll_turn(cx.waker()) {
                return Poll::Pending;
            }
            answer.turn = true;
        }
        let answered = self.application.as_mut().map(|application| application.as_mut().poll(cx));
        if let Some(Poll::Pending) = answered {
            return Poll::Pending;
        }
        let answer = self.answer.take().expect("an answer is not asked for again once it is given");
        let mut response = match answered {
            Some(Poll::Ready(response)) => response,
            _ => self.health.take().unwrap_or_else(|| answer.connection.too_long()),
        };
        // Of a body that is still to come nobody knows whether it comes: the connection ends here.
        let unread = self.ended.as_ref().is_some_and(|ended| !ended.load(Ordering::Relaxed));
        if self.last || answer.ends_here() || (unread && answer.connection.wire().in_body()) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Poll::Ready(Ok(answer.give(response)))
    }
}

impl Connection {
    fn has_sent_body(&self, cx: &mut Context<'_>) -> bool {
        let mut wire = self.wire();
        !wire.has_body() || matches!(wire.poll_flush(cx), Poll::Ready(Ok(())))
    }

    /// Alive is whoever answers; ready, whoever will take more.
    fn health(&self, uri: &Uri) -> Response {
        if uri.path() == "/-/ready" && self.context.is_ending() {
            return Response::text("leaving\n").with_status(StatusCode::SERVICE_UNAVAILABLE);
        }
        Response::text(if uri.path() == "/-/live" { "live\n" } else { "ready\n" })
    }

    fn too_long(&self) -> Response {
        self.context.local.failure(&Error::new(StatusCode::URI_TOO_LONG).with_message("the address is too long"))
    }
}

/// A request that is being answered. Dropped when its last byte is handed over, or when its connection ends: then it
/// becomes a line of the access log.
pub(crate) struct Answer {
    connection: Rc<Connection>,
    entry: Option<Box<Entry>>,
    status: Option<StatusCode>,
    bytes: u64,
    /// hyper has nothing more to do with it.
    handed_over: bool,
    http1: bool,
    /// It is one of those that the thread handles at once.
    turn: bool,
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
        if !is_health_check(&parts.uri) {
            connection.context.begin();
        }
        let entry =
            connection.context.access.as_ref().map(|_| {
                Box::new(Entry { start: Instant::now(), method: parts.method.clone(), uri: parts.uri.clone() })
            });
        Self {
            connection: Rc::clone(connection),
            entry,
            status: None,
            bytes: 0,
            handed_over: false,
            http1: parts.version != Version::HTTP_2,
            turn: false,
        }
    }

    fn give(mut self, response: Response) -> http::Response<Outgoing> {
        self.status = Some(response.status());
        Outgoing::new(response.into_http(), self)
    }

    pub(super) fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }

    /// Notes what is sent.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Has the wire send the body. For hyper, that is the end of it.
    pub(super) fn hand_over(mut self, body: Direct) {
        let connection = Rc::clone(&self.connection);
        self.end_turn();
        connection.wire().take_body(body, self);
    }

    fn end_turn(&mut self) {
        if !std::mem::replace(&mut self.handed_over, true) {
            self.connection.running.set(self.connection.running.get() - 1);
        }
    }

    /// The thread ends, and the connection with this answer.
    fn ends_here(&self) -> bool {
        self.http1 && self.connection.context.is_ending_soon()
    }

    /// True if the connection ends with this answer: it had its share of requests, or a chunked body hides from the
    /// gate where the next request would begin.
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
        self.end_turn();
        if self.turn {
            if let Some(guest) = &self.connection.guest {
                guest.settle();
            }
            self.connection.context.end_turn();
        }
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

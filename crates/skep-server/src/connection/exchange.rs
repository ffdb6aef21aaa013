//! A request and its response.

use std::cell::OnceCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{REFERER, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, Version};
use skep::account::{self, Account};
use skep::body::BodyError;
use skep::log::Trace;
use skep::request::Parts;
use skep::{Body, Error, Peer, Request, Response};
use skep_observe::log::{AccessLine, AccessLog};
use skep_observe::metrics::{Counter, Finished, Traced};
use tokio::time::Sleep;

use super::request_body::RequestBody;
use super::slot::Slot;
use super::{Connection, StreamState, peer_text, recipient};

/// The body of a request.
pub(super) enum Received<B> {
    Nothing,
    Whole(Bytes),
    Stream(B),
}

/// A response, and whether it is the last of its connection.
pub(super) struct Answered {
    pub(super) response: Response,
    pub(super) exchange: Exchange,
    pub(super) closes: bool,
}

/// Passes a request to the application. Failures become error pages.
pub(super) fn exchange<B>(
    connection: &Rc<Connection>,
    mut parts: Box<Parts>,
    body: Received<B>,
) -> ResponseFuture<impl Future<Output = Response> + use<B>>
where
    B: http_body::Body<Data = Bytes, Error: Into<BodyError>> + Send + Unpin + 'static,
{
    let mut exchange = Exchange::begin(connection, &parts);
    let context = &connection.context;
    let is_last = exchange.is_last();
    let mut ended = None;
    let (peer, instead) = match connection.admit(&mut parts) {
        Ok(peer) => (peer, None),
        Err(response) => (connection.peer, Some(response)),
    };
    exchange.set_peer(peer);
    let body = match body {
        Received::Nothing => Body::empty(),
        Received::Whole(bytes) => Body::from(bytes),
        Received::Stream(body) => {
            let ended = Arc::clone(ended.insert(Arc::default()));
            Body::stream(RequestBody::new(body, &context.limits, ended))
        }
    };
    if let Some(trace) = exchange.span() {
        parts.extensions.insert(trace);
    }
    let mut request = Request::new(parts, body).with_peer(peer).with_account(context.metrics.is_some());
    if let Some(id) = exchange.id() {
        request = request.with_id(id);
    }
    let application = instead.is_none().then(|| Slot::new(context, || context.local.answer(request)));
    ResponseFuture { application, exchange: Some(exchange), is_last, ended, instead, deadline: None }
}

/// The paths that load balancers check.
fn is_health_check(path: &str) -> bool {
    matches!(path, "/-/live" | "/-/ready")
}

/// The response to a request, in progress.
pub(super) struct ResponseFuture<F> {
    application: Option<Slot<F>>,
    exchange: Option<Exchange>,
    is_last: bool,
    /// The response without the application.
    instead: Option<Box<Response>>,
    /// Set when the last byte of the request's body has been read, if there is a body.
    ended: Option<Arc<AtomicBool>>,
    /// When the application must have begun its response. Most do before there is one.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<F: Future<Output = Response> + 'static> Future for ResponseFuture<F> {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answered> {
        let connection = self.exchange.as_ref().map(|exchange| Rc::clone(&exchange.connection));
        if let Some((connection, exchange)) = connection.zip(self.exchange.as_mut())
            && exchange.permit != Permit::Taken
        {
            // Before the application makes a response that would wait with the others.
            if connection.unsent.poll_room(cx).is_pending() {
                connection.stream.set(Some(StreamState::WaitsForClient));
                exchange.permit = Permit::Awaited;
                return Poll::Pending;
            }
            if !connection.context.budget.poll_permit(cx.waker()) {
                exchange.permit = Permit::Awaited;
                return Poll::Pending;
            }
            exchange.take_permit();
        }
        let mut result = self.application.as_mut().map(|application| application.poll(cx));
        if let Some(Poll::Pending) = result {
            if let Some(exchange) = &self.exchange {
                exchange.connection.stream.set(Some(StreamState::WaitsForBody));
            }
            ready!(self.poll_deadline(cx));
            result = Some(Poll::Ready(self.give_up()));
        }
        let mut exchange = self.exchange.take().expect("not polled after completion");
        if let Some(application) = self.application.take() {
            application.give_back(&exchange.connection.context);
        }
        let mut response = match result {
            Some(Poll::Ready(response)) => response,
            _ => *self.instead.take().expect("there is an application or a response"),
        };
        exchange.account = response.take_account().or_else(|| exchange.account.take());
        if response.status().is_informational() && !response.body().is_upgrade() {
            // A client or a proxy that believed it would take what follows on this connection for something else.
            let error =
                Error::internal(format!("status {} is no response without cx.upgrade", response.status().as_u16()));
            response = exchange.connection.context.local.failure_instead_of(&response, &error);
            self.is_last = true;
        }
        if !exchange.hold(&response) {
            exchange.connection.context.count_event(Counter::Unsent);
            response = exchange.connection.no_room(&response);
        }
        exchange.connection.stream.set(Some(StreamState::WaitsForClient));
        let closes = self.is_last || exchange.closes_connection();
        Poll::Ready(Answered { response, exchange, closes })
    }
}

impl<F> ResponseFuture<F> {
    /// Ready when the application has taken too long. The time in which the request's body arrives does not count: that
    /// has its own limits.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(exchange) = &self.exchange else { return Poll::Pending };
        let Some(time) = exchange.connection.context.limits.request_time else { return Poll::Pending };
        let is_complete = self.ended.as_ref().is_none_or(|ended| ended.load(Ordering::Relaxed));
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        if !is_complete {
            deadline.as_mut().reset(tokio::time::Instant::now() + time);
        }
        deadline.as_mut().poll(cx)
    }

    /// Cancels the application.
    fn give_up(&mut self) -> Response {
        self.is_last = true;
        let exchange = self.exchange.as_mut().expect("not polled after completion");
        let context = &exchange.connection.context;
        context.count_event(Counter::RequestTime);
        let error = Error::new(StatusCode::SERVICE_UNAVAILABLE)
            .with_message("this took too long; please try again later")
            .with_cause("the application did not begin its response within limits.request_time");
        let response = context.local.abandon(|| self.application = None, &error);
        exchange.account = account::take_abandoned();
        response
    }
}

impl Connection {
    fn no_room(&self, response: &Response) -> Response {
        let error = Error::new(StatusCode::SERVICE_UNAVAILABLE)
            .with_message("too many responses wait for their clients at the moment; please try again later")
            .with_cause("limits.unsent is used up");
        self.context.local.failure_instead_of(response, &error)
    }

    /// Settles who sent a request and to whom. Health checks, and what is refused, have their response here.
    fn admit(&self, parts: &mut Parts) -> Result<Peer, Box<Response>> {
        let has_last_host = self.is_for_last_host.take();
        if is_health_check(parts.uri.path()) {
            return Err(Box::new(self.health(&parts.uri)));
        }
        if parts.uri.path_and_query().is_some_and(|target| target.as_str().len() > self.context.limits.head.url) {
            self.context.count_event(Counter::Url);
            let error = Error::new(StatusCode::URI_TOO_LONG).with_message("the address is too long");
            return Err(Box::new(self.context.local.failure(&error)));
        }
        recipient::settle(self, parts, has_last_host)
    }

    /// Live: the thread responds. Ready: it accepts more requests, and its data is there.
    fn health(&self, uri: &Uri) -> Response {
        let unready = |text| Response::text(text).with_status(StatusCode::SERVICE_UNAVAILABLE);
        if uri.path() == "/-/live" {
            return Response::text("live\n");
        }
        if self.context.is_ending() {
            return unready("draining\n");
        }
        match self.context.local.site().check_ready() {
            Ok(()) => Response::text("ready\n"),
            Err(cause) => {
                self.context.note_unready(&cause);
                unready("not ready: the log says why\n")
            }
        }
    }
}

/// A request in progress. Dropped when its last byte is handed over or its connection ends; then it is logged.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Exchange {
    connection: Rc<Connection>,
    entry: Option<Rc<Entry>>,
    status: Option<StatusCode>,
    bytes: u64,
    /// Its response is complete but for sending it.
    is_finished: bool,
    is_upgraded: bool,
    http1: bool,
    is_head: bool,
    permit: Permit,
    /// Where its time went, for metrics.
    account: Option<Box<Account>>,
    waited: Duration,
    answered: Option<Duration>,
    /// What its response has of `limits.unsent`.
    unsent: usize,
}

/// The permit of a request to be handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    Wanted,
    /// It has to wait for one.
    Awaited,
    Taken,
}

/// What the access log and metrics need of a request.
pub(super) struct Entry {
    pub(super) start: Instant,
    pub(super) method: Method,
    target: Option<PathAndQuery>,
    version: Version,
    /// The client behind a trusted proxy.
    peer: OnceCell<String>,
    id: u64,
    trace: Option<Trace>,
    /// The server makes a span of it.
    has_span: bool,
    user: OnceCell<Arc<str>>,
    referer: Option<HeaderValue>,
    agent: Option<HeaderValue>,
}

impl Exchange {
    fn begin(connection: &Rc<Connection>, parts: &Parts) -> Self {
        connection.requests.set(connection.requests.get().saturating_add(1));
        connection.running.set(connection.running.get() + 1);
        let context = &connection.context;
        if !is_health_check(parts.uri.path()) {
            context.count_request();
        }
        context.change_running(|running| running + 1);
        let entry = (context.access.is_some() || context.metrics.is_some()).then(|| {
            let wants_headers = context.access.as_ref().is_some_and(AccessLog::wants_headers);
            let id = context.local.next_id();
            let span = context.metrics.as_ref().and_then(|metrics| metrics.trace(&parts.headers, id));
            let header = |name: HeaderName| {
                let found = if wants_headers { parts.headers.get(name) } else { None };
                found.map(HeaderValue::from)
            };
            Rc::new(Entry {
                start: Instant::now(),
                method: parts.method.clone(),
                target: parts.uri.path_and_query().cloned(),
                version: parts.version,
                peer: OnceCell::new(),
                id,
                trace: span.or_else(|| Trace::of(&parts.headers)),
                has_span: span.is_some(),
                user: OnceCell::new(),
                referer: header(REFERER),
                agent: header(USER_AGENT),
            })
        });
        if context.metrics.is_some() {
            connection.current.replace(entry.clone());
        }
        Self {
            connection: Rc::clone(connection),
            entry,
            status: None,
            bytes: 0,
            is_finished: false,
            is_upgraded: false,
            http1: parts.version != Version::HTTP_2,
            is_head: parts.method == Method::HEAD,
            permit: Permit::Wanted,
            account: None,
            waited: Duration::ZERO,
            answered: None,
            unsent: 0,
        }
    }

    /// Notes for the log who sent the request, if that is not the connection's peer.
    fn set_peer(&mut self, peer: Peer) {
        if let Some(entry) = self.entry.as_ref().filter(|_| peer.address != self.connection.peer.address) {
            entry.peer.get_or_init(|| peer_text(peer));
        }
    }

    /// The application is called from here on.
    fn take_permit(&mut self) {
        let before = std::mem::replace(&mut self.permit, Permit::Taken);
        if let Some(entry) = self.entry.as_ref().filter(|_| before == Permit::Awaited) {
            self.waited = entry.start.elapsed();
        }
    }

    /// The connection becomes a byte stream, which is no part of the request.
    pub(super) fn note_upgrade(&mut self) {
        self.note_answer();
        self.is_upgraded = true;
    }

    /// The response is there, and sending it may take time.
    pub(super) fn note_answer(&mut self) {
        if let Some(entry) = self.entry.as_ref().filter(|_| self.account.is_some()) {
            self.answered = Some(entry.start.elapsed());
        }
    }

    /// The trace for which the server makes a span.
    fn span(&self) -> Option<Trace> {
        self.entry.as_ref().filter(|entry| entry.has_span)?.trace
    }

    /// The id of the request, if the log has one for it.
    fn id(&self) -> Option<u64> {
        self.entry.as_ref().map(|entry| entry.id)
    }

    /// False if the process has no room for the response to wait in.
    fn hold(&mut self, response: &Response) -> bool {
        if let Some((entry, user)) = self.entry.as_ref().zip(response.user()) {
            entry.user.get_or_init(|| user);
        }
        let taken = self.connection.unsent.take(response.body().held());
        self.unsent = taken.unwrap_or(0);
        taken.is_some()
    }

    pub(super) fn set_status(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    pub(super) fn is_head(&self) -> bool {
        self.is_head
    }

    pub(super) fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }

    /// Counts bytes that are sent.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// The response is complete but for sending it.
    pub(super) fn finished(mut self) -> Self {
        self.note_answer();
        self.finish();
        self
    }

    fn finish(&mut self) {
        if !std::mem::replace(&mut self.is_finished, true) {
            self.connection.running.set(self.connection.running.get() - 1);
        }
    }

    /// Counts the request. Health checks are not counted.
    fn record(&self, entry: &Rc<Entry>, time: Duration) {
        let Some(metrics) = &self.connection.context.metrics else { return };
        self.connection.current.borrow_mut().take_if(|current| Rc::ptr_eq(current, entry));
        if is_health_check(entry.path()) {
            return;
        }
        let answered = self.answered.unwrap_or(time);
        metrics.record(&Finished {
            account: self.account.as_deref(),
            method: entry.method.as_str(),
            path: &self.connection.context.local.site().masks().path(entry.path()),
            status: self.status,
            time: if self.is_upgraded { answered } else { time },
            waited: self.waited,
            answered,
            now: self.connection.context.unix_millis(),
            traced: entry.trace.as_ref().filter(|_| entry.has_span).map(|trace| Traced {
                trace,
                id: entry.id,
                start: entry.start,
                tls: self.connection.peer.tls,
                version: version_text(entry.version).trim_start_matches("HTTP/"),
            }),
        });
    }

    /// True if the connection closes because the thread retires or drains.
    fn closes_connection(&self) -> bool {
        self.http1 && self.connection.context.closes_after_response()
    }

    /// True if this is the last response of its connection: `limits.requests_per_connection` is reached.
    fn is_last(&self) -> bool {
        let quota = self.connection.context.limits.requests_per_connection;
        self.http1 && quota > 0 && self.connection.requests.get() >= quota
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.finish();
        self.connection.unsent.give_back(self.unsent);
        if self.status.is_none() && !self.http1 {
            self.connection.count_reset();
        }
        if self.permit == Permit::Taken {
            if let Some(guard) = &self.connection.guard {
                guard.release_reservation();
            }
            self.connection.context.release_permit();
        }
        let context = &self.connection.context;
        context.change_running(|running| running.saturating_sub(1));
        let Some(entry) = self.entry.take() else { return };
        // Without a response, the application's future was dropped just before: fields are dropped in order.
        if self.status.is_none() && self.account.is_none() {
            self.account = account::take_abandoned();
        }
        let time = entry.start.elapsed();
        self.record(&entry, time);
        if let Some(access) = &context.access {
            entry.write(access, self, time);
        }
    }
}

impl Entry {
    pub(super) fn path(&self) -> &str {
        self.target.as_ref().map_or("", PathAndQuery::path)
    }

    fn write(&self, access: &AccessLog, exchange: &Exchange, time: Duration) {
        let Exchange { connection, status, bytes, .. } = exchange;
        let text = |value: &Option<HeaderValue>| {
            value.as_ref().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let (referer, agent) = (text(&self.referer), text(&self.agent));
        let masks = connection.context.local.site().masks();
        let referer = referer.as_deref().map(|referer| masks.address(referer));
        access.write(&AccessLine {
            peer: self.peer.get().unwrap_or(&connection.peer_text),
            method: self.method.as_str(),
            target: &masks.address(self.target.as_ref().map_or("*", PathAndQuery::as_str)),
            version: version_text(self.version),
            status: *status,
            bytes: *bytes,
            time,
            id: Some(self.id),
            trace: self.trace.as_ref().map(Trace::id),
            user: self.user.get().map(|user| &**user),
            referer: referer.as_deref(),
            agent: agent.as_deref(),
        });
    }
}

fn version_text(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

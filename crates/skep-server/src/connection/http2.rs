//! HTTP/2 over one connection, with hyper.

mod fields;
mod frames;
mod header_blocks;
mod traffic;

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, Instant};

use http::header::UPGRADE;
use http::{HeaderValue, Method, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::ext::Protocol;
use hyper::rt::{Executor, Read, ReadBufCursor, Sleep, Timer, Write};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use skep::Error;
use skep::upgrade::{Offer, Upgrade, Upgraded};

use tokio::io::ReadBuf;
pub(crate) use traffic::Traffic;

use super::exchange::{self, Answered, Exchange, Received};
use super::response_body::ResponseBody;
use super::turn::{self, Share, Turn};
use super::upgraded::Http2Stream;
use super::{Connection, Context, End, Phase, StreamState, TimedOut};

/// How often it is looked whether a client still has time: that may become less.
const LOOK: Duration = Duration::from_secs(1);

/// How often an idle HTTP/2 peer is pinged.
const PING: Duration = Duration::from_secs(20);

/// Serves streams until the connection ends.
pub(super) async fn serve(connection: &Rc<Connection>) -> End {
    connection.wire().set_http2();
    // The server sends its preface first.
    connection.enter_phase(Phase::Idle);
    let limits = &connection.context.limits;
    let owner = Rc::clone(connection);
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        let upgrade = take_connect(&mut request);
        let (parts, body) = request.into_parts();
        let body = if upgrade.is_some() || body.is_end_stream() { Received::Nothing } else { Received::Stream(body) };
        let answering = exchange::exchange(&owner, parts.into(), body);
        let context = Rc::clone(&owner.context);
        async move {
            let answered = answering.await;
            Ok::<_, Infallible>(match upgrade {
                Some(upgrade) => connected(answered, upgrade, &context),
                None => ResponseBody::of(answered),
            })
        }
    });
    let traffic = Traffic::new(limits.http2_control_frames, connection.context.now());
    let traffic = Rc::new(RefCell::new(traffic));
    let http = Builder::new(OnThisThread(Rc::clone(connection)))
        .timer(TokioTimer)
        .keep_alive_interval(PING)
        .keep_alive_timeout(limits.write_idle)
        .max_concurrent_streams(limits.http2_streams)
        .enable_connect_protocol()
        .max_pending_accept_reset_streams(limits.http2_resets as usize)
        .max_header_list_size(u32::try_from(limits.head.header_bytes).unwrap_or(u32::MAX))
        .serve_connection(Io::new(connection, Rc::clone(&traffic)), service);
    // Sends GOAWAY, and finishes the streams in progress (RFC 9113, 6.8). Before the client's preface hyper would close
    // the connection without GOAWAY: a retiring worker waits for it, a draining one does not.
    let ends = |context: &Context| context.is_draining() || context.is_retiring() && connection.wire().received;
    let (mut http, mut draining) = (pin!(http), false);
    let end = poll_fn(|cx| {
        let _turn = Turn::begin(connection);
        connection.store_waker(cx.waker());
        let timed_out = connection.timed_out.take();
        if let Some(timed_out) = timed_out.filter(|timed_out| draining || *timed_out != TimedOut::Idle) {
            return Poll::Ready(End::TimedOut(timed_out));
        }
        if let Poll::Ready(result) = http.as_mut().poll(cx) {
            return Poll::Ready(ended(connection, result));
        }
        // Requests that have arrived are served first.
        if !draining && (timed_out.is_some() || ends(&connection.context)) {
            draining = true;
            http.as_mut().graceful_shutdown();
            if let Poll::Ready(result) = http.as_mut().poll(cx) {
                return Poll::Ready(ended(connection, result));
            }
        }
        connection.after_poll(cx)
    })
    .await;
    if let End::TimedOut(TimedOut::Resets | TimedOut::ControlFrames) = end
        && let Some(frame) = traffic.borrow().go_away()
    {
        connection.wire().push(&frame);
    }
    end
}

/// Makes an extended CONNECT (RFC 8441, 4) look like the request of HTTP/1 for the same, with GET and `Upgrade`.
fn take_connect(request: &mut http::Request<Incoming>) -> Option<OnUpgrade> {
    let protocol = request.extensions_mut().remove::<Protocol>().filter(|_| request.method() == Method::CONNECT)?;
    let upgrade = hyper::upgrade::on(&mut *request);
    *request.method_mut() = Method::GET;
    let name = HeaderValue::from_bytes(protocol.as_ref()).unwrap_or(HeaderValue::from_static("-"));
    request.headers_mut().insert(UPGRADE, name);
    request.extensions_mut().insert(Offer::Http2);
    Some(upgrade)
}

/// The response to an extended CONNECT: 200 where HTTP/1 has 101. Any other success would begin a byte stream that
/// nobody wants.
fn connected(answered: Answered, upgrade: OnUpgrade, context: &Rc<Context>) -> http::Response<ResponseBody> {
    let Answered { response, mut exchange, closes } = answered;
    let (mut parts, body) = response.into_http().into_parts();
    let begin = match body.into_upgrade() {
        Ok(begin) => begin,
        Err(_) if parts.status.is_success() => {
            let error = Error::new(StatusCode::NOT_IMPLEMENTED).with_message("this address makes no byte streams");
            return ResponseBody::of(Answered { response: context.local.failure(&error), exchange, closes });
        }
        Err(body) => {
            let response = http::Response::from_parts(parts, body).into();
            return ResponseBody::of(Answered { response, exchange, closes });
        }
    };
    parts.headers.remove(UPGRADE);
    parts.status = StatusCode::OK;
    exchange.note_upgrade();
    tokio::task::spawn_local(run(begin, upgrade, exchange, Rc::clone(context)));
    http::Response::from_parts(parts, ResponseBody::empty())
}

/// Runs a byte stream to its end.
async fn run(begin: Upgrade, upgrade: OnUpgrade, mut exchange: Exchange, context: Rc<Context>) {
    exchange.set_status(StatusCode::OK);
    if let Ok(stream) = upgrade.await {
        let (connection, service) = (Rc::clone(exchange.connection()), begin.service());
        let mut task = begin.begin(Upgraded::new(Http2Stream::new(stream, &context)));
        poll_fn(|cx| {
            connection.upgraded.set(service);
            let polled = Share::poll(&connection, cx, task.as_mut());
            connection.upgraded.set(0);
            polled
        })
        .await;
    }
}

fn ended(connection: &Connection, result: hyper::Result<()>) -> End {
    if let Some(timed_out) = connection.timed_out.take().filter(|timed_out| *timed_out == TimedOut::ControlFrames) {
        return End::TimedOut(timed_out);
    }
    if let Err(error) = result {
        tracing::debug!(%error, peer = connection.peer_text, "connection ended");
    }
    End::Done
}

/// The wire as hyper's I/O.
struct Io {
    connection: Rc<Connection>,
    traffic: Rc<RefCell<Traffic>>,
    /// What hyper had no room for.
    rest: Vec<u8>,
}

impl Io {
    fn new(connection: &Rc<Connection>, traffic: Rc<RefCell<Traffic>>) -> Self {
        let mut rest = Vec::new();
        // The beginning of the preface.
        let sniffed = connection.wire().take_sniffed();
        let now = connection.context.now();
        traffic.borrow_mut().receive(&sniffed, now, |bytes| rest.extend_from_slice(bytes));
        Self { connection: Rc::clone(connection), traffic, rest }
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(turn::poll_proceed(cx));
        // What is held may be all that has come, and no bytes would be the end.
        while self.rest.is_empty() {
            let Self { connection, traffic, rest } = &mut *self;
            let mut memory = connection.context.scratch();
            let room = cursor.remaining().min(memory.len());
            let mut buffer = ReadBuf::new(&mut memory[..room]);
            ready!(connection.wire().poll_receive(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                *rest = traffic.borrow_mut().take_held();
                break;
            }
            let before = cursor.remaining();
            let is_fine = traffic.borrow_mut().receive(buffer.filled(), connection.context.now(), |bytes| {
                let now = if rest.is_empty() { bytes.len().min(cursor.remaining()) } else { 0 };
                cursor.put_slice(&bytes[..now]);
                rest.extend_from_slice(&bytes[now..]);
            });
            if !is_fine {
                // Without waiting until all that has arrived is answered.
                connection.end_with(TimedOut::ControlFrames);
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            if cursor.remaining() < before {
                return Poll::Ready(Ok(()));
            }
        }
        let rest = &mut self.rest;
        let count = rest.len().min(cursor.remaining());
        cursor.put_slice(&rest[..count]);
        rest.drain(..count);
        if rest.is_empty() {
            *rest = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl Write for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut TaskContext<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let count = ready!(self.connection.wire().poll_write(cx, bytes))?;
        if !self.traffic.borrow_mut().send(&bytes[..count], self.connection.context.now()) {
            self.connection.end_with(TimedOut::ControlFrames);
        }
        Poll::Ready(Ok(count))
    }

    /// The output is flushed when hyper has nothing more to do: see `Connection::after_poll`.
    fn poll_flush(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// See `closing`.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Runs the HTTP/2 streams of a connection on its thread.
#[derive(Clone)]
struct OnThisThread(Rc<Connection>);

impl<F: Future<Output = ()> + 'static> Executor<F> for OnThisThread {
    fn execute(&self, stream: F) {
        tokio::task::spawn_local(with_deadline(Rc::clone(&self.0), stream));
    }
}

/// Runs a stream, and resets it when its client takes nothing of the response for `limits.write_idle`: a window of 0
/// would hold the response for ever. The socket of such a connection is not blocked.
async fn with_deadline(connection: Rc<Connection>, stream: impl Future<Output = ()>) {
    let mut stream = pin!(stream);
    let mut waiting: Option<(Instant, Pin<Box<tokio::time::Sleep>>)> = None;
    poll_fn(|cx| {
        connection.stream.set(None);
        if Share::poll(&connection, cx, stream.as_mut()).is_ready() {
            return Poll::Ready(());
        }
        match connection.stream.take() {
            Some(StreamState::WaitsForBody) => waiting = None,
            Some(StreamState::WaitsForClient) => {
                waiting = Some((Instant::now(), Box::pin(tokio::time::sleep(LOOK.min(connection.write_idle())))));
            }
            None => {}
        }
        let Some((since, look)) = &mut waiting else { return Poll::Pending };
        loop {
            ready!(look.as_mut().poll(cx));
            let left = connection.write_idle().saturating_sub(since.elapsed());
            // Dropping an unfinished stream resets it.
            if left.is_zero() {
                return Poll::Ready(());
            }
            look.set(tokio::time::sleep(LOOK.min(left)));
        }
    })
    .await;
}

#[derive(Clone, Copy)]
struct TokioTimer;

struct TokioSleep(Pin<Box<tokio::time::Sleep>>);

impl Timer for TokioTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(TokioSleep(Box::pin(tokio::time::sleep(duration))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(TokioSleep(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}

impl Future for TokioSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Sleep for TokioSleep {}

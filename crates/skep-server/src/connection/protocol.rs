//! HTTP/1 and HTTP/2 with hyper, over the [`Wire`](super::wire::Wire).

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Executor, Read, ReadBufCursor, Sleep, Timer, Write};
use hyper::server::conn::{http1 as hyper1, http2 as hyper2};
use hyper::service::service_fn;

use super::{Connection, Context, End, Phase, StreamState, exchange};

/// How often it is looked whether a client still has time: that may become less.
const LOOK: Duration = Duration::from_secs(1);

/// How often an idle HTTP/2 peer is pinged.
const PING: Duration = Duration::from_secs(20);

pub(super) async fn http1(connection: &Rc<Connection>) -> End {
    let limits = &connection.context.limits;
    let service = service_fn(|request| exchange::exchange(connection, request));
    let http = hyper1::Builder::new()
        .half_close(false)
        // Timeouts and pipelining are handled outside of hyper.
        .header_read_timeout(None)
        // Out-of-band chunks need hyper's flat buffer: see `Chunk`.
        .writev(false)
        .max_headers(limits.header_fields)
        .max_buf_size(limits.header_bytes.max(8 << 10))
        .serve_connection(Io(Rc::clone(connection)), service);
    connection.drive(pin!(http), hyper1::Connection::graceful_shutdown, Context::is_draining).await
}

pub(super) async fn http2(connection: &Rc<Connection>) -> End {
    connection.wire().set_http2();
    // The server sends its preface first.
    connection.enter_phase(Phase::Idle);
    let limits = &connection.context.limits;
    let owner = Rc::clone(connection);
    let service = service_fn(move |request| exchange::exchange(&owner, request));
    let http = hyper2::Builder::new(OnThisThread(Rc::clone(connection)))
        .timer(TokioTimer)
        .keep_alive_interval(PING)
        .keep_alive_timeout(limits.write_idle)
        .max_concurrent_streams(limits.http2_streams)
        .max_pending_accept_reset_streams(limits.http2_resets as usize)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .serve_connection(Io(Rc::clone(connection)), service);
    // Sends GOAWAY, and finishes the streams in progress (RFC 9113, 6.8).
    // Before the client's preface hyper would close the connection without GOAWAY: a retiring worker waits for it, a draining one does not.
    let ends = |context: &Context| context.is_draining() || context.is_retiring() && connection.wire().received;
    connection.drive(pin!(http), hyper2::Connection::graceful_shutdown, ends).await
}

/// The wire as hyper's I/O.
struct Io(Rc<Connection>);

impl Read for Io {
    fn poll_read(self: Pin<&mut Self>, cx: &mut TaskContext<'_>, cursor: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        self.0.wire().poll_read(cx, cursor, &self.0.context.limits)
    }
}

impl Write for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut TaskContext<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.wire().poll_write(cx, bytes, self.0.no_request_running.get())
    }

    /// The output is flushed when hyper has nothing more to do: see `Connection::after_poll`.
    fn poll_flush(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        if self.0.running.get() == 0 {
            self.0.no_request_running.set(true);
        }
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

/// Runs a stream, and resets it when its client takes nothing of the response for `limits.write_idle`: a window of 0 would hold the response for
/// ever. The socket of such a connection is not blocked.
async fn with_deadline(connection: Rc<Connection>, stream: impl Future<Output = ()>) {
    let mut stream = pin!(stream);
    let mut waiting: Option<(Instant, Pin<Box<tokio::time::Sleep>>)> = None;
    poll_fn(|cx| {
        connection.stream.set(None);
        if stream.as_mut().poll(cx).is_ready() {
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

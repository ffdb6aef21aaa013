//! HTTP/1 and HTTP/2 by hyper, over our wire.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Executor, Read, ReadBufCursor, Sleep, Timer, Write};
use hyper::server::conn::{http1 as hyper1, http2 as hyper2};
use hyper::service::service_fn;

use super::{Connection, Context, End, Phase, answer};

/// How often an HTTP/2 peer is asked whether it is still there, while nothing arrives from it.
const PING: Duration = Duration::from_secs(20);

pub(super) async fn http1(connection: &Rc<Connection>) -> End {
    let limits = &connection.context.limits;
    let service = service_fn(|request| answer::answer(connection, request));
    let http = hyper1::Builder::new()
        .half_close(false)
        // Time is the connection's own business, and so is pipelining: the wire gathers answers.
        .header_read_timeout(None)
        .max_headers(limits.head.fields)
        .max_buf_size(limits.head.bytes.max(8 << 10))
        .serve_connection(Io(Rc::clone(connection)), service);
    connection.drive(pin!(http), hyper1::Connection::graceful_shutdown, Context::is_draining).await
}

pub(super) async fn http2(connection: &Rc<Connection>) -> End {
    connection.wire().set_raw();
    // It says hello before it has anything to ask.
    connection.expect(Phase::Idle);
    let limits = &connection.context.limits;
    let owner = Rc::clone(connection);
    let service = service_fn(move |request| answer::answer(&owner, request));
    let http = hyper2::Builder::new(OnThisThread)
        .timer(TokioTimer)
        .keep_alive_interval(PING)
        .keep_alive_timeout(limits.write_idle)
        .max_concurrent_streams(limits.http2_streams)
        .max_pending_accept_reset_streams(limits.http2_resets)
        .max_header_list_size(u32::try_from(limits.head.bytes).unwrap_or(u32::MAX))
        .serve_connection(Io(Rc::clone(connection)), service);
    // It can say that it ends without cutting what is on its way (GOAWAY; RFC 9113, 6.8).
    connection.drive(pin!(http), hyper2::Connection::graceful_shutdown, Context::is_ending).await
}

/// The wire, as hyper sees it.
struct Io(Rc<Connection>);

impl Read for Io {
    fn poll_read(self: Pin<&mut Self>, cx: &mut TaskContext<'_>, cursor: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        self.0.wire().poll_read(cx, cursor)
    }
}

impl Write for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut TaskContext<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.wire().poll_write(cx, bytes, self.0.quiet.get())
    }

    /// hyper has handed over all it had. It leaves when hyper has nothing more to do: see `Connection::settle`.
    fn poll_flush(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        if self.0.running.get() == 0 {
            self.0.quiet.set(true);
        }
        Poll::Ready(Ok(()))
    }

    /// How a connection ends is not hyper's business: see `closing`.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Streams of HTTP/2 stay on the thread of their connection.
#[derive(Clone, Copy)]
struct OnThisThread;

impl<F: Future<Output = ()> + 'static> Executor<F> for OnThisThread {
    fn execute(&self, stream: F) {
        tokio::task::spawn_local(stream);
    }
}

/// hyper's clock.
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

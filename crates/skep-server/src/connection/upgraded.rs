//! Connections, and streams of HTTP/2, that have become byte streams.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf as HyperBuf, Write};
use skep::upgrade::ByteStream;
use tokio::io::ReadBuf;
use tokio::time::{Instant, Sleep};

use super::{Connection, Context, turn};

/// What a byte stream waits for beside bytes.
struct Watch {
    context: Rc<Context>,
    /// When something arrived.
    heard: Instant,
    quiet: Option<Pin<Box<Sleep>>>,
    ending: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl Watch {
    fn new(context: &Rc<Context>) -> Self {
        Self { context: Rc::clone(context), heard: Instant::now(), quiet: None, ending: None }
    }

    fn poll_quiet(&mut self, cx: &mut TaskContext<'_>, time: Duration) -> Poll<()> {
        let at = self.heard + time;
        let quiet = self.quiet.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if quiet.deadline() != at {
            quiet.as_mut().reset(at);
        }
        quiet.as_mut().poll(cx)
    }

    fn poll_ending(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.context.is_ending() {
            return Poll::Ready(());
        }
        let context = &self.context;
        self.ending.get_or_insert_with(|| Box::pin(Rc::clone(context).ends())).as_mut().poll(cx)
    }
}

/// A connection that was HTTP/1.
pub(super) struct Http1Stream {
    connection: Rc<Connection>,
    /// What had arrived before.
    input: Vec<u8>,
    watch: Watch,
}

impl Http1Stream {
    pub(super) fn new(connection: Rc<Connection>, input: Vec<u8>) -> Self {
        let watch = Watch::new(&connection.context);
        Self { connection, input, watch }
    }
}

impl ByteStream for Http1Stream {
    fn poll_read(&mut self, cx: &mut TaskContext<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        ready!(turn::poll_proceed(cx));
        if self.input.is_empty() {
            let mut buffer = ReadBuf::new(buffer);
            ready!(self.connection.wire().poll_receive(cx, &mut buffer))?;
            self.watch.heard = Instant::now();
            return Poll::Ready(Ok(buffer.filled().len()));
        }
        let count = self.input.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.input[..count]);
        self.input.drain(..count);
        if self.input.is_empty() {
            self.input = Vec::new();
        }
        Poll::Ready(Ok(count))
    }

    fn poll_turn(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        turn::poll_proceed(cx)
    }

    fn poll_write(&mut self, cx: &mut TaskContext<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(turn::poll_time(cx));
        self.connection.wire().poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        self.connection.wire().poll_flush(cx)
    }

    fn poll_shutdown(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        let mut wire = self.connection.wire();
        ready!(wire.poll_flush(cx))?;
        wire.poll_shutdown(cx)
    }

    fn poll_quiet(&mut self, cx: &mut TaskContext<'_>, time: Duration) -> Poll<()> {
        self.watch.poll_quiet(cx, time)
    }

    fn poll_ending(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.watch.poll_ending(cx)
    }
}

/// A stream of HTTP/2.
pub(super) struct Http2Stream {
    stream: hyper::upgrade::Upgraded,
    watch: Watch,
    /// When a client that takes nothing is given up: its connection goes on, so nothing else would notice.
    blocked: Option<Pin<Box<Sleep>>>,
}

impl Http2Stream {
    pub(super) fn new(stream: hyper::upgrade::Upgraded, context: &Rc<Context>) -> Self {
        Self { stream, watch: Watch::new(context), blocked: None }
    }
}

impl ByteStream for Http2Stream {
    fn poll_read(&mut self, cx: &mut TaskContext<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        ready!(turn::poll_proceed(cx));
        let mut buffer = HyperBuf::new(buffer);
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer.unfilled()))?;
        self.watch.heard = Instant::now();
        Poll::Ready(Ok(buffer.filled().len()))
    }

    fn poll_turn(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        turn::poll_proceed(cx)
    }

    fn poll_write(&mut self, cx: &mut TaskContext<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(turn::poll_time(cx));
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if written.is_ready() {
            self.blocked = None;
            return written;
        }
        let patience = self.watch.context.limits.write_idle;
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        blocked.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_quiet(&mut self, cx: &mut TaskContext<'_>, time: Duration) -> Poll<()> {
        self.watch.poll_quiet(cx, time)
    }

    fn poll_ending(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.watch.poll_ending(cx)
    }
}

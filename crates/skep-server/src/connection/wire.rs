//! The bytes of one connection, in both directions.
//!
//! Input passes the [`Validator`]. Output is gathered, so that the responses to pipelined requests are sent together; where possible, the kernel sends
//! the bytes of a file itself.
//!
//! hyper responds to what it cannot parse with a bare status. Such a response is never sent: the wire keeps its status, and the server's own error page
//! is sent instead.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::exchange::Exchange;
use super::response_body::DirectBody;
use super::socket::Socket;
use super::validator::{Rejection, Validator};
use crate::config::Limits;
use crate::sys;

/// Output is gathered up to this many bytes.
const GATHER: usize = 16 << 10;

/// From this size on, a body is sent separately from its head.
const LARGE: u64 = 64 << 10;

/// The buffer that an idle connection keeps.
const KEEP: usize = 1 << 10;

/// One connection's socket, with what waits on either side.
pub(crate) struct Wire {
    socket: Socket,
    pub(super) validator: Validator,
    mode: Mode,
    /// Input that arrived before the protocol was known.
    sniffed: Vec<u8>,
    out: Vec<u8>,
    /// How much of `out` has been written.
    written: usize,
    /// Sent after all of `out`, before anything else.
    body: Option<PendingBody>,
    /// Why input was rejected.
    pub(super) rejection: Option<Rejection>,
    /// The status of hyper's own response.
    pub(super) hyper_status: Option<StatusCode>,
    /// Any byte has arrived.
    pub(super) received: bool,
    /// The client does not read what is written.
    pub(super) blocked: bool,
    /// Something was written to the socket since the last flush; TLS buffers, too.
    unflushed: bool,
}

/// A body that hyper does not see.
struct PendingBody {
    body: DirectBody,
    exchange: Exchange,
    /// hyper has not written its head yet.
    awaits_head: bool,
}

/// How input is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Http1,
    /// Input was rejected, and everything before it has been read.
    Rejected,
    /// hyper validates HTTP/2 itself.
    Http2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
    /// The client closed the connection without sending anything.
    Closed,
}

/// The preface of HTTP/2 (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

impl Wire {
    pub(crate) fn new(socket: Socket) -> Self {
        Self {
            socket,
            validator: Validator::default(),
            mode: Mode::Http1,
            sniffed: Vec::new(),
            out: Vec::new(),
            written: 0,
            body: None,
            rejection: None,
            hyper_status: None,
            received: false,
            blocked: false,
            unflushed: false,
        }
    }

    pub(crate) fn set_http2(&mut self) {
        self.mode = Mode::Http2;
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.mode == Mode::Http2
    }

    /// True if input was rejected, and everything before it has been read.
    pub(crate) fn is_rejected(&self) -> bool {
        self.mode == Mode::Rejected
    }

    /// True if there is, or will be, input that is not read.
    pub(crate) fn has_unread_input(&self) -> bool {
        self.rejection.is_some() || self.validator.in_head() || self.validator.in_body()
    }

    /// True between the first byte of a head and its end.
    pub(crate) fn in_head(&self) -> bool {
        !self.is_http2() && self.validator.in_head()
    }

    pub(crate) fn supports_sendfile(&self) -> bool {
        !self.is_http2() && self.socket.supports_sendfile()
    }

    /// Queues a body; hyper writes its head next.
    pub(crate) fn queue_body(&mut self, body: DirectBody, exchange: Exchange) {
        debug_assert!(self.body.is_none(), "the body before has been sent");
        self.body = Some(PendingBody { body, exchange, awaits_head: true });
    }

    pub(crate) fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// Drops a body that will not be sent.
    pub(crate) fn drop_body(&mut self) {
        self.body = None;
    }

    /// Reads until the protocol is known. [`poll_read`](Self::poll_read) returns the same bytes again.
    pub(crate) fn poll_sniff(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Protocol>> {
        let mut memory = [std::mem::MaybeUninit::uninit(); 2 << 10];
        loop {
            let mut buffer = ReadBuf::uninit(&mut memory);
            ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(Protocol::Closed));
            }
            self.received = true;
            self.sniffed.extend_from_slice(buffer.filled());
            let common = self.sniffed.len().min(PREFACE.len());
            if self.sniffed[..common] != PREFACE[..common] {
                return Poll::Ready(Ok(Protocol::Http1));
            }
            if common == PREFACE.len() {
                return Poll::Ready(Ok(Protocol::Http2));
            }
        }
    }

    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
        limits: &Limits,
    ) -> Poll<io::Result<()>> {
        // Rejected input ends the connection once all requests before it are answered: see `Connection::after_poll`.
        if self.rejection.is_some() {
            return self.withhold();
        }
        if !self.sniffed.is_empty() {
            let count = self.sniffed.len().min(cursor.remaining());
            let mut passed = count;
            if !self.is_http2() {
                (passed, self.rejection) = self.validator.check(&self.sniffed[..count], limits);
            }
            cursor.put_slice(&self.sniffed[..passed]);
            self.sniffed.drain(..count);
            if self.sniffed.is_empty() {
                self.sniffed = Vec::new();
            }
            return if passed == 0 { self.withhold() } else { Poll::Ready(Ok(())) };
        }
        if self.is_http2() {
            let Self { socket, received, .. } = self;
            let note = |bytes: &[u8]| {
                *received |= !bytes.is_empty();
                bytes.len()
            };
            return sys::poll_read_into(cursor, |buffer| Pin::new(socket).poll_read(cx, buffer), note);
        }
        let Self { socket, validator, rejection, received, .. } = self;
        let mut withheld = false;
        let check = |bytes: &[u8]| {
            let (passed, refused) = validator.check(bytes, limits);
            *rejection = refused;
            *received = true;
            withheld = passed == 0 && !bytes.is_empty();
            passed
        };
        let read = sys::poll_read_into(cursor, |buffer| Pin::new(socket).poll_read(cx, buffer), check);
        if withheld { self.withhold() } else { read }
    }

    /// Returns nothing: zero bytes would mean the end of the stream.
    fn withhold(&mut self) -> Poll<io::Result<()>> {
        if self.rejection.is_some() {
            self.mode = Mode::Rejected;
        }
        Poll::Pending
    }

    /// Writes. `own` says that no request is in progress, so that this is hyper's own response.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8], own: bool) -> Poll<io::Result<usize>> {
        if own && !self.is_http2() {
            self.hyper_status = status_of(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        // The head of a queued body is taken whole; what follows it waits for the body.
        let head = self.body.as_mut().is_some_and(|waiting| std::mem::take(&mut waiting.awaits_head));
        if !head && self.body.is_some() {
            ready!(self.poll_empty(cx))?;
        }
        if head || self.waiting() + bytes.len() <= GATHER {
            self.out.extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        ready!(self.poll_empty(cx))?;
        self.poll_socket(cx, |socket, cx| Pin::new(socket).poll_write(cx, bytes))
    }

    /// Sends what was gathered, and the body after it.
    fn poll_empty(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let follows = self.body.as_ref().is_some_and(|waiting| !waiting.awaits_head);
        // A large body is sent separately from its head: sharing a packet would misalign its pages, and cost a third more time than one more packet.
        let joined = follows && self.body.as_ref().is_some_and(|waiting| waiting.body.len() < LARGE);
        ready!(self.poll_out(cx, joined))?;
        let Some(mut waiting) = self.body.take_if(|_| follows) else { return Poll::Ready(Ok(())) };
        while waiting.body.len() > 0 {
            let sent = self.poll_socket(cx, |socket, cx| match &waiting.body {
                DirectBody::File(slice) => socket.poll_send_file(cx, slice),
                DirectBody::Bytes(bytes) => Pin::new(socket).poll_write(cx, bytes),
            });
            match sent {
                Poll::Ready(Ok(count @ 1..)) => {
                    waiting.exchange.count(count);
                    waiting.body.advance(count);
                }
                // The body stays queued, so that nothing is sent in its place.
                stopped => {
                    self.body = Some(waiting);
                    return stopped.map(|sent| sent.and_then(|_| Err(truncated())));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn waiting(&self) -> usize {
        self.out.len() - self.written
    }

    /// Sends everything that is buffered.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.out.is_empty() && !self.unflushed && self.body.is_none() {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_empty(cx))?;
        if self.socket.is_tls() {
            ready!(self.poll_socket(cx, |socket, cx| Pin::new(socket).poll_flush(cx)))?;
        }
        self.unflushed = false;
        Poll::Ready(Ok(()))
    }

    /// Writes what was gathered; `more` says that a body follows at once.
    fn poll_out(&mut self, cx: &mut Context<'_>, more: bool) -> Poll<io::Result<()>> {
        while self.waiting() > 0 {
            let bytes = &self.out[self.written..];
            let result = self.socket.poll_send(cx, bytes, more);
            self.blocked = result.is_pending();
            self.unflushed = true;
            self.written += match ready!(result)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => count,
            };
        }
        self.written = 0;
        if self.out.capacity() > KEEP {
            self.out = Vec::new();
        } else {
            self.out.clear();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_socket<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(&mut Socket, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let result = write(&mut self.socket, cx);
        self.blocked = result.is_pending();
        self.unflushed = true;
        result
    }

    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }

    /// Reads and discards input, and returns its length; 0 at the end.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut memory = [std::mem::MaybeUninit::uninit(); 8 << 10];
        let mut buffer = ReadBuf::uninit(&mut memory);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

/// The length has been sent already, so the response can only break off.
fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a file became truncated while it was sent")
}

/// The status in `HTTP/1.1 400 Bad Request`.
fn status_of(head: &[u8]) -> Option<StatusCode> {
    StatusCode::from_bytes(head.get(9..12)?).ok()
}

//! The bytes of one connection, in both directions.
//!
//! Output is gathered, so that the responses to pipelined requests are sent together; where possible, the kernel sends
//! the bytes of a file itself.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use skep::body::FileSlice;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::exchange::Exchange;
use super::socket::Socket;
use super::turn;

/// Responses are gathered up to this many bytes.
const GATHER: usize = 16 << 10;

/// A byte stream, such as HTTP/2, is gathered up to this many: three of its largest frames with their heads. Each write
/// is a system call, and over TLS a record of its own, so that heads that were written by themselves would double both.
const GATHER_STREAM: usize = 56 << 10;

/// From this size on, a file is sent separately from its head.
const LARGE: u64 = 64 << 10;

/// The largest buffer that a thread keeps for its connections.
const MOST_SPARE: usize = 64 << 10;

thread_local! {
    /// Memory for output. A connection has it while it has something to send.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
/// One connection's socket, with what waits on either side.
pub(crate) struct Wire {
    socket: Socket,
    is_http2: bool,
    /// Input that arrived before the protocol was known.
    sniffed: Vec<u8>,
    reading: Reading,
    out: Vec<u8>,
    /// How much of `out` has been written.
    written: usize,
    /// Sent after all of `out`, before anything else.
    body: Option<PendingBody>,
    /// Any byte has arrived.
    pub(super) received: bool,
    /// The client does not read what is written.
    pub(super) blocked: bool,
    /// The client took bytes since this was last asked.
    progress: bool,
    /// Something was written to the socket since the last flush; TLS buffers, too.
    unflushed: bool,
}

/// A body that is sent as it is, with the request that it answers; or a piece of one, whose request lasts longer.
struct PendingBody {
    body: DirectBody,
    exchange: Option<Exchange>,
}

/// A body that is complete: a file, or bytes in memory.
#[derive(Debug)]
pub(crate) enum DirectBody {
    File(FileSlice),
    Bytes(Bytes),
}

/// What has been read in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Nothing,
    Head,
    Body,
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
            is_http2: false,
            sniffed: Vec::new(),
            reading: Reading::Nothing,
            out: Vec::new(),
            written: 0,
            body: None,
            received: false,
            blocked: false,
            progress: false,
            unflushed: false,
        }
    }

    pub(crate) fn set_http2(&mut self) {
        self.is_http2 = true;
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.is_http2
    }

    /// True if the socket took bytes since the last call.
    pub(super) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progress)
    }

    /// True if the client neither sends nor reads any more, as far as the socket knows.
    pub(super) fn is_hung_up(&self) -> bool {
        self.socket.is_hung_up()
    }

    pub(super) fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
    }

    /// True if there is, or will be, input that is not read.
    pub(crate) fn has_unread_input(&self) -> bool {
        self.reading != Reading::Nothing
    }

    /// True between the first byte of a head and its end.
    pub(crate) fn in_head(&self) -> bool {
        self.reading == Reading::Head
    }

    pub(crate) fn supports_sendfile(&self) -> bool {
        self.socket.supports_sendfile()
    }

    /// Queues a body, whose head has been pushed.
    pub(crate) fn queue_body(&mut self, body: DirectBody, exchange: Exchange) {
        debug_assert!(self.body.is_none(), "the body before has been sent");
        self.body = Some(PendingBody { body, exchange: Some(exchange) });
    }

    /// Sends a piece of a body after what is gathered: a large one is not copied. Nothing is queued before it.
    pub(crate) fn send_piece(&mut self, piece: Bytes) {
        debug_assert!(self.body.is_none(), "the piece before has been sent");
        if piece.len() < GATHER {
            self.push(&piece);
        } else {
            self.body = Some(PendingBody { body: DirectBody::Bytes(piece), exchange: None });
        }
    }

    pub(crate) fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// Drops a body that will not be sent.
    pub(crate) fn drop_body(&mut self) {
        self.body = None;
    }

    /// Reads until the protocol is known. [`take_sniffed`](Self::take_sniffed) returns the same bytes.
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

    /// What was read before the protocol was known.
    pub(crate) fn take_sniffed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sniffed)
    }

    /// Receives bytes; none at the end.
    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        self.received |= !buffer.filled().is_empty();
        Poll::Ready(Ok(()))
    }

    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.waiting() + bytes.len() > GATHER_STREAM {
            if self.socket.is_tls() {
                ready!(turn::poll_time(cx));
            }
            ready!(self.poll_empty(cx))?;
        }
        if bytes.len() > GATHER_STREAM {
            return self.poll_socket(cx, |socket, cx| Pin::new(socket).poll_write(cx, bytes));
        }
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    /// Sends what was gathered, and the body after it.
    fn poll_empty(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(mut waiting) = self.body.take() else { return self.poll_out(cx, false) };
        let sent = self.poll_with_body(cx, &mut waiting);
        if !matches!(sent, Poll::Ready(Ok(()))) {
            // The body stays queued, so that nothing is sent in its place.
            self.body = Some(waiting);
        }
        sent
    }

    fn poll_with_body(&mut self, cx: &mut Context<'_>, waiting: &mut PendingBody) -> Poll<io::Result<()>> {
        if let DirectBody::File(slice) = &waiting.body {
            // A large file is sent separately from its head: sharing a packet would misalign its pages, and cost a
            // third more time than one more packet.
            let joined = slice.len < LARGE;
            ready!(self.poll_out(cx, joined))?;
        }
        while waiting.body.len() > 0 {
            let head = std::mem::take(&mut self.out);
            let rest = &head[self.written..];
            let head_left = rest.len();
            let sent = self.poll_socket(cx, |socket, cx| match &waiting.body {
                DirectBody::File(slice) => socket.poll_send_file(cx, slice),
                DirectBody::Bytes(bytes) => socket.poll_send_body(cx, rest, bytes),
            });
            self.out = head;
            let count = match ready!(sent)? {
                0 => return Poll::Ready(Err(truncated())),
                count => count,
            };
            let of_head = count.min(head_left);
            self.written += of_head;
            if of_head > 0 && of_head == head_left {
                self.clear_out();
            }
            if let Some(exchange) = &mut waiting.exchange {
                exchange.count(count - of_head);
            }
            waiting.body.advance(count - of_head);
            let takes_time = match &waiting.body {
                DirectBody::File(rest) => rest.len > 0,
                DirectBody::Bytes(rest) => !rest.is_empty() && self.socket.is_tls(),
            };
            if takes_time {
                // A client that takes it as fast as it is read or encrypted would keep this thread from all others.
                turn::defer(cx);
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Where output is gathered.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        if self.out.capacity() == 0 {
            self.out = SPARE.take();
        }
        &mut self.out
    }

    /// Nothing is gathered any more: the memory goes back to the thread.
    fn clear_out(&mut self) {
        self.written = 0;
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        if out.capacity() <= MOST_SPARE {
            SPARE.set(out);
        }
    }

    /// True if there is enough to be sent first: nothing may be gathered behind a body.
    pub(crate) fn is_full(&self) -> bool {
        self.has_body() || self.waiting() >= GATHER
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.out().extend_from_slice(bytes);
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
            self.note_write(&result);
            self.written += match ready!(result)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => count,
            };
            if self.waiting() > 0 && self.socket.is_tls() {
                turn::defer(cx);
                return Poll::Pending;
            }
        }
        self.clear_out();
        Poll::Ready(Ok(()))
    }

    fn poll_socket<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(&mut Socket, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let result = write(&mut self.socket, cx);
        self.note_write(&result);
        result
    }

    fn note_write<T>(&mut self, result: &Poll<T>) {
        self.blocked = result.is_pending();
        self.progress |= result.is_ready();
        self.unflushed = true;
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

impl DirectBody {
    /// The number of bytes still to be sent.
    fn len(&self) -> u64 {
        match self {
            Self::File(slice) => slice.len,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// This many bytes have been sent.
    fn advance(&mut self, count: usize) {
        match self {
            Self::File(slice) => {
                slice.start += count as u64;
                slice.len -= count as u64;
            }
            Self::Bytes(bytes) => bytes.advance(count),
        }
    }
}

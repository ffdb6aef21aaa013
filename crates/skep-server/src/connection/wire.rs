//! The bytes of one connection, on their way in and out.
//!
//! Inwards they pass the [`Gate`]. Outwards they are gathered, so that the answers to several requests that came
//! together leave together; a file's bytes never pass through this process where the kernel can send them.
//!
//! The parser behind it, hyper, answers what it cannot parse with a bare status. Such an answer never leaves: the wire
//! keeps its status, and the server's own error page is sent instead.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::answer::Answer;
use super::gate::{Bounds, Gate, Refusal};
use super::outgoing::Direct;
use super::socket::Socket;
use crate::sys;

/// What goes out is gathered up to this many bytes.
const GATHER: usize = 16 << 10;

/// From here on a body is sent apart from its head.
const LARGE: u64 = 64 << 10;

/// Memory for gathering that an idle connection may keep.
const KEEP: usize = 1 << 10;

/// One connection's socket, and what waits on either side of it.
pub(crate) struct Wire {
    socket: Socket,
    gate: Gate,
    bounds: Bounds,
    mode: Mode,
    /// Arrived before it was known which protocol it speaks.
    early: Vec<u8>,
    out: Vec<u8>,
    /// How much of `out` has been written.
    written: usize,
    /// Sent after all of `out`, before anything else.
    body: Option<Waiting>,
    refusal: Option<Refusal>,
    automatic: Option<StatusCode>,
    received: bool,
    blocked: bool,
    /// Something was given to the socket since it was last flushed; encryption gathers, too.
    unflushed: bool,
}

/// A body that hyper does not see.
struct Waiting {
    body: Direct,
    answer: Answer,
    /// Its head has not come yet.
    headless: bool,
}

/// Who looks at what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Gated,
    /// Something was refused, and all that was let in before it has been taken up.
    UsedUp,
    /// HTTP/2 frames and checks its messages itself.
    Raw,
}

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    Http1,
    Http2,
    /// The other side left without a word.
    Gone,
}

/// How a client says that it speaks HTTP/2 (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

impl Wire {
    pub(crate) fn new(socket: Socket, bounds: Bounds) -> Self {
        Self {
            socket,
            gate: Gate::new(),
            bounds,
            mode: Mode::Gated,
            early: Vec::new(),
            out: Vec::new(),
            written: 0,
            body: None,
            refusal: None,
            automatic: None,
            received: false,
            blocked: false,
            unflushed: false,
        }
    }

    /// From here on the bytes are HTTP/2's.
    pub(crate) fn set_raw(&mut self) {
        self.mode = Mode::Raw;
    }

    /// True if the bytes are HTTP/2's.
    pub(crate) fn is_raw(&self) -> bool {
        self.mode == Mode::Raw
    }

    /// Why nothing more is taken in.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// True if something was refused, and all that came before it has been taken up.
    pub(crate) fn is_used_up(&self) -> bool {
        self.mode == Mode::UsedUp
    }

    /// The status of the answer that hyper gave by itself.
    pub(crate) fn automatic(&self) -> Option<StatusCode> {
        self.automatic
    }

    /// True if any byte has ever arrived.
    pub(crate) fn received(&self) -> bool {
        self.received
    }

    /// True if something that arrived, or should yet, will not be read by anyone.
    pub(crate) fn has_unread(&self) -> bool {
        self.refusal.is_some() || self.gate.in_head() || self.gate.in_body()
    }

    /// True between the first byte of a head and its end.
    pub(crate) fn in_head(&self) -> bool {
        !self.is_raw() && self.gate.in_head()
    }

    /// True if bytes of a body are still to come.
    pub(crate) fn in_body(&self) -> bool {
        self.gate.in_body()
    }

    /// True if the message that was read last has a chunked body.
    pub(crate) fn in_chunked(&self) -> bool {
        self.gate.in_chunked()
    }

    /// True if the other side does not take what we write.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    pub(crate) fn takes_files(&self) -> bool {
        !self.is_raw() && self.socket.takes_files()
    }

    /// Takes a body whose head comes with the next write.
    pub(crate) fn take_body(&mut self, body: Direct, answer: Answer) {
        debug_assert!(self.body.is_none(), "the body before has been sent");
        self.body = Some(Waiting { body, answer, headless: true });
    }

    /// True if a body is being sent.
    pub(crate) fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// Forgets a body that will not be sent.
    pub(crate) fn drop_body(&mut self) {
        self.body = None;
    }

    /// Reads until it is plain which protocol the other side speaks. Nothing is lost: [`poll_read`](Self::poll_read)
    /// gives the same bytes again.
    pub(crate) fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Beginning>> {
        let mut memory = [std::mem::MaybeUninit::uninit(); 2 << 10];
        loop {
            let mut buffer = ReadBuf::uninit(&mut memory);
            ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(Beginning::Gone));
            }
            self.received = true;
            self.early.extend_from_slice(buffer.filled());
            let common = self.early.len().min(PREFACE.len());
            if self.early[..common] != PREFACE[..common] {
                return Poll::Ready(Ok(Beginning::Http1));
            }
            if common == PREFACE.len() {
                return Poll::Ready(Ok(Beginning::Http2));
            }
        }
    }

    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, mut cursor: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // What was refused ends the connection once all before it is answered; whoever drives it sees to that.
        if self.refusal.is_some() {
            return self.hold_back();
        }
        if !self.early.is_empty() {
            let count = self.early.len().min(cursor.remaining());
            let passed = if self.is_raw() { count } else { self.pass_early(count) };
            cursor.put_slice(&self.early[..passed]);
            self.early.drain(..count);
            if self.early.is_empty() {
                self.early = Vec::new();
            }
            return if passed == 0 { self.hold_back() } else { Poll::Ready(Ok(())) };
        }
        if self.is_raw() {
            let socket = &mut self.socket;
            return sys::poll_read_into(cursor, |buffer| Pin::new(socket).poll_read(cx, buffer), <[u8]>::len);
        }
        let Self { socket, gate, bounds, refusal, received, .. } = self;
        let mut held_back = false;
        let check = |bytes: &[u8]| {
            let (passed, refused) = gate.check(bytes, bounds);
            *refusal = refused;
            *received = true;
            held_back = passed == 0 && !bytes.is_empty();
            passed
        };
        let read = sys::poll_read_into(cursor, |buffer| Pin::new(socket).poll_read(cx, buffer), check);
        if held_back { self.hold_back() } else { read }
    }

    /// Gives nothing: no bytes would mean the end of the stream.
    fn hold_back(&mut self) -> Poll<io::Result<()>> {
        if self.refusal.is_some() {
            self.mode = Mode::UsedUp;
        }
        Poll::Pending
    }

    fn pass_early(&mut self, count: usize) -> usize {
        let (passed, refused) = self.gate.check(&self.early[..count], &self.bounds);
        self.refusal = refused;
        passed
    }

    /// Takes bytes to send. `own` says that no request waits for an answer, so that they are hyper's automatic reply.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8], own: bool) -> Poll<io::Result<usize>> {
        if own && !self.is_raw() {
            self.automatic = status_of(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        // The head of a body is taken whole: what comes after it stays behind that body.
        let head = match &mut self.body {
            Some(waiting) if waiting.headless => {
                waiting.headless = false;
                true
            }
            Some(_) => {
                ready!(self.poll_empty(cx))?;
                false
            }
            None => false,
        };
        if head || self.waiting() + bytes.len() <= GATHER {
            self.out.extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        ready!(self.poll_empty(cx))?;
        self.poll_socket(cx, |socket, cx| Pin::new(socket).poll_write(cx, bytes))
    }

    /// Sends what was gathered, and the body behind it.
    fn poll_empty(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let follows = self.body.as_ref().is_some_and(|waiting| !waiting.headless);
        // Head and beginning of a large body in one packet would leave none of the body's pages where the kernel would like
        // them: it costs a third more to send, where a packet more costs nothing.
        let joined = follows && self.body.as_ref().is_some_and(|waiting| waiting.body.len() < LARGE);
        ready!(self.poll_out(cx, joined))?;
        let Some(mut waiting) = self.body.take_if(|_| follows) else { return Poll::Ready(Ok(())) };
        while waiting.body.len() > 0 {
            let sent = self.poll_socket(cx, |socket, cx| match &waiting.body {
                Direct::File(slice) => socket.poll_send_file(cx, slice),
                Direct::Bytes(bytes) => Pin::new(socket).poll_write(cx, bytes),
            });
            match sent {
                Poll::Ready(Ok(count @ 1..)) => {
                    waiting.answer.count(count);
                    waiting.body.advance(count);
                }
                // A body that cannot be sent stays in the way: nothing may come out in its place.
                stopped => {
                    self.body = Some(waiting);
                    return stopped.map(|sent| sent.and_then(|_| Err(shorter())));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Adds bytes of our own.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn waiting(&self) -> usize {
        self.out.len() - self.written
    }

    /// Lets go of all that waits.
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

    /// Says that nothing more will be written.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }

    /// Reads and throws away, and says how much; 0 at the end.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut memory = [std::mem::MaybeUninit::uninit(); 8 << 10];
        let mut buffer = ReadBuf::uninit(&mut memory);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

/// Its length has been promised; to send something else instead would be worse than to break off.
fn shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a file became shorter while it was sent")
}

/// The status in `HTTP/1.1 400 Bad Request`.
fn status_of(head: &[u8]) -> Option<StatusCode> {
    StatusCode::from_bytes(head.get(9..12)?).ok()
}

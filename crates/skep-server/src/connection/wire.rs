//! The bytes of one connection, on their way in and out.
//!
//! Inwards they pass the [`Gate`]. Outwards they are gathered, so that the answers to several requests that came
//! together leave together; a file's bytes never pass through this process where the kernel can send them.
//!
//! The parser behind it, hyper, answers what it cannot parse with a bare status. Such an answer never leaves: the wire
//! keeps its status, and the server's own error page is sent instead.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use hyper::rt::ReadBufCursor;
use skep::body::FileSlice;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::gate::{Bounds, Gate, Refusal};
use super::outgoing;
use super::socket::Socket;
use crate::sys;

/// What goes out is gathered up to this many bytes.
const GATHER: usize = 16 << 10;

/// Memory for gathering that an idle connection may keep.
const KEEP: usize = 1 << 10;

/// One connection's socket, and what waits on either side of it.
#[derive(Debug)]
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
    file: Option<FileSlice>,
    refusal: Option<Refusal>,
    automatic: Option<StatusCode>,
    received: bool,
    blocked: bool,
    /// Something was given to the socket since it was last flushed; encryption gathers, too.
    unflushed: bool,
}

/// Who looks at what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Gated,
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
            file: None,
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

    /// The file that a marker in the next writes stands for.
    pub(crate) fn announce(&mut self, file: FileSlice) {
        self.file = Some(file);
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
            return Poll::Pending;
        }
        if !self.early.is_empty() {
            let count = self.early.len().min(cursor.remaining());
            let passed = if self.is_raw() { count } else { self.pass_early(count) };
            cursor.put_slice(&self.early[..passed]);
            self.early.drain(..count);
            if self.early.is_empty() {
                self.early = Vec::new();
            }
            return if passed == 0 { Poll::Pending } else { Poll::Ready(Ok(())) };
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
        // No bytes would mean the end of the stream.
        if held_back { Poll::Pending } else { read }
    }

    fn pass_early(&mut self, count: usize) -> usize {
        let (passed, refused) = self.gate.check(&self.early[..count], &self.bounds);
        self.refusal = refused;
        passed
    }

    /// Takes bytes to send. `own` says that no request waits for an answer, so that they are hyper's automatic reply.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        own: bool,
    ) -> Poll<io::Result<usize>> {
        let total: usize = slices.iter().map(|slice| slice.len()).sum();
        if own && !self.is_raw() {
            self.automatic = slices.first().and_then(|first| status_of(first));
            return Poll::Ready(Ok(total));
        }
        if let Some(marker) = slices.iter().position(|slice| outgoing::is_marker(slice)) {
            return self.poll_write_file(cx, slices, marker);
        }
        if self.waiting() + total <= GATHER {
            self.gather(slices);
            return Poll::Ready(Ok(total));
        }
        ready!(self.poll_flush_with(cx, false))?;
        if total <= GATHER {
            self.gather(slices);
            return Poll::Ready(Ok(total));
        }
        self.poll_socket(cx, |socket, cx| Pin::new(socket).poll_write_vectored(cx, slices))
    }

    fn poll_write_file(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        marker: usize,
    ) -> Poll<io::Result<usize>> {
        if marker > 0 {
            self.gather(&slices[..marker]);
            return Poll::Ready(Ok(slices[..marker].iter().map(|slice| slice.len()).sum()));
        }
        ready!(self.poll_flush_with(cx, true))?;
        let Some(mut file) = self.file.take() else {
            return Poll::Ready(Err(io::Error::other("a file was to be sent, and there is none")));
        };
        let sent = self.poll_socket(cx, |socket, cx| socket.poll_send_file(cx, &file, slices[0].len()));
        if let Poll::Ready(Ok(0)) = sent {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "a file became shorter while it was sent",
            )));
        }
        if let Poll::Ready(Ok(count)) = sent {
            file.start += count as u64;
            file.len -= count as u64;
        }
        if file.len > 0 {
            self.file = Some(file);
        }
        sent
    }

    fn gather(&mut self, slices: &[IoSlice<'_>]) {
        for slice in slices {
            self.out.extend_from_slice(slice);
        }
    }

    /// Adds bytes of our own.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn waiting(&self) -> usize {
        self.out.len() - self.written
    }

    /// Writes what was gathered.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.out.is_empty() && !self.unflushed {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_flush_with(cx, false))?;
        ready!(self.poll_socket(cx, |socket, cx| Pin::new(socket).poll_flush(cx)))?;
        self.unflushed = false;
        Poll::Ready(Ok(()))
    }

    /// As [`poll_flush`](Self::poll_flush); `more` says that a file follows at once.
    fn poll_flush_with(&mut self, cx: &mut Context<'_>, more: bool) -> Poll<io::Result<()>> {
        while self.waiting() > 0 {
            let out = std::mem::take(&mut self.out);
            let bytes = &out[self.written..];
            let result = self.poll_socket(cx, |socket, cx| {
                if more { socket.poll_write_more(cx, bytes) } else { Pin::new(socket).poll_write(cx, bytes) }
            });
            self.out = out;
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

/// The status in `HTTP/1.1 400 Bad Request`.
fn status_of(head: &[u8]) -> Option<StatusCode> {
    StatusCode::from_bytes(head.get(9..12)?).ok()
}

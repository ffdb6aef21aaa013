//! TCP and unix sockets, plain or encrypted.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use skep::body::FileSlice;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::listener::AcceptedSocket;
use crate::{sys, tls};

/// A connected socket without TLS.
#[derive(Debug)]
pub(crate) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

#[derive(Debug)]
pub(crate) enum Socket {
    Plain(Plain),
    Tls(Box<tls::Stream<Plain>>),
}

impl Socket {
    /// True if the kernel can send files through this socket.
    pub(crate) fn supports_sendfile(&self) -> bool {
        cfg!(any(target_os = "linux", target_os = "android")) && matches!(self, Self::Plain(_))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// True if the connection is over in both directions: it was reset, or (of a unix socket) the peer has closed it.
    /// Of TCP, a peer that has closed its socket looks like one that has closed its sending side, until it answers a
    /// byte with a reset.
    pub(crate) fn is_hung_up(&self) -> bool {
        let plain = match self {
            Self::Plain(plain) => plain,
            Self::Tls(stream) => tls::plain(stream),
        };
        is_hung_up(plain.fd())
    }

    /// Writes bytes; `more` says that others follow at once.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8], more: bool) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(plain) => plain.poll_send(cx, bytes, more),
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, at_once(bytes)),
        }
    }

    /// Sends what is left of a head, and the beginning of the body after it.
    pub(crate) fn poll_send_body(&mut self, cx: &mut Context<'_>, head: &[u8], body: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            _ if head.is_empty() => self.poll_send(cx, body, false),
            Self::Plain(plain) => Pin::new(plain).poll_write_vectored(cx, &[head, body].map(IoSlice::new)),
            Self::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, &[head, at_once(body)].map(IoSlice::new)),
        }
    }

    /// Sends the beginning of a file slice without copying it. 0: the end of the file.
    pub(crate) fn poll_send_file(&mut self, cx: &mut Context<'_>, slice: &FileSlice) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(plain) => plain.poll_send_file(cx, slice),
            Self::Tls(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }
}

fn is_hung_up(fd: BorrowedFd<'_>) -> bool {
    // Hang-up and error are always reported (poll(2)).
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

// System calls go through rustix: those of the C library are cancellation points, which cost extra in a process with
// threads.
impl Plain {
    /// Registers a connection with the runtime.
    pub(crate) fn register(accepted: AcceptedSocket) -> io::Result<Self> {
        let AcceptedSocket { socket, address } = accepted;
        if address.is_none() {
            return UnixStream::from_std(socket.into()).map(Self::Unix);
        }
        // Responses are written whole; Nagle's algorithm would only delay them.
        rustix::net::sockopt::set_tcp_nodelay(&socket, true)?;
        TcpStream::from_std(socket.into()).map(Self::Tcp)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(tcp) => tcp.as_fd(),
            Self::Unix(unix) => unix.as_fd(),
        }
    }

    fn poll_ready(&self, cx: &mut Context<'_>, interest: Interest) -> Poll<io::Result<()>> {
        match (self, interest.is_readable()) {
            (Self::Tcp(tcp), true) => tcp.poll_read_ready(cx),
            (Self::Tcp(tcp), false) => tcp.poll_write_ready(cx),
            (Self::Unix(unix), true) => unix.poll_read_ready(cx),
            (Self::Unix(unix), false) => unix.poll_write_ready(cx),
        }
    }

    fn try_io<T>(&self, interest: Interest, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Tcp(tcp) => tcp.try_io(interest, call),
            Self::Unix(unix) => unix.try_io(interest, call),
        }
    }

    /// Makes a system call once the socket is ready. If it moves fewer than `wanted` bytes, the socket is not ready any
    /// more, and is not tried again before the runtime reports it.
    fn poll_io(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        wanted: usize,
        mut call: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut fewer = None;
            let result = self.try_io(interest, || {
                let count = call(self.fd())?;
                fewer = (count > 0 && count < wanted).then_some(count);
                if fewer.is_some() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(count) }
            });
            match (fewer, result) {
                (Some(count), _) => return Poll::Ready(Ok(count)),
                // The runtime is asked only where it has to report something.
                (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.poll_ready(cx, interest))?;
                }
                (None, Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                (None, result) => return Poll::Ready(result),
            }
        }
    }

    /// The first byte, which stays there to be read. `None`: the client closed the connection.
    pub(crate) async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut first = [0];
        // None is taken, so a small count says nothing about the socket.
        let mut peek = |fd: BorrowedFd<'_>| Ok(rustix::net::recv(fd, &mut first, RecvFlags::PEEK)?.0);
        let count = std::future::poll_fn(|cx| self.poll_io(cx, Interest::READABLE, 0, &mut peek)).await?;
        Ok((count > 0).then_some(first[0]))
    }

    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8], more: bool) -> Poll<io::Result<usize>> {
        let flags = if more { MORE } else { SendFlags::NOSIGNAL };
        self.poll_io(cx, Interest::WRITABLE, bytes.len(), |fd| Ok(rustix::net::send(fd, bytes, flags)?))
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn poll_send_file(&self, cx: &mut Context<'_>, slice: &FileSlice) -> Poll<io::Result<usize>> {
        let most = usize::try_from(slice.len).unwrap_or(usize::MAX).min(AT_ONCE);
        // A file may end early, so a small count says nothing about the socket.
        self.poll_io(cx, Interest::WRITABLE, 0, |fd| {
            let mut offset = slice.start;
            Ok(rustix::fs::sendfile(fd, &slice.file, Some(&mut offset), most)?)
        })
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn poll_send_file(&self, _: &mut Context<'_>, _: &FileSlice) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::Unsupported.into()))
    }
}

/// The most bytes of a file that are sent in one call. With less a client has the data sooner, with more a call costs
/// less of each byte.
const AT_ONCE: usize = 1 << 20;

/// The most bytes that are encrypted in one call, which takes about a quarter of a millisecond: as long as the client
/// takes them, TLS encrypts all that it is given.
const AT_ONCE_TLS: usize = 256 << 10;

fn at_once(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(AT_ONCE_TLS)]
}

/// More follows at once, so the kernel does not send a partial packet.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MORE: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::MORE);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const MORE: SendFlags = SendFlags::NOSIGNAL;

impl AsyncRead for Plain {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let room = buffer.remaining();
        self.poll_io(cx, Interest::READABLE, room, |fd| sys::receive(fd, buffer)).map_ok(drop)
    }
}

impl AsyncWrite for Plain {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, bytes, false)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wanted = slices.iter().map(|slice| slice.len()).sum();
        self.poll_io(cx, Interest::WRITABLE, wanted, |fd| Ok(rustix::io::writev(fd, slices)?))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match rustix::net::shutdown(self.fd(), Shutdown::Write) {
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

/// Calls the same method of each variant.
macro_rules! inside {
    ($self:ident, $type:ident { $($variant:ident),+ }, $inner:ident => $call:expr) => {
        match $self.get_mut() { $($type::$variant($inner) => $call),+ }
    };
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_send(cx, bytes, false)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_shutdown(cx))
    }
}

//! What bytes travel through: TCP or a unix socket, plain or encrypted.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use skep::body::FileSlice;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connected socket, encrypted or not.
#[derive(Debug)]
pub(crate) enum Socket {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

impl Socket {
    /// True if the kernel can send files through this socket by itself.
    pub(crate) fn takes_files(&self) -> bool {
        cfg!(any(target_os = "linux", target_os = "android")) && matches!(self, Self::Plain(_))
    }

    /// Writes bytes of which more follow at once.
    pub(crate) fn poll_write_more(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(plain) => plain.poll_io(cx, |plain| plain.send_more(bytes)),
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }

    /// Sends the beginning of a file slice, at most `most` bytes, without copying it. 0: the file ends there.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        slice: &FileSlice,
        most: usize,
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(plain) => plain.poll_io(cx, |plain| plain.send_file(slice, most)),
            Self::Tls(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }
}

impl Plain {
    fn poll_io(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&Self) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(match self {
                Self::Tcp(tcp) => tcp.poll_write_ready(cx),
                Self::Unix(unix) => unix.poll_write_ready(cx),
            })?;
            let result = match self {
                Self::Tcp(tcp) => tcp.try_io(Interest::WRITABLE, || write(self)),
                Self::Unix(unix) => unix.try_io(Interest::WRITABLE, || write(self)),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn send_more(&self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flags = rustix::net::SendFlags::MORE | rustix::net::SendFlags::NOSIGNAL;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flags = rustix::net::SendFlags::empty();
        match self {
            Self::Tcp(tcp) => rustix::net::send(tcp, bytes, flags),
            Self::Unix(unix) => rustix::net::send(unix, bytes, flags),
        }
        .map_err(Into::into)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn send_file(&self, slice: &FileSlice, most: usize) -> io::Result<usize> {
        let most = most.min(usize::try_from(slice.len).unwrap_or(usize::MAX));
        let mut offset = slice.start;
        match self {
            Self::Tcp(tcp) => rustix::fs::sendfile(tcp, &slice.file, Some(&mut offset), most),
            Self::Unix(unix) => rustix::fs::sendfile(unix, &slice.file, Some(&mut offset), most),
        }
        .map_err(Into::into)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn send_file(&self, _: &FileSlice, _: usize) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Calls the same method of whatever is inside.
macro_rules! inside {
    ($self:ident, $type:ident { $($variant:ident),+ }, $inner:ident => $call:expr) => {
        match $self.get_mut() { $($type::$variant($inner) => $call),+ }
    };
}

impl AsyncRead for Plain {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        inside!(self, Plain { Tcp, Unix }, inner => Pin::new(inner).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Plain {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        inside!(self, Plain { Tcp, Unix }, inner => Pin::new(inner).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        inside!(self, Plain { Tcp, Unix }, inner => Pin::new(inner).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, Plain { Tcp, Unix }, inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, Plain { Tcp, Unix }, inner => Pin::new(inner).poll_shutdown(cx))
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, Socket { Plain, Tls }, inner => Pin::new(inner).poll_shutdown(cx))
    }
}

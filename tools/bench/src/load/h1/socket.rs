//! The bytes under a connection: TCP or a unix socket, with or without TLS. Nothing here waits.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use rustls::ClientConnection;

use crate::load::target::Address;
use crate::load::tls::Tls;

/// A connection's socket.
#[derive(Debug)]
pub(super) struct Socket {
    plain: Plain,
    tls: Option<Box<ClientConnection>>,
}

#[derive(Debug)]
enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Begins to connect. Writable, once it [has](Socket::connected).
    pub(super) fn open(address: &Address, tls: Option<&Tls>) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let plain = match address {
            Address::Tcp(address) => {
                let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
                let socket = socket_with(family, SocketType::STREAM, flags, None)?;
                begun(connect(&socket, address))?;
                let stream = TcpStream::from(socket);
                stream.set_nodelay(true)?;
                Plain::Tcp(stream)
            }
            Address::Unix(path) => {
                let socket: OwnedFd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
                connect(&socket, &SocketAddrUnix::new(path)?)?;
                Plain::Unix(UnixStream::from(socket))
            }
        };
        let tls = tls.map(|tls| ClientConnection::new(Arc::clone(&tls.config), tls.name.clone())).transpose();
        Ok(Self { plain, tls: tls.map_err(io::Error::other)?.map(Box::new) })
    }

    /// Whether connecting has succeeded, once the socket is writable.
    pub(super) fn connected(&self) -> io::Result<()> {
        Ok(sockopt::socket_error(self.as_fd())??)
    }

    pub(super) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether TLS has not begun yet to carry what we say.
    pub(super) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Whether something waits to be written besides what the caller has.
    pub(super) fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    #[inline]
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.plain.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Many servers end a connection without telling TLS so; where an answer ends, its head says.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
            if tls.read_tls(&mut self.plain)? == 0 {
                if tls.is_handshaking() {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server ended the handshake"));
                }
                return Ok(0);
            }
            let processed = tls.process_new_packets();
            if tls.wants_write() {
                // An alert, or our part of the handshake; what does not fit now goes out when the socket is writable.
                let _ = tls.write_tls(&mut self.plain);
            }
            processed.map_err(io::Error::other)?;
        }
    }

    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.plain.write(bytes) };
        while tls.wants_write() {
            tls.write_tls(&mut self.plain)?;
        }
        if tls.is_handshaking() || bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = tls.writer().write(bytes)?;
        while tls.wants_write() {
            match tls.write_tls(&mut self.plain) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                other => other?,
            };
        }
        Ok(taken)
    }

    /// Closes without `TIME_WAIT`, in which a port of ours would stay for a minute: after 28 000 of them no port is
    /// left.
    pub(super) fn drop_at_once(mut self) {
        let is_ended = matches!(self.read(&mut [0; 1]), Ok(0));
        if !is_ended && matches!(self.plain, Plain::Tcp(_)) {
            let _ = sockopt::set_socket_linger(self.as_fd(), Some(Duration::ZERO));
        }
    }
}

/// A connection over TCP needs a while.
fn begun(connected: rustix::io::Result<()>) -> io::Result<()> {
    match connected {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.plain {
            Plain::Tcp(stream) => stream.as_fd(),
            Plain::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Plain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

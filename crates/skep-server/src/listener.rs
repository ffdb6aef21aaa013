//! Listening sockets: TCP, unix, and inherited ones.
//!
//! Each worker thread has its own socket on a TCP address (`SO_REUSEPORT`), so that the kernel distributes connections and threads do not wait for
//! each other. Unix and inherited sockets are shared.
//!
//! Start reading at [`Listeners::bind`].

mod inherited;
mod tcp;
mod unix;

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::config::Address;
pub(crate) use inherited::take;
pub(crate) use tcp::another;
pub(crate) use unix::bind as bind_unix;

/// A listening socket of one worker thread.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

/// An address that the server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BoundAddress {
    Tcp(std::net::SocketAddr),
    Unix(PathBuf),
}

/// All listening sockets of a server.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// The sockets of each worker thread.
    workers: Vec<Vec<Listener>>,
    reached: Vec<BoundAddress>,
    /// Socket files, removed at exit.
    files: Vec<unix::SocketFile>,
}

/// Why a server cannot listen.
#[derive(Debug)]
pub(crate) struct ListenError(String);

impl Listeners {
    /// Binds all addresses for this many worker threads, and accepts nothing yet: a wrong address fails here.
    ///
    /// `defaulted`: the setting `listen` has its default, so sockets of systemd replace it.
    pub(crate) fn bind(
        addresses: &[Address],
        defaulted: bool,
        workers: usize,
        backlog: i32,
    ) -> Result<Self, ListenError> {
        let mut listeners =
            Self { workers: (0..workers).map(|_| Vec::new()).collect(), reached: Vec::new(), files: Vec::new() };
        let given = inherited::of_systemd();
        if defaulted && !given.is_empty() {
            for fd in given {
                listeners.inherit(fd)?;
            }
            return Ok(listeners);
        }
        for address in addresses {
            match address {
                Address::Tcp { said, addresses } => listeners.bind_tcp(said, addresses, backlog)?,
                Address::Unix(path) => listeners.bind_unix(path, backlog)?,
                Address::Inherited(fd) => listeners.inherit(*fd)?,
            }
        }
        Ok(listeners)
    }

    fn bind_tcp(&mut self, said: &str, addresses: &[std::net::SocketAddr], backlog: i32) -> Result<(), ListenError> {
        let twice = |address: &&std::net::SocketAddr| {
            address.port() != 0 && self.reached.contains(&BoundAddress::Tcp(**address))
        };
        if let Some(address) = addresses.iter().find(twice) {
            return Err(ListenError(format!("cannot listen on {said}: `listen` names {address} twice")));
        }
        let (sockets, reached) = tcp::bind(said, addresses, self.workers.len(), backlog)?;
        for (worker, sockets) in self.workers.iter_mut().zip(sockets) {
            worker.extend(sockets.into_iter().map(Listener::Tcp));
        }
        self.reached.extend(reached.into_iter().map(BoundAddress::Tcp));
        Ok(())
    }

    fn bind_unix(&mut self, path: &std::path::Path, backlog: i32) -> Result<(), ListenError> {
        let (socket, file) = unix::listen(path, backlog)?;
        self.files.push(file);
        self.share(&Listener::Unix(socket), BoundAddress::Unix(path.to_owned()))
    }

    fn inherit(&mut self, fd: i32) -> Result<(), ListenError> {
        let (socket, reached) = inherited::take(fd)?;
        self.share(&socket, reached)
    }

    fn share(&mut self, socket: &Listener, reached: BoundAddress) -> Result<(), ListenError> {
        for worker in &mut self.workers {
            worker.push(socket.try_clone().map_err(|error| ListenError(format!("{reached}: {error}")))?);
        }
        self.reached.push(reached);
        Ok(())
    }

    /// The addresses that the server listens on.
    pub(crate) fn reached(&self) -> &[BoundAddress] {
        &self.reached
    }

    /// The sockets of each worker thread, and the socket files, which are removed when they are dropped.
    pub(crate) fn split(self) -> (Vec<Vec<Listener>>, Vec<unix::SocketFile>) {
        (self.workers, self.files)
    }
}

pub(crate) use unix::SocketFile;

impl From<Listener> for std::os::fd::OwnedFd {
    fn from(listener: Listener) -> Self {
        match listener {
            Listener::Tcp(socket) => socket.into(),
            Listener::Unix(socket) => socket.into(),
        }
    }
}

impl std::os::fd::AsFd for Listener {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Unix(socket) => socket.as_fd(),
        }
    }
}

impl Listener {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(socket) => Self::Tcp(socket.try_clone()?),
            Self::Unix(socket) => Self::Unix(socket.try_clone()?),
        })
    }
}

impl BoundAddress {
    /// The address as a URL, where it can be one.
    pub(crate) fn url(&self, tls: bool) -> String {
        match self {
            Self::Tcp(address) => {
                let scheme = if tls { "https" } else { "http" };
                // A browser cannot open an unspecified address.
                if address.ip().is_unspecified() {
                    return format!("{scheme}://localhost:{} (on every address)", address.port());
                }
                format!("{scheme}://{address}")
            }
            Self::Unix(path) => format!("unix:{}", path.display()),
        }
    }
}

impl fmt::Display for BoundAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ListenError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_named_twice_is_not_taken_for_a_stranger() {
        let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let address = || Address::Tcp { said: held.to_string(), addresses: vec![held] };
        let error = Listeners::bind(&[address(), address()], false, 1, 16).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot listen on {held}: `listen` names {held} twice"));
    }
}

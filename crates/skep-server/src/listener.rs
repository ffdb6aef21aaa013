//! Sockets that connections come from: TCP, unix, and those that this process was started with.
//!
//! Each worker thread has a listening socket of its own on a TCP address (`SO_REUSEPORT`), so that the kernel spreads
//! connections and no thread waits for another. A unix socket, or an inherited one, is shared.
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

/// A listening socket, for one worker.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

/// Where the server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Tcp(std::net::SocketAddr),
    Unix(PathBuf),
}

/// All listening sockets of a server.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// For each worker, its sockets.
    workers: Vec<Vec<Listener>>,
    reached: Vec<Reached>,
    /// Files that are ours to remove.
    files: Vec<unix::SocketFile>,
}

/// Why a server cannot listen; the text is for whoever starts it.
#[derive(Debug)]
pub(crate) struct ListenError(String);

impl Listeners {
    /// Takes all addresses, for so many workers, and accepts nothing yet: a wrong address fails here.
    ///
    /// `defaulted` says that nobody chose the addresses, so that sockets of systemd take their place.
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
        let twice =
            |address: &&std::net::SocketAddr| address.port() != 0 && self.reached.contains(&Reached::Tcp(**address));
        if let Some(address) = addresses.iter().find(twice) {
            return Err(ListenError(format!("cannot listen on {said}: `listen` names {address} twice")));
        }
        let (sockets, reached) = tcp::bind(said, addresses, self.workers.len(), backlog)?;
        for (worker, sockets) in self.workers.iter_mut().zip(sockets) {
            worker.extend(sockets.into_iter().map(Listener::Tcp));
        }
        self.reached.extend(reached.into_iter().map(Reached::Tcp));
        Ok(())
    }

    fn bind_unix(&mut self, path: &std::path::Path, backlog: i32) -> Result<(), ListenError> {
        let (socket, file) = unix::listen(path, backlog)?;
        self.files.push(file);
        self.share(&Listener::Unix(socket), Reached::Unix(path.to_owned()))
    }

    fn inherit(&mut self, fd: i32) -> Result<(), ListenError> {
        let (socket, reached) = inherited::take(fd)?;
        self.share(&socket, reached)
    }

    fn share(&mut self, socket: &Listener, reached: Reached) -> Result<(), ListenError> {
        for worker in &mut self.workers {
            worker.push(socket.try_clone().map_err(|error| ListenError(format!("{reached}: {error}")))?);
        }
        self.reached.push(reached);
        Ok(())
    }

    /// Where the server can be reached.
    pub(crate) fn reached(&self) -> &[Reached] {
        &self.reached
    }

    /// Hands each worker its sockets. What is given back removes socket files when it is dropped.
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

impl Reached {
    /// The address as a link, where it can be one.
    pub(crate) fn url(&self, tls: bool) -> String {
        match self {
            Self::Tcp(address) => {
                let scheme = if tls { "https" } else { "http" };
                // A browser cannot open "every address".
                if address.ip().is_unspecified() {
                    return format!("{scheme}://localhost:{} (on every address)", address.port());
                }
                format!("{scheme}://{address}")
            }
            Self::Unix(path) => format!("unix:{}", path.display()),
        }
    }
}

impl fmt::Display for Reached {
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

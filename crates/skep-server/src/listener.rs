//! Listening sockets: TCP, unix, and inherited ones.
//!
//! Each worker thread has its own socket on a TCP address (`SO_REUSEPORT`), so that the kernel distributes connections
//! and threads do not wait for each other. Unix and inherited sockets are shared.
//!
//! Start reading at [`Listeners::bind`].

mod address;
mod inherited;
mod status_page;
mod tcp;
mod unix;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::SocketFlags;

use crate::error::StartError;
pub(crate) use address::{Address, UnixAddress};
pub(crate) use inherited::take;
pub(crate) use status_page::StatusPage;
pub(crate) use tcp::another;
pub(crate) use unix::{SocketFile, bind as bind_unix};

/// A listening socket of one worker thread. It does not block.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: OwnedFd,
    /// Or else a unix socket.
    pub(crate) is_tcp: bool,
}

/// A connection that is not yet registered with a runtime. It does not block.
#[derive(Debug)]
pub(crate) struct AcceptedSocket {
    pub(crate) socket: OwnedFd,
    /// The address of the client, if it is TCP.
    pub(crate) address: Option<SocketAddr>,
}

/// An address that the server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BoundAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// All listening sockets of a server.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    /// The sockets of each worker thread.
    pub(crate) workers: Vec<Vec<Listener>>,
    /// The addresses that the server listens on.
    pub(crate) reached: Vec<BoundAddress>,
    /// Socket files, removed when they are dropped.
    pub(crate) files: Vec<SocketFile>,
}

impl Listeners {
    /// Binds all addresses for this many worker threads, and accepts nothing yet: a wrong address fails here.
    ///
    /// `defaulted`: the setting `listen` has its default, so sockets of systemd replace it.
    pub(crate) fn bind(
        addresses: &[Address],
        defaulted: bool,
        workers: usize,
        backlog: i32,
    ) -> Result<Self, StartError> {
        let mut listeners = Self { workers: (0..workers).map(|_| Vec::new()).collect(), ..Self::default() };
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
                Address::Unix(address) => listeners.bind_unix(address, backlog)?,
                Address::Inherited(fd) => listeners.inherit(*fd)?,
            }
        }
        Ok(listeners)
    }

    /// What would keep the server from listening: for `--check`. Nothing is bound for longer than it takes to see.
    /// `is_own` says whether what is in use may be so by this very server, which is no problem.
    pub(crate) fn check(addresses: &[Address], is_own: impl Fn() -> bool) -> Vec<String> {
        let problem = |address: &Address| match address {
            Address::Tcp { said, addresses } => tcp::check(said, addresses, &is_own),
            Address::Unix(address) => unix::check(address, &is_own),
            // It comes with the process that serves.
            Address::Inherited(_) => Ok(()),
        };
        addresses.iter().filter_map(|address| problem(address).err()).map(|error| error.to_string()).collect()
    }

    fn bind_tcp(&mut self, said: &str, addresses: &[SocketAddr], backlog: i32) -> Result<(), StartError> {
        let twice = |address: &&SocketAddr| address.port() != 0 && self.reached.contains(&BoundAddress::Tcp(**address));
        if let Some(address) = addresses.iter().find(twice) {
            return Err(StartError::new(format!("cannot listen on {said}: `listen` names {address} twice")));
        }
        let (sockets, reached) = tcp::bind(said, addresses, self.workers.len(), backlog)?;
        for (worker, sockets) in self.workers.iter_mut().zip(sockets) {
            worker.extend(sockets.into_iter().map(|socket| Listener { socket: socket.into(), is_tcp: true }));
        }
        self.reached.extend(reached.into_iter().map(BoundAddress::Tcp));
        Ok(())
    }

    fn bind_unix(&mut self, address: &UnixAddress, backlog: i32) -> Result<(), StartError> {
        let (socket, file) = unix::listen(address, backlog)?;
        self.files.push(file);
        let listener = Listener { socket: socket.into(), is_tcp: false };
        self.share(&listener, BoundAddress::Unix(address.path.clone()))
    }

    fn inherit(&mut self, fd: i32) -> Result<(), StartError> {
        let (socket, reached) = inherited::take(fd)?;
        self.share(&socket, reached)
    }

    fn share(&mut self, listener: &Listener, reached: BoundAddress) -> Result<(), StartError> {
        for worker in &mut self.workers {
            let socket = listener.socket.try_clone().map_err(|error| StartError::new(format!("{reached}: {error}")))?;
            worker.push(Listener { socket, is_tcp: listener.is_tcp });
        }
        self.reached.push(reached);
        Ok(())
    }
}

/// Accepts a connection that waits in the queue of a [`Listener`].
pub(crate) fn accept(socket: impl AsFd, is_tcp: bool) -> io::Result<AcceptedSocket> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    if !is_tcp {
        return Ok(AcceptedSocket { socket: rustix::net::accept_with(socket, flags)?, address: None });
    }
    let (socket, address) = rustix::net::acceptfrom_with(socket, flags)?;
    let address = address.and_then(|address| address.try_into().ok()).ok_or(io::ErrorKind::NotConnected)?;
    Ok(AcceptedSocket { socket, address: Some(address) })
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

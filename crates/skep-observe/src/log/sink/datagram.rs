//! Lines as datagrams: to syslog and journald.

use std::io;
use std::net::{Ipv6Addr, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::Mutex;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::{Progress, Stopped};

/// Where datagrams go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::log) enum Address {
    Unix(PathBuf),
    /// A host and a port.
    Udp(String),
}

/// A socket that is opened when it is needed, and again when its other end is another one.
#[derive(Debug)]
pub(in crate::log) struct Socket {
    address: Address,
    open: Mutex<Option<OwnedFd>>,
}

impl Socket {
    pub(in crate::log) fn new(address: Address) -> Self {
        Self { address, open: Mutex::default() }
    }

    /// Sends each line without its end. One that is too long for a datagram is left out.
    pub(super) fn send(&self, lines: &[u8], end: u8, progress: Progress<'_>) -> Result<(), Stopped> {
        let mut open = skep_units::lock(&self.open);
        let mut written = 0;
        for line in lines.split_inclusive(|byte| *byte == end) {
            let text = line.strip_suffix(&[end]).unwrap_or(line);
            if let Err(error) = self.send_line(&mut open, text) {
                return Err(Stopped { written, error });
            }
            written += line.len();
            progress.wrote(written);
        }
        Ok(())
    }

    fn send_line(&self, open: &mut Option<OwnedFd>, line: &[u8]) -> io::Result<()> {
        // Once more on a new socket: syslog may have been restarted.
        let mut result = Ok(());
        for _ in 0..2 {
            if open.is_none() {
                *open = Some(connect(&self.address)?);
            }
            let Some(socket) = open.as_ref() else { continue };
            result = match send(socket.as_fd(), line, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(_) | Err(Errno::MSGSIZE) => return Ok(()),
                Err(Errno::AGAIN | Errno::NOBUFS) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(error) => Err(error.into()),
            };
            *open = None;
        }
        result
    }
}

fn connect(address: &Address) -> io::Result<OwnedFd> {
    match address {
        Address::Unix(path) => {
            let socket = UnixDatagram::unbound()?;
            socket.connect(path)?;
            Ok(socket.into())
        }
        Address::Udp(host) => {
            let address = host.to_socket_addrs()?.next().ok_or_else(|| io::Error::other("the host has no address"))?;
            let any = if address.is_ipv6() { (Ipv6Addr::UNSPECIFIED, 0).into() } else { ([0, 0, 0, 0], 0).into() };
            let any: std::net::SocketAddr = any;
            let socket = UdpSocket::bind(any)?;
            socket.connect(address)?;
            Ok(socket.into())
        }
    }
}

//! Sockets inherited from systemd or another parent.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;

use rustix::net::{AddressFamily, sockopt};

use super::{BoundAddress, Listener};
use crate::error::StartError;
use crate::sys;

/// systemd's first file descriptor (`sd_listen_fds(3)`).
const FIRST: i32 = 3;

/// The file descriptors that systemd passed to this process.
pub(super) fn of_systemd() -> Vec<i32> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let ours = number("LISTEN_PID") == Some(std::process::id());
    let count = number("LISTEN_FDS").filter(|_| ours).and_then(|count| i32::try_from(count).ok()).unwrap_or(0);
    (FIRST..FIRST.saturating_add(count)).collect()
}

/// Takes over a listening socket.
pub(crate) fn take(fd: i32) -> Result<(Listener, BoundAddress), StartError> {
    let error = |text: &dyn std::fmt::Display| StartError::new(format!("cannot listen on fd:{fd}: {text}"));
    let socket = sys::take_inherited(fd).map_err(|cause| error(&cause))?;
    if !sockopt::socket_acceptconn(&socket).map_err(|cause| error(&cause))? {
        return Err(error(&"it is a socket, but not one that listens"));
    }
    listener(socket).map_err(|cause| error(&cause))
}

fn listener(socket: OwnedFd) -> std::io::Result<(Listener, BoundAddress)> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    if sockopt::socket_domain(&socket)? == AddressFamily::UNIX {
        let socket = UnixListener::from(socket);
        let path = socket.local_addr()?.as_pathname().map(Into::into).unwrap_or_default();
        return Ok((Listener { socket: socket.into(), is_tcp: false }, BoundAddress::Unix(path)));
    }
    let socket = TcpListener::from(socket);
    let address = BoundAddress::Tcp(socket.local_addr()?);
    Ok((Listener { socket: socket.into(), is_tcp: true }, address))
}

//! TCP sockets, and which process occupies a port.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::net::addr::SocketAddrArg;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::error::StartError;

/// The sockets of each worker thread, and their addresses.
type Bound = (Vec<Vec<TcpListener>>, Vec<SocketAddr>);

/// Binds a socket for each worker thread on each address. Of several addresses of a name, one must succeed.
pub(super) fn bind(said: &str, addresses: &[SocketAddr], workers: usize, backlog: i32) -> Result<Bound, StartError> {
    let mut sockets: Vec<Vec<TcpListener>> = (0..workers).map(|_| Vec::new()).collect();
    let mut reached: Vec<SocketAddr> = Vec::new();
    let mut failure = None;
    for address in addresses {
        let mut address = *address;
        if let (0, Some(first)) = (address.port(), reached.first()) {
            address.set_port(first.port());
        }
        match bind_all(address, workers, backlog) {
            Ok((bound, at)) => {
                sockets.iter_mut().zip(bound).for_each(|(worker, socket)| worker.push(socket));
                reached.push(at);
            }
            Err(error) if is_missing(&error) => failure = Some(explain(said, address, &error)),
            Err(error) => return Err(explain(said, address, &error)),
        }
    }
    match failure {
        Some(failure) if reached.is_empty() => Err(failure),
        _ => Ok((sockets, reached)),
    }
}

/// What [`bind`] would refuse.
pub(super) fn check(said: &str, addresses: &[SocketAddr], is_own: impl Fn() -> bool) -> Result<(), StartError> {
    let mut outcome = None;
    for address in addresses {
        match usable(*address) {
            Ok(_) => outcome = Some(Ok(())),
            Err(error) if is_missing(&error) => {
                outcome = outcome.or_else(|| Some(Err(explain(said, *address, &error))));
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_own() => outcome = Some(Ok(())),
            Err(error) => return Err(explain(said, *address, &error)),
        }
    }
    outcome.unwrap_or(Ok(()))
}

/// True if this machine does not have the address, or not its family.
fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

fn bind_all(address: SocketAddr, workers: usize, backlog: i32) -> io::Result<(Vec<TcpListener>, SocketAddr)> {
    let mut address = usable(address)?;
    let mut sockets = Vec::with_capacity(workers);
    for _ in 0..workers {
        let socket = TcpListener::from(listen(family(address), &address, backlog)?);
        address.set_port(socket.local_addr()?.port());
        sockets.push(socket);
    }
    Ok((sockets, address))
}

/// The address, if it can be bound.
fn usable(address: SocketAddr) -> io::Result<SocketAddr> {
    match probe(address) {
        // A machine without IPv6: bind the unspecified IPv4 address instead.
        Err(error) if address.ip().is_unspecified() && address.is_ipv6() && is_missing(&error) => {
            let every = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
            probe(every).map(|()| every)
        }
        result => result.map(|()| address),
    }
}

/// Another listening socket on the same address: with a queue of its own if the first one has `SO_REUSEPORT`, otherwise
/// a duplicate.
pub(crate) fn another(socket: &OwnedFd, backlog: i32) -> io::Result<OwnedFd> {
    let domain = sockopt::socket_domain(socket)?;
    if domain == AddressFamily::UNIX || !sockopt::socket_reuseport(socket)? {
        return socket.try_clone();
    }
    listen(domain, &rustix::net::getsockname(socket)?, backlog)
}

fn listen(family: AddressFamily, address: &impl SocketAddrArg, backlog: i32) -> io::Result<OwnedFd> {
    let socket = open(family)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    rustix::net::bind(&socket, address)?;
    rustix::net::listen(&socket, backlog)?;
    Ok(socket)
}

/// With `SO_REUSEPORT` alone, a second server of the same user would silently get half of the connections of the first
/// one.
fn probe(address: SocketAddr) -> io::Result<()> {
    rustix::net::bind(open(family(address))?, &address).map_err(Into::into)
}

fn family(address: SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

fn open(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    // A port with connections in TIME_WAIT is free.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    Ok(socket)
}

fn explain(said: &str, address: SocketAddr, error: &io::Error) -> StartError {
    let port = address.port();
    let text = match error.kind() {
        io::ErrorKind::AddrInUse => match holder(port) {
            Some(holder) => format!("port {port} is in use by {holder}; stop it, or choose another port with --listen"),
            None => format!(
                "port {port} is in use; `ss -ltnp 'sport = :{port}'` as root shows by whom; or choose another port with --listen"
            ),
        },
        io::ErrorKind::PermissionDenied if port < 1024 => format!(
            "port {port} is privileged: use one from 1024 up, or a socket of systemd, or allow it with \
             `setcap cap_net_bind_service=+ep` on the executable"
        ),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        _ => error.to_string(),
    };
    let place = if address.to_string() == said { said.to_owned() } else { format!("{said} ({address})") };
    StartError::new(format!("cannot listen on {place}: {text}"))
}

/// The process that listens on a port, if it is visible.
fn holder(port: u16) -> Option<String> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| {
            let inodes = table.lines().filter_map(|line| listening_inode(line, port));
            inodes.map(|inode| format!("socket:[{inode}]")).collect::<Vec<_>>()
        })
        .collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    for process in processes {
        let name = process.file_name();
        let Some(pid) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else { continue };
        let Ok(files) = fs::read_dir(process.path().join("fd")) else { continue };
        let mut targets = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
        if targets.any(|target| inodes.iter().any(|inode| target.as_os_str() == inode.as_str())) {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(format!("{} (process {pid})", name.trim()));
        }
    }
    None
}

/// The inode in a line of `/proc/net/tcp`, if its socket listens (state 0A) on this port.
fn listening_inode(line: &str, port: u16) -> Option<&str> {
    let mut words = line.split_whitespace();
    let local = words.nth(1)?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?;
    let (_, local_port) = local.rsplit_once(':')?;
    (state == "0A" && u16::from_str_radix(local_port, 16) == Ok(port)).then_some(inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_a_port_and_servers_do_not() {
        let (sockets, reached) = bind("x", &["127.0.0.1:0".parse().unwrap()], 3, 16).unwrap();
        assert_eq!(sockets.len(), 3);
        for socket in sockets.iter().flatten() {
            assert_eq!(socket.local_addr().unwrap(), reached[0]);
        }
        assert_ne!(reached[0].port(), 0);
        assert!(bind("x", &reached, 1, 16).is_err());
    }
}

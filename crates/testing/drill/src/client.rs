//! A client with an address of its own, that keeps a connection and its cookies.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};
use skep_client::Response;
use socket2::SockRef;

/// How long connecting, reading and writing may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection from this address of this machine, so that limits for one address meet only those who are meant.
pub(crate) fn connect_from(from: Ipv4Addr, to: SocketAddrV4) -> io::Result<TcpStream> {
    connect_socket(socket()?, from, to)
}

/// The same with buffers of a few KB, so that a response which is not read stays with the server: the system would take
/// 100 KB otherwise.
pub(crate) fn connect_narrow(from: Ipv4Addr, to: SocketAddrV4) -> io::Result<TcpStream> {
    let socket = socket()?;
    set_socket_recv_buffer_size(&socket, 4096)?;
    // The server's system sizes its buffer by the length of segments, which is 64 KB on loopback.
    SockRef::from(&socket).set_tcp_mss(536)?;
    connect_socket(socket, from, to)
}

fn socket() -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    for side in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(&socket, side, Some(PATIENCE))?;
    }
    Ok(socket)
}

fn connect_socket(socket: OwnedFd, from: Ipv4Addr, to: SocketAddrV4) -> io::Result<TcpStream> {
    bind(&socket, &SocketAddrV4::new(from, 0))?;
    connect(&socket, &to)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// True if the server has closed the connection. What it has sent is read and forgotten. The stream does not block
/// afterwards.
pub(crate) fn is_closed(mut stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

/// Sends one request after the other, as a browser does that follows no redirect.
#[derive(Debug)]
pub(crate) struct Browser {
    from: Ipv4Addr,
    to: SocketAddrV4,
    stream: Option<TcpStream>,
    /// Names and values.
    cookies: Vec<(String, String)>,
}

impl Browser {
    pub(crate) fn new(from: Ipv4Addr, to: SocketAddrV4) -> Self {
        Self { from, to, stream: None, cookies: Vec::new() }
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Response> {
        self.send(&format!("GET {path}"), "same-origin", "")
    }

    /// Sends a form of this site.
    pub(crate) fn post(&mut self, path: &str, form: &str) -> io::Result<Response> {
        self.send(&format!("POST {path}"), "same-origin", form)
    }

    /// Sends a form of another site.
    pub(crate) fn post_from_elsewhere(&mut self, path: &str, form: &str) -> io::Result<Response> {
        self.send(&format!("POST {path}"), "cross-site", form)
    }

    pub(crate) fn has_cookies(&self) -> bool {
        !self.cookies.is_empty()
    }

    /// Is somebody else from now on.
    pub(crate) fn forget_cookies(&mut self) {
        self.cookies.clear();
    }

    fn send(&mut self, line: &str, site: &str, form: &str) -> io::Result<Response> {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = if cookies.is_empty() { String::new() } else { format!("cookie: {}\r\n", cookies.join("; ")) };
        let body = match form.len() {
            0 => String::new(),
            length => format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n"),
        };
        let request =
            format!("{line} HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: {site}\r\n{cookies}{body}\r\n{form}");
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect_from(self.from, self.to)?,
        };
        let response = skep_client::exchange(&mut stream, request.as_bytes(), false, PATIENCE)?;
        self.stream = response.keeps.then_some(stream);
        for (_, cookie) in response.fields.iter().filter(|(name, _)| name == "set-cookie") {
            let pair = cookie.split(';').next().and_then(|pair| pair.split_once('='));
            let Some((name, value)) = pair else { continue };
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
        Ok(response)
    }
}

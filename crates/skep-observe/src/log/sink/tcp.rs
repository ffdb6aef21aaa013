//! Lines to a syslog server over TCP, each after its length (RFC 6587, 3.4.1: octet counting).
//!
//! Nothing waits for the server, not even to be connected to it. A line is whole for the server: of one that a
//! connection took half of, the rest is sent next, or all of it on the next connection. TCP does not tell which lines a
//! server that dies had not read yet.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with};

use super::stream::await_room;
use super::{Progress, Stopped};

/// A connection that is opened when it is needed, and again when it is closed.
#[derive(Debug)]
pub(in crate::log) struct Connection {
    /// A host and a port.
    host: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    socket: Option<OwnedFd>,
    /// A line that is being sent, with its length, and how much of it was.
    frame: Vec<u8>,
    sent: usize,
    /// Whose all this is: a forked process must not write into the middle of its parent's line.
    process: u32,
}

impl Connection {
    pub(in crate::log) fn new(host: String) -> Self {
        Self { host, state: Mutex::default() }
    }

    /// Sends each line without its end. One that was begun counts as written: its rest is sent by the next call, also
    /// by one without lines.
    pub(super) fn send(
        &self,
        lines: &[u8],
        end: u8,
        patience: Duration,
        progress: Progress<'_>,
    ) -> Result<(), Stopped> {
        let mut state = skep_units::lock(&self.state);
        let process = std::process::id();
        if state.process != process {
            *state = State { process, ..State::default() };
        }
        let deadline = Instant::now() + patience;
        state.send_frame(&self.host, deadline).map_err(|error| Stopped { written: 0, error })?;
        let mut written = 0;
        for line in lines.split_inclusive(|byte| *byte == end) {
            let text = line.strip_suffix(&[end]).unwrap_or(line);
            state.frame.extend_from_slice(format!("{} ", text.len()).as_bytes());
            state.frame.extend_from_slice(text);
            let result = state.send_frame(&self.host, deadline);
            if result.is_err() && state.sent == 0 {
                state.frame.clear();
            } else {
                written += line.len();
            }
            result.map_err(|error| Stopped { written, error })?;
            progress.wrote(written);
        }
        Ok(())
    }
}

impl State {
    /// Sends what is left of the line.
    fn send_frame(&mut self, host: &str, deadline: Instant) -> io::Result<()> {
        // Once more on a new connection: the server may have been restarted.
        let mut result = Ok(());
        for _ in 0..2 {
            result = self.try_send(host, deadline);
            match &result {
                Ok(()) => {
                    self.frame.clear();
                    self.sent = 0;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.socket = None;
                    self.sent = 0;
                }
            }
        }
        result
    }

    fn try_send(&mut self, host: &str, deadline: Instant) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        if self.socket.as_ref().is_some_and(is_closed) {
            self.socket = None;
            self.sent = 0;
        }
        if self.socket.is_none() {
            self.socket = Some(open(host)?);
        }
        let Some(socket) = &self.socket else { return Ok(()) };
        while self.sent < self.frame.len() {
            await_room(socket.as_fd(), deadline)?;
            match send(socket, &self.frame[self.sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// True if the server has closed the connection: the first line after that would be lost. A server sends nothing back.
fn is_closed(socket: &OwnedFd) -> bool {
    matches!(recv(socket, &mut [0; 64], RecvFlags::DONTWAIT), Ok((0, _)))
}

/// Begins to connect. What becomes of it shows when something is sent.
fn open(host: &str) -> io::Result<OwnedFd> {
    let address: SocketAddr =
        host.to_socket_addrs()?.next().ok_or_else(|| io::Error::other("the host has no address"))?;
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/log/sink/tcp.rs"]
mod tests;

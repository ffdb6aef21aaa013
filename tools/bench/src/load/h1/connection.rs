//! One HTTP/1.1 connection: what it has sent, what it waits for, what it still has to write.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};
use skep_client::parser::Parser;

use super::EventLoop;
use super::socket::Socket;
use crate::load::ErrorKind;

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    /// What its latency counts from.
    pub(super) since: Instant,
    /// What its timeout counts from.
    pub(super) at: Instant,
    /// Its place in the plan.
    pub(super) which: usize,
}

/// Why a connection is of no use any more.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) text: String,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

#[derive(Debug)]
pub(super) struct Connection {
    key: u64,
    socket: Option<Socket>,
    is_connected: bool,
    parser: Parser,
    sent: VecDeque<Sent>,
    out: Vec<u8>,
    written: usize,
    interest: EventFlags,
}

impl Connection {
    pub(super) fn new(key: u64) -> Self {
        Self {
            key,
            socket: None,
            is_connected: false,
            parser: Parser::default(),
            sent: VecDeque::new(),
            out: Vec::new(),
            written: 0,
            interest: EventFlags::empty(),
        }
    }

    /// The oldest request under way.
    pub(super) fn oldest(&self) -> Option<&Sent> {
        self.sent.front()
    }

    pub(super) fn under_way(&self) -> usize {
        self.sent.len()
    }

    /// Whether it has a connection, or is about to have one.
    pub(super) fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    /// Notes a request; [`Connection::flush`] sends it.
    pub(super) fn push(&mut self, sent: Sent, shared: &EventLoop<'_>) {
        self.out.extend_from_slice(&shared.requests[sent.which]);
        self.sent.push_back(sent);
    }

    /// Opens the socket if it is not open, and writes what waits.
    pub(super) fn flush(&mut self, shared: &EventLoop<'_>) -> Result<(), Failure> {
        if self.socket.is_none() {
            return self.open(shared);
        }
        if self.is_connected { self.write(shared) } else { Ok(()) }
    }

    fn open(&mut self, shared: &EventLoop<'_>) -> Result<(), Failure> {
        let refused = |error: io::Error| Failure::new(ErrorKind::Connect, format!("{}: {error}", shared.address));
        let socket = Socket::open(&shared.address, shared.tls.as_ref()).map_err(refused)?;
        self.interest = EventFlags::IN | EventFlags::OUT;
        epoll::add(&shared.epoll, &socket, EventData::new_u64(self.key), self.interest)
            .map_err(|error| refused(error.into()))?;
        self.is_connected = false;
        self.parser = Parser::default();
        self.socket = Some(socket);
        Ok(())
    }

    /// The socket is ready for something.
    pub(super) fn ready(&mut self, flags: EventFlags, shared: &mut EventLoop<'_>) -> Result<(), Failure> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if !self.is_connected {
            socket
                .connected()
                .map_err(|error| Failure::new(ErrorKind::Connect, format!("{}: {error}", shared.address)))?;
            if !flags.contains(EventFlags::OUT) {
                return Ok(());
            }
            self.is_connected = true;
            return self.write(shared);
        }
        if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            self.read(shared)?;
        }
        if flags.contains(EventFlags::OUT) || self.is_waiting_for_tls() { self.write(shared) } else { Ok(()) }
    }

    fn is_waiting_for_tls(&self) -> bool {
        self.written < self.out.len() && self.socket.as_ref().is_some_and(Socket::is_tls)
    }

    fn write(&mut self, shared: &EventLoop<'_>) -> Result<(), Failure> {
        let Some(socket) = &mut self.socket else { return Ok(()) };
        while self.written < self.out.len() || socket.wants_write() {
            match socket.write(&self.out[self.written..]) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
        let socket = self.socket.as_ref().expect("it was there above");
        // A handshake waits for the server; what we have to say is no reason to be woken.
        let blocked = self.written < self.out.len() && !socket.is_handshaking();
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        let interest = if blocked || socket.wants_write() { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        if interest != self.interest {
            self.interest = interest;
            epoll::modify(&shared.epoll, socket, EventData::new_u64(self.key), interest)
                .map_err(|error| Failure::new(ErrorKind::Connect, error.to_string()))?;
        }
        Ok(())
    }

    /// Reads what is there. Answers go to `shared`; the socket is gone afterwards if it cannot be used again.
    fn read(&mut self, shared: &mut EventLoop<'_>) -> Result<(), Failure> {
        let mut buffer = std::mem::take(&mut shared.buffer);
        let outcome = self.read_into(&mut buffer, shared);
        shared.buffer = buffer;
        outcome
    }

    fn read_into(&mut self, buffer: &mut [u8], shared: &mut EventLoop<'_>) -> Result<(), Failure> {
        while let Some(socket) = &mut self.socket {
            match socket.read(buffer) {
                Ok(0) => return self.ended(shared),
                Ok(length) => {
                    self.take(&buffer[..length], shared)?;
                    let is_tls = self.socket.as_ref().is_some_and(Socket::is_tls);
                    // A short read has emptied the socket (epoll(7)); TLS may hold more than it has shown.
                    if length < buffer.len() && !is_tls {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(())
    }

    fn take(&mut self, mut bytes: &[u8], shared: &mut EventLoop<'_>) -> Result<(), Failure> {
        let now = Instant::now();
        while !bytes.is_empty() {
            let Some(first) = self.sent.front().copied() else {
                return Err(Failure::new(ErrorKind::Malformed, "an answer that nobody asked for"));
            };
            let fed = self.parser.feed(bytes, shared.heads[first.which]);
            let (taken, answer) =
                fed.map_err(|error| Failure::new(ErrorKind::Malformed, format!("the answer is malformed: {error}")))?;
            bytes = &bytes[taken..];
            let Some(answer) = answer else {
                if self.parser.so_far() > shared.largest {
                    let text = format!("an answer is larger than {} bytes (--largest)", shared.largest);
                    return Err(Failure::new(ErrorKind::TooLarge, text));
                }
                return Ok(());
            };
            self.sent.pop_front();
            shared.recorder.answer(answer.status, answer.bytes, first.since, now);
            if !answer.keeps || !shared.reuse {
                self.close(shared);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The server has closed the connection.
    fn ended(&mut self, shared: &mut EventLoop<'_>) -> Result<(), Failure> {
        if let (Some(answer), Some(first)) = (self.parser.end(), self.sent.front().copied()) {
            self.sent.pop_front();
            shared.recorder.answer(answer.status, answer.bytes, first.since, Instant::now());
        } else if !self.sent.is_empty() {
            let text = if self.parser.has_begun() {
                "the server closed the connection in the middle of an answer"
            } else {
                "the server closed the connection instead of answering"
            };
            return Err(Failure::new(ErrorKind::Closed, text));
        }
        self.close(shared);
        Ok(())
    }

    /// Closes after an answer. What was sent behind it is sent again on the next connection (RFC 9112, 9.3.2).
    fn close(&mut self, shared: &EventLoop<'_>) {
        if let Some(socket) = self.socket.take() {
            socket.drop_at_once();
        }
        self.out.clear();
        self.written = 0;
        for sent in &self.sent {
            self.out.extend_from_slice(&shared.requests[sent.which]);
        }
    }

    /// Gives up: what was under way is lost. How many that were.
    pub(super) fn fail(&mut self) -> usize {
        self.socket = None;
        self.out.clear();
        self.written = 0;
        let lost = self.sent.len();
        self.sent.clear();
        lost
    }

    fn broken(&self, error: &io::Error) -> Failure {
        let is_tls = error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
        if is_tls || self.socket.as_ref().is_some_and(Socket::is_handshaking) {
            return Failure::new(ErrorKind::Tls, format!("no TLS with the server: {error}"));
        }
        Failure::new(ErrorKind::Closed, format!("the connection broke: {error}"))
    }
}

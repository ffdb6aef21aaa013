//! WebSockets (RFC 6455; over HTTP/2, RFC 8441).
//!
//! [`Cx::websocket`](crate::Cx::websocket) accepts one. Other sites cannot open one in the name of a user: the browser
//! says where the request comes from, and it must be this site, or one of
//! [`App::trust_origin`](crate::App::trust_origin).
//!
//! Start reading at [`WebSocket::receive`]. `frame` is the format, `incoming` makes messages of frames, `deflate`
//! compresses them, `handshake` is the request.

#[cfg(feature = "compression")]
mod deflate;
#[cfg(not(feature = "compression"))]
#[path = "websocket/plain.rs"]
mod deflate;
mod frame;
mod handshake;
mod incoming;

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::context::setup::websocket::Options;
use deflate::{Agreed, deflated};
use frame::{Opcode, push_deflated, push_frame};
use incoming::{Event, Incoming};
use skep_http::ext::UpgradedExt as _;
use skep_http::upgrade::Upgraded;

/// A message.
///
/// ```
/// use skep::websocket::Message;
///
/// assert_eq!(Message::from("text"), Message::Text("text".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Message {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Binary(bytes)
    }
}

/// Why a connection is closed (RFC 6455, 7.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The purpose is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The server stops, or the user leaves the page.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer breaks the protocol.
    pub const PROTOCOL: Self = Self(1002);
    /// Text that is no UTF-8.
    pub const INVALID: Self = Self(1007);
    /// The peer may not do this.
    pub const POLICY: Self = Self(1008);
    /// A message is too large.
    pub const TOO_LARGE: Self = Self(1009);
    /// The server failed.
    pub const FAILED: Self = Self(1011);

    /// True for what a close frame may say.
    fn is_valid(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

/// Why nothing more can be received or sent.
#[derive(Debug)]
pub struct Error(Kind);

#[derive(Debug)]
enum Kind {
    /// One side has closed it.
    Closed,
    /// It ended without a close frame.
    Broken(io::Error),
    Violation(CloseCode, &'static str),
    /// Not even a pong came.
    Silent,
}

impl Error {
    fn violation(code: CloseCode, why: &'static str) -> Self {
        Self(Kind::Violation(code, why))
    }

    /// True if one side had closed the connection before.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.0, Kind::Closed)
    }
}

impl std::error::Error for Error {}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Closed => f.write_str("the websocket is closed"),
            Kind::Broken(error) => write!(f, "the websocket broke off: {error}"),
            Kind::Violation(code, why) => write!(f, "{why} (close code {})", code.0),
            Kind::Silent => f.write_str("the peer of the websocket answers no ping"),
        }
    }
}

/// An open WebSocket: [`Cx::websocket`](crate::Cx::websocket).
pub struct WebSocket {
    stream: Upgraded,
    incoming: Incoming,
    options: Options,
    protocol: Option<&'static str>,
    /// How messages may be compressed.
    deflates: Option<Agreed>,
    /// What is still to be sent.
    out: Vec<u8>,
    sent: usize,
    state: State,
    /// When our close frame was sent, or begun to be.
    closing: Option<Instant>,
    /// A ping was sent, and nothing has arrived since.
    is_pinged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// We have sent a close frame, and wait for the peer's.
    Closing,
    /// Nothing more is received or sent, but for what waits to be sent.
    Closed,
}

/// More is not parsed before this much is sent: a peer that sends pings and reads nothing.
const MOST_WAITING: usize = 4 << 10;

/// What a client reads whose user has signed out.
const SIGNED_OUT: &str = "signed out";

/// How long the peer has to answer a close frame.
const CLOSE_TIME: Duration = Duration::from_secs(5);

impl WebSocket {
    fn new(stream: Upgraded, options: Options, protocol: Option<&'static str>, deflates: Option<Agreed>) -> Self {
        Self {
            stream,
            incoming: Incoming::new(options.message, deflates.is_some()),
            options,
            protocol,
            deflates,
            out: Vec::new(),
            sent: 0,
            state: State::Open,
            closing: None,
            is_pinged: false,
        }
    }

    /// The subprotocol that was agreed on: [`Cx::websocket_with`](crate::Cx::websocket_with).
    #[must_use]
    pub fn protocol(&self) -> Option<&'static str> {
        self.protocol
    }

    /// The next message; `None` when either side has closed the connection, or the server stops. Pings are answered
    /// here, and silent peers pinged, so a handler should always wait for messages, even if it expects none. Nothing is
    /// lost if this future is dropped.
    ///
    /// # Errors
    /// If the connection breaks off, or the peer breaks the protocol or the limits; the close frame tells it so.
    pub async fn receive(&mut self) -> Result<Option<Message>, Error> {
        let received = poll_fn(|cx| self.poll_receive(cx)).await;
        if let Err(error) = &received {
            if let Kind::Violation(code, why) = error.0 {
                self.push_close(code, why);
                let _ = poll_fn(|cx| self.poll_out(cx)).await;
            }
            self.state = State::Closed;
        }
        received
    }

    /// The next message, as JSON. A message that is not JSON closes the connection with 1007.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub async fn receive_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let Some(message) = self.receive().await? else { return Ok(None) };
        let value = match &message {
            Message::Text(text) => serde_json::from_str(text),
            Message::Binary(bytes) => serde_json::from_slice(bytes),
        };
        match value {
            Ok(value) => Ok(Some(value)),
            Err(_) => {
                const WHY: &str = "this message is not the JSON that is expected";
                self.close(CloseCode::INVALID, WHY).await?;
                Err(Error::violation(CloseCode::INVALID, WHY))
            }
        }
    }

    /// Sends a message, and waits until the connection has taken it. If the future is dropped, the rest is sent with
    /// what follows.
    ///
    /// # Errors
    /// If the connection is closed, or breaks off.
    pub async fn send(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        match message.into() {
            Message::Text(text) => self.send_frame(Opcode::Text, text.as_bytes()).await,
            Message::Binary(bytes) => self.send_frame(Opcode::Binary, &bytes).await,
        }
    }

    /// Sends a text that others are sent, too: as [`send`](Self::send), without a copy of its own.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_text(&mut self, text: &str) -> Result<(), Error> {
        self.send_frame(Opcode::Text, text.as_bytes()).await
    }

    async fn send_frame(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), Error> {
        if self.state == State::Open && poll_fn(|cx| self.stream.stream().poll_revoked(cx)).await {
            self.push_close(CloseCode::POLICY, SIGNED_OUT);
        }
        if self.state != State::Open {
            return Err(Error(Kind::Closed));
        }
        let agreed = self.deflates.filter(|_| payload.len() >= self.options.compress);
        match agreed.and_then(|agreed| deflated(payload, agreed)) {
            Some(smaller) => push_deflated(&mut self.out, opcode, &smaller),
            None => push_frame(&mut self.out, opcode, payload),
        }
        poll_fn(|cx| self.poll_out(cx)).await
    }

    /// Sends a value as JSON.
    ///
    /// # Errors
    /// As [`send`](Self::send); and if the value has no JSON form.
    pub async fn send_json(&mut self, value: &impl Serialize) -> crate::Result<()> {
        Ok(self.send(serde_json::to_string(value)?).await?)
    }

    /// Closes the connection: sends why, and waits a moment for the peer to agree. Nothing is received after this. What
    /// is no code for applications is sent as 1000; the reason is cut at 123 bytes.
    ///
    /// # Errors
    /// If the connection breaks off.
    pub async fn close(&mut self, code: CloseCode, reason: &str) -> Result<(), Error> {
        let code = if code.is_valid() { code } else { CloseCode::NORMAL };
        self.push_close(code, reason);
        poll_fn(|cx| self.poll_out(cx)).await?;
        while let Ok(Some(_)) = poll_fn(|cx| self.poll_receive(cx)).await {}
        self.state = State::Closed;
        Ok(())
    }

    /// Ends what a handler has left open.
    pub(crate) async fn finish(&mut self, code: CloseCode, reason: &str) {
        let _ = self.close(code, reason).await;
        let _ = poll_fn(|cx| self.poll_out(cx)).await;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Message>, Error>> {
        loop {
            if self.poll_out(cx)?.is_pending() && self.out.len() - self.sent > MOST_WAITING {
                return Poll::Pending;
            }
            if self.state == State::Open && ready!(self.stream.stream().poll_revoked(cx)) {
                self.push_close(CloseCode::POLICY, SIGNED_OUT);
                continue;
            }
            match self.state {
                State::Closed => return Poll::Ready(Ok(None)),
                State::Open if self.stream.stream().poll_ending(cx).is_ready() => {
                    self.push_close(CloseCode::GOING_AWAY, "the server stops");
                    continue;
                }
                State::Open | State::Closing => {}
            }
            if self.incoming.has_input() {
                ready!(self.stream.stream().poll_turn(cx));
            }
            match self.incoming.next()? {
                Some(Event::Message(message)) if self.state == State::Open => return Poll::Ready(Ok(Some(message))),
                Some(Event::Ping(payload)) => push_frame(&mut self.out, Opcode::Pong, &payload),
                // What comes after our close frame is dropped.
                Some(Event::Message(_) | Event::Pong) => {}
                Some(Event::Close(code)) => {
                    self.push_close(code.unwrap_or(CloseCode::NORMAL), "");
                    self.state = State::Closed;
                }
                None if ready!(self.poll_more(cx))? => {}
                None => return Poll::Ready(Ok(None)),
            }
        }
    }

    /// Receives bytes. False at the end of a connection which is closing.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        let mut memory = [0; 4 << 10];
        match self.stream.stream().poll_read(cx, &mut memory).map_err(broken)? {
            Poll::Ready(0) if self.state == State::Closing => {
                self.state = State::Closed;
                Poll::Ready(Ok(false))
            }
            Poll::Ready(0) => Poll::Ready(Err(broken(io::ErrorKind::UnexpectedEof.into()))),
            // A peer that says something now and then is not waited for any longer than a silent one.
            Poll::Ready(_) if self.closing.is_some_and(|since| since.elapsed() >= CLOSE_TIME) => {
                self.state = State::Closed;
                Poll::Ready(Ok(false))
            }
            Poll::Ready(count) => {
                self.is_pinged = false;
                self.incoming.extend(&memory[..count]);
                Poll::Ready(Ok(true))
            }
            Poll::Pending => self.poll_silence(cx),
        }
    }

    /// Pings a peer that is silent, and gives up one that stays so. Ready with true if there is something to send.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        let stream = self.stream.stream();
        if self.state == State::Closing {
            ready!(stream.poll_quiet(cx, CLOSE_TIME));
            self.state = State::Closed;
            return Poll::Ready(Ok(false));
        }
        if self.options.ping.is_zero() {
            return Poll::Pending;
        }
        if self.is_pinged {
            ready!(stream.poll_quiet(cx, 2 * self.options.ping));
            return Poll::Ready(Err(Error(Kind::Silent)));
        }
        ready!(stream.poll_quiet(cx, self.options.ping));
        self.is_pinged = true;
        push_frame(&mut self.out, Opcode::Ping, b"");
        Poll::Ready(Ok(true))
    }

    /// Once: a second close frame is not allowed.
    fn push_close(&mut self, code: CloseCode, reason: &str) {
        if self.state == State::Open {
            let end = reason.floor_char_boundary(123);
            push_frame(&mut self.out, Opcode::Close, &[&code.0.to_be_bytes(), &reason.as_bytes()[..end]].concat());
            self.state = State::Closing;
            self.closing = Some(Instant::now());
        }
    }

    /// Sends what waits.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while self.sent < self.out.len() {
            match ready!(self.stream.stream().poll_write(cx, &self.out[self.sent..])).map_err(broken)? {
                0 => return Poll::Ready(Err(broken(io::ErrorKind::WriteZero.into()))),
                count => self.sent += count,
            }
        }
        // An idle connection holds no buffer.
        (self.out, self.sent) = (Vec::new(), 0);
        self.stream.stream().poll_flush(cx).map_err(broken)
    }
}

fn broken(error: io::Error) -> Error {
    Error(Kind::Broken(error))
}

skep_units::opaque_debug!(WebSocket);

#[cfg(test)]
#[path = "../../tests/unit/websocket.rs"]
mod tests;

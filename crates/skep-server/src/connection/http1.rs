//! HTTP/1 over one connection: requests are read, answered and followed by the next, in order.
//!
//! An idle connection holds no buffer: bytes are received into one of the thread's, and kept only if they are the
//! beginning of something. The messages themselves are those of [`crate::http1`].
//!
//! Start reading at [`Http1::poll`].

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::Bytes;
use http::header::{CONNECTION, UPGRADE};
use http::{HeaderMap, Method, StatusCode};
use skep::Body;
use skep::upgrade::{Offer, Task, Upgrade, Upgraded};
use tokio::io::ReadBuf;

use super::exchange::{self, Answered, Exchange, Received, ResponseFuture};
use super::incoming::{BodyReceiver, Encoding, Incoming, Taken};
use super::streamed::Streamed;
use super::turn::{self, Turn};
use super::upgraded::Http1Stream;
use super::wire::{DirectBody, Reading};
use super::{Connection, End, TimedOut};
use crate::http1::{
    BodyLength, Chunked, Decoded, Head, HeadReader, Rejection, ResponseFields, ResponseLength, StatusLine, write_head,
};

/// From this size on, a body in memory is sent without copying.
const LARGE: usize = 4 << 10;

/// Serves requests until the connection ends.
pub(super) async fn serve(connection: &Rc<Connection>) -> End {
    let begin = |parts, body| exchange::exchange(connection, parts, body);
    let mut http = Http1::new(connection, begin);
    poll_fn(|cx| {
        let _turn = Turn::begin(connection);
        connection.store_waker(cx.waker());
        let timed_out = connection.timed_out.take();
        if let Some(timed_out) = timed_out.filter(|timed_out| *timed_out != TimedOut::Idle) {
            return Poll::Ready(End::TimedOut(timed_out));
        }
        // Requests that have arrived are served first.
        if let Poll::Ready(end) = http.poll(cx) {
            return Poll::Ready(end);
        }
        if http.is_idle() && (timed_out.is_some() || connection.context.is_draining()) {
            return Poll::Ready(End::Done);
        }
        connection.after_poll(cx)
    })
    .await
}

/// One connection. `begin` passes a request to the application.
struct Http1<'c, B, F> {
    connection: &'c Rc<Connection>,
    begin: B,
    reader: HeadReader,
    /// Bytes that were received and not used yet, from a position on.
    input: Vec<u8>,
    at: usize,
    state: State<F>,
    /// What the response needs of its request.
    request: Request,
    /// The body of the request, while it is not complete.
    body: Option<BodyReceiver>,
    /// What the application has not read of it, after the response.
    rest: Option<Rest>,
}

/// The rest of a body, which is received and dropped.
struct Rest {
    encoding: Encoding,
    /// How many more bytes it may have.
    left: u64,
}

enum State<F> {
    /// Waits for a head, or for the rest of one.
    Head,
    Handler(ResponseFuture<F>),
    /// Sends a body that is made piece by piece.
    Body(Streamed),
    /// HTTP is over: the connection is a byte stream.
    Upgraded(Task),
}

/// What the response needs of its request.
struct Request {
    version_11: bool,
    is_head: bool,
    keeps_alive: bool,
}

/// What became of reading on.
enum Progress {
    Pending,
    /// The application may have something to do.
    Made,
}

impl<'c, B, F> Http1<'c, B, F>
where
    B: Fn(Box<skep::request::Parts>, Received<Incoming>) -> ResponseFuture<F>,
    F: Future<Output = skep::Response> + 'static,
{
    fn new(connection: &'c Rc<Connection>, begin: B) -> Self {
        let input = connection.wire().take_sniffed();
        let request = Request { version_11: true, is_head: false, keeps_alive: true };
        Self {
            connection,
            begin,
            reader: HeadReader::default(),
            input,
            at: 0,
            state: State::Head,
            request,
            body: None,
            rest: None,
        }
    }

    /// True if no request has begun to arrive.
    fn is_idle(&self) -> bool {
        matches!(self.state, State::Head) && self.input.is_empty() && !self.connection.wire().has_body()
    }

    fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<End> {
        loop {
            let end = match &mut self.state {
                State::Head => ready!(self.poll_head(cx)),
                State::Handler(handler) => match Pin::new(handler).poll(cx) {
                    Poll::Ready(answered) => self.respond(answered),
                    Poll::Pending => ready!(self.read_on(cx)),
                },
                State::Body(_) => match self.poll_body(cx) {
                    Poll::Ready(end) => end,
                    Poll::Pending => ready!(self.read_on(cx)),
                },
                State::Upgraded(task) => {
                    ready!(task.as_mut().poll(cx));
                    Some(End::Done)
                }
            };
            if let Some(end) = end {
                return Poll::Ready(end);
            }
        }
    }

    /// Reads the next head, and begins its request.
    fn poll_head(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<End>> {
        // The wire holds one body at a time, and responses are gathered only up to a point.
        let mut wire = self.connection.wire();
        if wire.is_full() {
            match ready!(wire.poll_flush(cx)) {
                Ok(()) => {}
                Err(error) => return Poll::Ready(Some(End::Io(error))),
            }
        }
        drop(wire);
        if !self.request.keeps_alive {
            if !self.input.is_empty() {
                self.connection.wire().set_reading(Reading::Head);
            }
            return Poll::Ready(Some(End::Done));
        }
        if !ready!(self.poll_rest(cx)) {
            return Poll::Ready(Some(End::Done));
        }
        let found = if self.input.is_empty() {
            let context = Rc::clone(&self.connection.context);
            let mut memory = context.scratch();
            let received = match ready!(self.receive(cx, &mut memory)) {
                Ok(0) => return Poll::Ready(Some(End::Done)),
                Ok(count) => &memory[..count],
                Err(error) => return Poll::Ready(Some(End::Io(error))),
            };
            // A request that came later than the others of this turn.
            if turn::poll_proceed(cx).is_pending() {
                self.input.extend_from_slice(received);
                return Poll::Pending;
            }
            let found = self.take_head(received);
            match &found {
                Ok(Some((_, length))) => self.input.extend_from_slice(&received[*length..]),
                Ok(None) => self.input.extend_from_slice(received),
                Err(_) => {}
            }
            found
        } else {
            ready!(turn::poll_proceed(cx));
            let input = std::mem::take(&mut self.input);
            let found = self.take_head(&input[self.at..]);
            self.input = input;
            match &found {
                Ok(Some((_, length))) => self.consume(*length),
                Ok(None) => {
                    let context = Rc::clone(&self.connection.context);
                    let mut memory = context.scratch();
                    match ready!(self.receive(cx, &mut memory)) {
                        Ok(0) => return Poll::Ready(Some(End::Done)),
                        Ok(count) => {
                            self.input.drain(..std::mem::take(&mut self.at));
                            self.input.extend_from_slice(&memory[..count]);
                        }
                        Err(error) => return Poll::Ready(Some(End::Io(error))),
                    }
                }
                Err(_) => {}
            }
            found
        };
        Poll::Ready(match found {
            Ok(Some((head, _))) => {
                self.begin(head);
                None
            }
            Ok(None) => None,
            Err(rejection) => Some(End::Rejected(rejection)),
        })
    }

    /// Drops what the application has not read of the body before. False if there is too much of it, or it never ends:
    /// the response is sent, so nothing can be said about it.
    fn poll_rest(&mut self, cx: &mut TaskContext<'_>) -> Poll<bool> {
        if let Some(body) = self.body.take() {
            self.rest = Some(Rest { encoding: body.into_rest(), left: self.connection.context.limits.unread_body });
        }
        while let Some(rest) = &mut self.rest {
            if self.input.is_empty() {
                ready!(turn::poll_proceed(cx));
                let context = Rc::clone(&self.connection.context);
                let mut memory = context.scratch();
                match ready!(self.receive(cx, &mut memory)) {
                    Ok(count @ 1..) => self.input.extend_from_slice(&memory[..count]),
                    Ok(0) | Err(_) => return Poll::Ready(false),
                }
                continue;
            }
            let Ok((count, decoded)) = rest.encoding.decode(&self.input[self.at..]) else { return Poll::Ready(false) };
            let is_over = decoded == Decoded::End || matches!(rest.encoding, Encoding::Length(0));
            let Some(left) = rest.left.checked_sub(count as u64) else { return Poll::Ready(false) };
            rest.left = left;
            self.consume(count);
            if is_over {
                self.rest = None;
                self.connection.wire().set_reading(Reading::Nothing);
            }
        }
        Poll::Ready(true)
    }

    /// The head that these bytes begin with, if it is complete, and its length.
    fn take_head(&mut self, bytes: &[u8]) -> Result<Option<(Head, usize)>, Rejection> {
        let limits = &self.connection.context.limits.head;
        let head = self.reader.read(bytes, limits, &self.connection.last_host.borrow())?;
        if head.is_none() {
            self.connection.wire().set_reading(Reading::Head);
        }
        Ok(head)
    }

    /// Receives bytes; none at the end.
    fn receive(&self, cx: &mut TaskContext<'_>, memory: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(memory);
        ready!(self.connection.wire().poll_receive(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// These bytes of the input are used.
    fn consume(&mut self, count: usize) {
        self.at += count;
        if self.at == self.input.len() {
            (self.input, self.at) = (Vec::new(), 0);
        }
    }

    fn begin(&mut self, head: Head) {
        let Head { mut parts, body, framing } = head;
        if framing.may_upgrade() && body == BodyLength::Known(0) {
            parts.extensions.insert(Offer::Http1);
        }
        self.request = Request {
            version_11: framing.version_11,
            is_head: parts.method == Method::HEAD,
            keeps_alive: framing.keeps_alive(),
        };
        self.connection.is_for_last_host.set(framing.has_known_host);
        let received = self.receive_body(body, framing.expects_continue);
        if !self.input.is_empty() {
            turn::start_clock();
        }
        let reading = if self.body.is_some() { Reading::Body } else { Reading::Nothing };
        self.connection.wire().set_reading(reading);
        self.state = State::Handler((self.begin)(parts, received));
    }

    /// The body: what has arrived of it, if that is all, or else a stream.
    fn receive_body(&mut self, length: BodyLength, expects_continue: bool) -> Received<Incoming> {
        let here = &self.input[self.at..];
        let encoding = match length {
            BodyLength::Known(0) => return Received::Nothing,
            BodyLength::Known(length) => {
                if let Some(whole) = usize::try_from(length).ok().and_then(|length| here.get(..length)) {
                    let whole = Bytes::copy_from_slice(whole);
                    self.consume(whole.len());
                    return Received::Whole(whole);
                }
                Encoding::Length(length)
            }
            BodyLength::Chunked => Encoding::Chunked(Chunked::default()),
        };
        let (incoming, receiver) = Incoming::new(encoding, expects_continue && here.is_empty());
        self.body = Some(receiver);
        Received::Stream(incoming)
    }

    /// Nothing can be done without the client: reads more of the request's body, or notices that the client is gone.
    fn read_on(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<End>> {
        match self.poll_request_body(cx) {
            Ok(Progress::Made) => return Poll::Ready(None),
            Ok(Progress::Pending) => {}
            Err(error) => return Poll::Ready(Some(End::Io(error))),
        }
        // A request that follows stays with its thread until its turn; one that is there already says nothing about the
        // client.
        if self.body.is_some() || !self.input.is_empty() || self.connection.is_half_closed() {
            return Poll::Pending;
        }
        let context = Rc::clone(&self.connection.context);
        let mut memory = context.scratch();
        match ready!(self.receive(cx, &mut memory)) {
            Ok(0) if self.connection.context.limits.half_closed.is_zero() => Poll::Ready(Some(End::Done)),
            Ok(0) => {
                self.request.keeps_alive = false;
                self.connection.close_half();
                Poll::Pending
            }
            Ok(count) => {
                self.input.extend_from_slice(&memory[..count]);
                Poll::Pending
            }
            Err(error) => Poll::Ready(Some(End::Io(error))),
        }
    }

    /// Reads a piece of the request's body, if the application wants one.
    fn poll_request_body(&mut self, cx: &mut TaskContext<'_>) -> io::Result<Progress> {
        loop {
            let Some(body) = self.body.as_mut().filter(|body| body.wants_more(cx)) else {
                return Ok(Progress::Pending);
            };
            if !self.input.is_empty() {
                let (taken, done) = body.take(&self.input[self.at..], cx);
                self.consume(taken);
                if self.has_taken(done) {
                    return Ok(Progress::Made);
                }
                continue;
            }
            if body.takes_continue() {
                self.connection.wire().push(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            let context = Rc::clone(&self.connection.context);
            let mut memory = context.scratch();
            let count = match self.receive(cx, &mut memory) {
                Poll::Pending => return Ok(Progress::Pending),
                Poll::Ready(received) => received?,
            };
            let Some(body) = &mut self.body else { return Ok(Progress::Pending) };
            if count == 0 {
                body.fail("the body ended before it was complete".into(), cx);
                return Ok(Progress::Made);
            }
            let (taken, done) = body.take(&memory[..count], cx);
            self.input.extend_from_slice(&memory[taken..count]);
            if self.has_taken(done) {
                return Ok(Progress::Made);
            }
        }
    }

    /// True if the application was given something.
    fn has_taken(&mut self, taken: Taken) -> bool {
        if taken == Taken::All {
            self.body = None;
            self.connection.wire().set_reading(Reading::Nothing);
        }
        taken != Taken::Nothing
    }

    /// Writes the head of a response, and its body if it is there.
    fn respond(&mut self, answered: Answered) -> Option<End> {
        let Answered { response, mut exchange, closes } = answered;
        let response = response.into_written();
        let (headers, status, body) = (response.headers.as_deref(), response.status, &response.body);
        let length = self.response_length(status, body);
        let most = self.connection.context.limits.unread_body;
        // What has not come in time is not waited for once more.
        let goes_on =
            status != StatusCode::REQUEST_TIMEOUT && self.body.as_ref().is_none_or(|body| body.can_be_dropped(most));
        let closes = closes || !goes_on || length == ResponseLength::Close || headers.is_some_and(asks_to_close);
        self.request.keeps_alive &= !closes;
        let upgrades = headers.is_some_and(|headers| headers.contains_key(UPGRADE));
        let connection = match (self.request.keeps_alive, self.request.version_11) {
            _ if body.is_upgrade() => Some("upgrade"),
            (false, _) if upgrades => Some("close, upgrade"),
            (true, true) if upgrades => Some("upgrade"),
            (false, _) => Some("close"),
            (true, false) => Some("keep-alive"),
            (true, true) => None,
        };
        let mut wire = self.connection.wire();
        let date = self.connection.context.date();
        let line = StatusLine { version_11: self.request.version_11, status };
        write_head(wire.out(), line, ResponseFields::of(&response), length, connection, &date);
        exchange.set_status(status);
        self.state = State::Head;
        drop(wire);
        let body = match response.body.into_upgrade() {
            Ok(upgrade) => return self.upgrade(upgrade, exchange),
            Err(body) => body,
        };
        let mut wire = self.connection.wire();
        if length == ResponseLength::None || self.request.is_head {
            return None;
        }
        if let Some(bytes) = body.as_whole().filter(|bytes| bytes.len() < LARGE) {
            wire.push(bytes);
            exchange.count(bytes.len());
            return None;
        }
        exchange.note_answer();
        match body.into_file() {
            Ok(file) if wire.supports_sendfile() => wire.queue_body(DirectBody::File(file), exchange.finished()),
            Ok(file) => self.state = State::Body(Streamed { body: Body::file(file), exchange, length }),
            Err(body) => match body.into_whole() {
                Ok(bytes) => wire.queue_body(DirectBody::Bytes(bytes), exchange.finished()),
                Err(body) => self.state = State::Body(Streamed { body, exchange, length }),
            },
        }
        None
    }

    /// Begins what runs on the byte stream, with what has arrived of it.
    fn upgrade(&mut self, upgrade: Upgrade, mut exchange: Exchange) -> Option<End> {
        exchange.note_upgrade();
        let mut input = std::mem::take(&mut self.input);
        input.drain(..std::mem::take(&mut self.at));
        // What the client sends last is read before the connection is closed.
        self.connection.wire().set_reading(Reading::Body);
        let stream = Upgraded::new(Http1Stream::new(Rc::clone(self.connection), input));
        self.connection.upgraded.set(upgrade.service());
        let task = upgrade.begin(stream);
        self.state = State::Upgraded(Box::pin(async move {
            // The request lasts as long.
            let _exchange = exchange;
            task.await;
        }));
        None
    }

    /// The application has seen to the content and its length already.
    fn response_length(&self, status: StatusCode, body: &Body) -> ResponseLength {
        if status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return ResponseLength::None;
        }
        match body.len() {
            // The body of a response to HEAD is left out; its length is that of the one to GET, where that is known.
            Some(0) if self.request.is_head => ResponseLength::None,
            Some(length) => ResponseLength::Known(length),
            None if self.request.version_11 => ResponseLength::Chunked,
            None => ResponseLength::Close,
        }
    }

    /// Sends a body that is made piece by piece.
    fn poll_body(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<End>> {
        let State::Body(streamed) = &mut self.state else { return Poll::Ready(None) };
        let end = ready!(streamed.poll(self.connection, cx));
        if end.is_none() {
            self.state = State::Head;
        }
        Poll::Ready(end)
    }
}

fn asks_to_close(headers: &HeaderMap) -> bool {
    let options =
        headers.get_all(CONNECTION).into_iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    options.map(<[u8]>::trim_ascii).any(|option| option.eq_ignore_ascii_case(b"close"))
}

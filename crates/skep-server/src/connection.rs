//! HTTP over one connection, from its first byte to its orderly end.
//!
//! [`http1`] reads and writes messages of HTTP/1, hyper those of HTTP/2. This module adds timeouts, the error page for
//! what never became a request, and the order in which a connection closes. It knows neither processes nor where the
//! application comes from.
//!
//! Start reading at [`serve`].

mod budget;
mod closing;
mod context;
mod exchange;
mod http1;
pub(crate) mod http2;
mod incoming;
mod limits;
mod recipient;
mod request_body;
mod response_body;
mod slot;
mod socket;
mod streamed;
mod turn;
mod unsent;
mod upgraded;
mod wire;

use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

pub(crate) use closing::reject;
use context::Tick;
pub(crate) use context::{ConnectionGuard, Context, RequestBudget, Rules};
use exchange::Entry;
pub(crate) use limits::Limits;
use skep::Peer;
use skep_observe::metrics::Counter;
pub(crate) use socket::{Plain, Socket};
use turn::Share;
use unsent::Unsent;
pub(crate) use unsent::UnsentLimit;
use wire::{Protocol, Wire};

use crate::http1::Rejection;

/// One connection, shared by its parts, all on one thread.
pub(crate) struct Connection {
    context: Rc<Context>,
    /// `None` if the connection was rejected.
    guard: Option<ConnectionGuard>,
    peer: Peer,
    /// It is of a trusted proxy without a PROXY header, so `proxies.fields` of its requests are believed.
    reads_fields: bool,
    /// The peer as the access log writes it.
    peer_text: String,
    wire: RefCell<Wire>,
    phase: Cell<Phase>,
    since: Cell<Tick>,
    blocked_since: Cell<Option<Tick>>,
    timed_out: Cell<Option<TimedOut>>,
    /// The client has closed its sending side; as of when it last took a byte of the response.
    half_closed_since: Cell<Option<Tick>>,
    /// Requests that were received, and those whose response is not complete.
    requests: Cell<u32>,
    /// Those that had begun when the phase did.
    requests_before: Cell<u32>,
    running: Cell<u32>,
    /// The request that began last, if it has not ended.
    current: RefCell<Option<Rc<Entry>>>,
    /// What the HTTP/2 stream that was polled last waits for.
    stream: Cell<Option<StreamState>>,
    /// The service whose byte stream it is, or of HTTP/2 the one that is being polled.
    upgraded: Cell<u16>,
    /// What HTTP/2 streams use of the thread.
    share: Share,
    /// Responses that the client has not taken yet.
    unsent: Unsent,
    /// The host of the last request, if it was one of ours.
    last_host: RefCell<Box<[u8]>>,
    /// The request that begins is for that one.
    is_for_last_host: Cell<bool>,
    /// How many more HTTP/2 streams the client may cancel, as of a time.
    resets_left: Cell<(f64, Tick)>,
    waker: Cell<Option<Waker>>,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A complete head.
    Head,
    /// The application.
    Response,
    /// Any input.
    Idle,
}

/// Which timeout has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimedOut {
    Head,
    Idle,
    Write,
    /// The client has closed its sending side, and nothing shows that it still reads.
    Gone,
    /// Not a time: the client cancels too many requests.
    Resets,
    /// Nor is this: it sends too many HTTP/2 frames that carry nothing.
    ControlFrames,
}

/// What the response of an HTTP/2 stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
    /// The response or the next part of its body, from the application.
    WaitsForBody,
    /// Room in the client's window.
    WaitsForClient,
}

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// Nothing more is to be said.
    Done,
    /// The next request is malformed, and all requests before it are answered.
    Rejected(Rejection),
    TimedOut(TimedOut),
    Io(io::Error),
}

/// How long a permit is reserved for a new connection, with `prefork` a process. Clients send their request at once.
pub(crate) const PROMPT: Duration = Duration::from_millis(50);

/// How long a draining thread waits for the first bytes of a new connection: its client may have sent them already.
const FIRST_BYTES: Duration = Duration::from_millis(100);

/// Serves one connection until it ends.
pub(crate) async fn serve(guard: ConnectionGuard, socket: Socket, peer: Peer, http2: bool) {
    let context = Rc::clone(guard.context());
    let connection = Rc::new(Connection::new(&context, Some(guard), socket, peer));
    let _membership = context.join(&connection);
    // An idle thread has only now updated its clock.
    connection.enter_phase(Phase::Head);
    let beginning = if http2 { Ok(Protocol::Http2) } else { connection.sniff().await };
    let end = match beginning {
        Ok(Protocol::Http1) => http1::serve(&connection).await,
        // Boxed, to keep connections that do not need it small.
        Ok(Protocol::Http2) => Box::pin(http2::serve(&connection)).await,
        Ok(Protocol::Closed) => return,
        Err(end) => end,
    };
    Box::pin(closing::close(&connection, end)).await;
}

/// A peer, as the access log writes it.
fn peer_text(peer: Peer) -> String {
    peer.address.map_or_else(|| "unix".to_owned(), |address| address.ip().to_string())
}

impl Connection {
    fn new(context: &Rc<Context>, guard: Option<ConnectionGuard>, socket: Socket, peer: Peer) -> Self {
        Self {
            context: Rc::clone(context),
            guard,
            peer,
            reads_fields: !context.rules.proxy_protocol && context.rules.proxies.includes(peer),
            peer_text: peer_text(peer),
            wire: RefCell::new(Wire::new(socket)),
            phase: Cell::new(Phase::Head),
            since: Cell::new(context.now()),
            blocked_since: Cell::new(None),
            timed_out: Cell::new(None),
            half_closed_since: Cell::new(None),
            requests: Cell::new(0),
            requests_before: Cell::new(0),
            running: Cell::new(0),
            current: RefCell::default(),
            stream: Cell::new(None),
            upgraded: Cell::new(0),
            share: Share::default(),
            unsent: Unsent::new(&context.unsent),
            last_host: RefCell::default(),
            is_for_last_host: Cell::new(false),
            resets_left: Cell::new((f64::from(context.limits.http2_resets), context.now())),
            waker: Cell::new(None),
        }
    }

    fn wire(&self) -> RefMut<'_, Wire> {
        self.wire.borrow_mut()
    }

    async fn sniff(&self) -> Result<Protocol, End> {
        poll_fn(|cx| {
            self.store_waker(cx.waker());
            if let Some(timed_out) = self.timed_out.get() {
                return Poll::Ready(Err(End::TimedOut(timed_out)));
            }
            match self.wire().poll_sniff(cx) {
                Poll::Pending if self.context.is_draining() && self.is_over(self.since.get(), FIRST_BYTES) => {
                    Poll::Ready(Ok(Protocol::Closed))
                }
                begun => begun.map_err(End::Io),
            }
        })
        .await
    }

    /// Flushes the output after all that can be done is done, and updates the phase.
    fn after_poll(&self, cx: &mut std::task::Context<'_>) -> Poll<End> {
        let mut wire = self.wire();
        if let Poll::Ready(Err(error)) = wire.poll_flush(cx) {
            return Poll::Ready(End::Io(error));
        }
        let now = self.context.now();
        let blocked = wire.blocked.then(|| self.blocked_since.get().unwrap_or(now));
        self.blocked_since.set(blocked);
        // A client that is gone answers the next byte with a reset.
        if wire.take_progress() && self.half_closed_since.get().is_some() {
            self.half_closed_since.set(Some(now));
        }
        let phase = match wire.in_head() {
            _ if self.running.get() > 0 || wire.has_body() => Phase::Response,
            true => Phase::Head,
            false if self.requests.get() > 0 => Phase::Idle,
            false => self.phase.get(),
        };
        // The first request comes in pieces, and another client may have a whole one: this one waits for its permit
        // later.
        if wire.in_head()
            && self.requests.get() == 0
            && let Some(guard) = &self.guard
        {
            guard.release_reservation();
        }
        // A request that begins and ends within one poll leaves the phase as it was; the phase starts again
        // nevertheless.
        if phase != self.phase.get() || self.requests.get() != self.requests_before.get() {
            self.enter_phase(phase);
        }
        Poll::Pending
    }

    /// Starts the timeout of a phase.
    fn enter_phase(&self, phase: Phase) {
        self.phase.set(phase);
        self.requests_before.set(self.requests.get());
        self.since.set(self.context.now());
    }

    /// Called at every tick.
    fn check_timeouts(&self) {
        // A client that is slow with its first request gives up the permit that is reserved for it, and waits for one
        // later.
        if self.requests.get() == 0
            && let Some(guard) = &self.guard
            && self.is_over(self.since.get(), PROMPT)
        {
            guard.release_reservation();
        }
        let limits = &self.context.limits;
        let over = |since, limit| self.is_over(since, limit);
        let timed_out = match self.phase.get() {
            _ if self.blocked_since.get().is_some_and(|since| over(since, self.write_idle())) => Some(TimedOut::Write),
            _ if self.half_closed_since.get().is_some_and(|since| self.is_gone(since)) => Some(TimedOut::Gone),
            Phase::Head if over(self.since.get(), limits.header_time) => Some(TimedOut::Head),
            Phase::Head
                if self.context.is_draining() && over(self.since.get(), FIRST_BYTES) && !self.wire().received =>
            {
                Some(TimedOut::Head)
            }
            Phase::Idle if over(self.since.get(), limits.keep_alive) => Some(TimedOut::Idle),
            _ => None,
        };
        if let Some(timed_out) = timed_out {
            self.count_timeout(timed_out);
        }
        if timed_out.is_some() {
            self.timed_out.set(timed_out);
            self.since.set(self.context.now());
            self.wake();
        }
    }

    /// Notes that the client sends nothing more. It may still wait for its response (RFC 9112, 9.6), or it may be gone:
    /// of TCP both look the same until something is sent. So the response is worked on for a bounded time, and given up
    /// at once when the socket shows that nobody reads it.
    fn close_half(&self) {
        self.half_closed_since.set(Some(self.context.now()));
    }

    fn is_half_closed(&self) -> bool {
        self.half_closed_since.get().is_some()
    }

    /// True if a client that has sent its last byte no longer waits, as far as can be known.
    fn is_gone(&self, since: Tick) -> bool {
        self.is_over(since, self.context.limits.half_closed) || self.wire().is_hung_up()
    }

    fn count_timeout(&self, timed_out: TimedOut) {
        match timed_out {
            TimedOut::Head => self.context.count_event(Counter::HeaderTime),
            TimedOut::Write => self.context.count_event(Counter::WriteIdle),
            TimedOut::Resets => self.context.count_event(Counter::Http2Resets),
            TimedOut::ControlFrames => self.context.count_event(Counter::Http2ControlFrames),
            TimedOut::Idle | TimedOut::Gone => {}
        }
    }

    /// How long the client may take nothing of a response.
    fn write_idle(&self) -> Duration {
        self.context.unsent.patience(self.context.limits.write_idle)
    }

    fn set_stream_state(&self, waits_for_body: bool) {
        let state = if waits_for_body { StreamState::WaitsForBody } else { StreamState::WaitsForClient };
        self.stream.set(Some(state));
    }

    /// Counts an HTTP/2 stream that was cancelled before it was answered. Too many of them end the connection.
    fn count_reset(&self) {
        let most = f64::from(self.context.limits.http2_resets);
        let (left, since) = self.resets_left.get();
        let now = self.context.now();
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a connection")]
        let refilled = left + most / 10.0 * (now.saturating_sub(since) as f64 / 1000.0);
        let left = refilled.min(most) - 1.0;
        self.resets_left.set((left, now));
        if left < 0.0 && !self.context.is_draining() {
            self.end_with(TimedOut::Resets);
        }
    }

    /// Ends the connection of a client that does too much.
    fn end_with(&self, why: TimedOut) {
        if self.timed_out.replace(Some(why)) != Some(why) {
            self.count_timeout(why);
        }
        self.wake();
    }

    fn is_over(&self, since: Tick, limit: Duration) -> bool {
        u128::from(self.context.now().saturating_sub(since)) >= limit.as_millis()
    }

    fn store_waker(&self, waker: &Waker) {
        let known = self.waker.take().filter(|known| known.will_wake(waker));
        self.waker.set(Some(known.unwrap_or_else(|| waker.clone())));
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake_by_ref();
            self.waker.set(Some(waker));
        }
    }
}

//! HTTP over one connection, from its first byte to its orderly end.
//!
//! The messages are hyper's business. Ours: what comes before its parser ([`gate`]), what a connection may cost in
//! time, the one error page for what never became a request, and the order in which a connection ends. This code knows
//! neither processes nor where its application comes from.
//!
//! Start reading at [`serve`].

mod answer;
mod closing;
mod context;
mod gate;
mod incoming;
mod outgoing;
mod protocol;
mod share;
mod socket;
mod wire;

use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

pub(crate) use closing::refuse;
use context::Moment;
pub(crate) use context::{Context, Guest, Limits, Share};
pub(crate) use gate::Bounds;
use skep::Peer;
pub(crate) use socket::{Plain, Socket};
use wire::{Beginning, Wire};

/// One connection, as its parts see it. All of them live on one thread.
pub(crate) struct Connection {
    context: Rc<Context>,
    /// Nobody, if it is turned away.
    guest: Option<Guest>,
    peer: Peer,
    /// The peer as the access log writes it.
    peer_text: String,
    wire: RefCell<Wire>,
    phase: Cell<Phase>,
    since: Cell<Moment>,
    blocked_since: Cell<Option<Moment>>,
    expired: Cell<Option<Expired>>,
    /// Requests that were taken in, and how many of them are not answered to the last byte.
    requests: Cell<u32>,
    running: Cell<u32>,
    /// No request waits for an answer: what hyper writes now is its own.
    quiet: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

/// What a connection is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A head, complete.
    Head,
    /// Its application.
    Answer,
    /// Anything at all.
    Idle,
}

/// Whose time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expired {
    Head,
    Idle,
    Write,
}

/// How a connection came to its end.
#[derive(Debug)]
enum End {
    /// hyper is done with it.
    Http(hyper::Result<()>),
    /// The gate let nothing more in, and all before it is answered.
    Refused,
    Expired(Expired),
    Broken(io::Error),
}

/// Serves one connection until it ends.
pub(crate) async fn serve(guest: Guest, socket: Socket, peer: Peer, http2: bool) {
    let context = Rc::clone(guest.context());
    let connection = Rc::new(Connection::new(&context, Some(guest), socket, peer));
    let _membership = context.join(&connection);
    // A thread that was idle has only now looked at its clock.
    connection.expect(Phase::Head);
    let beginning = if http2 { Ok(Beginning::Http2) } else { connection.begin().await };
    let end = match beginning {
        Ok(Beginning::Http1) => protocol::http1(&connection).await,
        // What not every connection needs is in a box: an idle one is to be small.
        Ok(Beginning::Http2) => Box::pin(protocol::http2(&connection)).await,
        Ok(Beginning::Gone) => return,
        Err(end) => end,
    };
    Box::pin(closing::close(&connection, end)).await;
}

impl Connection {
    fn new(context: &Rc<Context>, guest: Option<Guest>, socket: Socket, peer: Peer) -> Self {
        Self {
            context: Rc::clone(context),
            guest,
            peer,
            peer_text: peer.address.map_or_else(|| "unix".to_owned(), |address| address.ip().to_string()),
            wire: RefCell::new(Wire::new(socket, context.limits.head)),
            phase: Cell::new(Phase::Head),
            since: Cell::new(context.now()),
            blocked_since: Cell::new(None),
            expired: Cell::new(None),
            requests: Cell::new(0),
            running: Cell::new(0),
            quiet: Cell::new(true),
            waker: Cell::new(None),
        }
    }

    fn wire(&self) -> RefMut<'_, Wire> {
        self.wire.borrow_mut()
    }

    async fn begin(&self) -> Result<Beginning, End> {
        poll_fn(|cx| {
            self.remember(cx.waker());
            if let Some(expired) = self.expired.get() {
                return Poll::Ready(Err(End::Expired(expired)));
            }
            match self.wire().poll_begin(cx) {
                Poll::Pending if self.context.is_draining() => Poll::Ready(Ok(Beginning::Gone)),
                begun => begun.map_err(End::Broken),
            }
        })
        .await
    }

    /// Polls `http` until it, its time, or its socket ends. When `ends` says that the thread does, `drain` tells it so.
    async fn drive<F>(&self, mut http: Pin<&mut F>, drain: fn(Pin<&mut F>), ends: fn(&Context) -> bool) -> End
    where
        F: Future<Output = hyper::Result<()>>,
    {
        let mut told = false;
        poll_fn(|cx| {
            self.remember(cx.waker());
            let expired = self.expired.take();
            if let Some(expired) = expired.filter(|expired| told || *expired != Expired::Idle) {
                return Poll::Ready(End::Expired(expired));
            }
            if let Poll::Ready(result) = http.as_mut().poll(cx) {
                return Poll::Ready(End::Http(result));
            }
            // What has arrived is served. HTTP/2 then says goodbye; HTTP/1 ends with its answer.
            if !told && (expired.is_some() || ends(&self.context)) {
                told = true;
                drain(http.as_mut());
                if let Poll::Ready(result) = http.as_mut().poll(cx) {
                    return Poll::Ready(End::Http(result));
                }
            }
            self.settle(cx)
        })
        .await
    }

    /// hyper has done what it can for now: lets go what was gathered, and notes what is waited for.
    fn settle(&self, cx: &mut std::task::Context<'_>) -> Poll<End> {
        let mut wire = self.wire();
        if let Poll::Ready(Err(error)) = wire.poll_flush(cx) {
            return Poll::Ready(End::Broken(error));
        }
        if self.quiet.get() && wire.is_used_up() && !wire.has_body() {
            return Poll::Ready(End::Refused);
        }
        let now = self.context.now();
        let blocked = wire.is_blocked().then(|| self.blocked_since.get().unwrap_or(now));
        self.blocked_since.set(blocked);
        let phase = match wire.in_head() {
            _ if self.running.get() > 0 || wire.has_body() => Phase::Answer,
            true => Phase::Head,
            false if self.requests.get() > 0 => Phase::Idle,
            false => self.phase.get(),
        };
        if phase != self.phase.get() {
            self.expect(phase);
        }
        Poll::Pending
    }

    /// From now on this is waited for.
    fn expect(&self, phase: Phase) {
        self.phase.set(phase);
        self.since.set(self.context.now());
    }

    /// Called at every tick.
    fn check_time(&self) {
        let limits = &self.context.limits;
        let over = |since: Moment, limit: std::time::Duration| {
            u128::from(self.context.now().saturating_sub(since)) >= limit.as_millis()
        };
        let expired = match self.phase.get() {
            _ if self.blocked_since.get().is_some_and(|since| over(since, limits.write_idle)) => Some(Expired::Write),
            Phase::Head if over(self.since.get(), limits.header_time) => Some(Expired::Head),
            Phase::Idle if over(self.since.get(), limits.keep_alive) => Some(Expired::Idle),
            _ => None,
        };
        if expired.is_some() {
            self.expired.set(expired);
            self.since.set(self.context.now());
            self.wake();
        }
    }

    fn remember(&self, waker: &Waker) {
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

//! A thread that serves: it accepts connections and runs them until it is told to end.
//!
//! Everything of a connection, and all that the application does for it, happens on the thread that accepted it.

mod alone;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use skep::{Peer, Site};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::connection::{self, Context, Guest, Limits, Plain, Share, Socket};
use crate::listener::Listener;
use crate::log::AccessLog;
use crate::seat::Place;

pub(crate) use alone::Alone;

/// What a worker needs; it is made on one thread and runs on another.
pub(crate) struct Worker {
    pub(crate) site: Arc<Site>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) limits: Limits,
    pub(crate) tls_handshake: Duration,
    pub(crate) grace: Duration,
    pub(crate) access: Option<AccessLog>,
    pub(crate) room: Room,
    pub(crate) life: watch::Receiver<Life>,
    /// Where this thread shows that it runs, if somebody watches.
    pub(crate) place: Option<Place>,
    pub(crate) share: Share,
}

/// What the server asks of its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Life {
    /// Everything is ready, and nothing is accepted yet.
    Wait,
    Serve,
    /// Others accept what comes; finish what runs, and let connections end with their next answer.
    Leave,
    /// Accept what waits in the queue and nothing more, finish what runs.
    Drain,
}

/// How long connections that are kept may wait for one more request when their worker leaves. A client that sends just then
/// gets its answer, and learns from it that the connection ends.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// How often a thread shows that it runs.
const BEAT: Duration = Duration::from_millis(500);

/// How many connections there may be, in all workers together.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    taken: Arc<AtomicUsize>,
    most: usize,
}

/// A connection's part of the room.
#[derive(Debug)]
struct Part {
    taken: Arc<AtomicUsize>,
}

/// How many connections a worker turns away at the same time. Beyond it they are closed without a word.
const REFUSALS: usize = 64;

/// How long a worker waits when it cannot accept, for want of file descriptors say.
const PAUSE: Duration = Duration::from_millis(50);

impl Worker {
    /// Serves until it is told to drain and all is done, or the time for that is up.
    pub(crate) fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build_local(tokio::runtime::LocalOptions::default())?;
        runtime.block_on(self.serve())
    }

    async fn serve(self) -> io::Result<()> {
        let Self { site, listeners, tls, limits, tls_handshake, grace, access, room, mut life, place, share } = self;
        let context = Context::new(site.local(), limits, access, place.clone(), share);
        tokio::task::spawn_local(Rc::clone(&context).keep_time());
        if let Some(place) = place {
            place.slot().take();
            tokio::task::spawn_local(beat(place));
        }
        let _ = life.wait_for(|life| *life != Life::Wait).await;
        let door = Rc::new(Door { context: Rc::clone(&context), tls, tls_handshake, room, refusals: Rc::default() });
        let mut accepting = Vec::new();
        for listener in listeners {
            accepting.push(tokio::task::spawn_local(accept(Rc::clone(&door), Acceptor::new(listener)?, life.clone())));
        }
        drop(door);
        // The server is gone, or wants us to end, or we had our share.
        either(life.wait_for(|life| *life != Life::Serve), context.is_spent()).await;
        if *life.borrow() != Life::Drain {
            context.leave();
        }
        for accepting in accepting {
            if let Err(error) = accepting.await {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        if context.is_leaving() {
            context.show_leaving();
            let drain = life.wait_for(|life| *life == Life::Drain);
            let _ = tokio::time::timeout(LINGER.min(grace), either(drain, context.all_gone())).await;
        }
        context.drain();
        if tokio::time::timeout(grace, context.all_gone()).await.is_err() {
            tracing::warn!(connections = context.count(), "cut connections that were not done in time");
        }
        Ok(())
    }
}

/// Never returns. A thread that hangs in a handler does not get here.
async fn beat(place: Place) {
    loop {
        place.slot().beat();
        tokio::time::sleep(BEAT).await;
    }
}

/// Waits for the one or the other.
async fn either<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    std::future::poll_fn(|cx| {
        let ready = one.as_mut().poll(cx).is_ready() || other.as_mut().poll(cx).is_ready();
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// What happens to a connection that was accepted.
struct Door {
    context: Rc<Context>,
    tls: Option<TlsAcceptor>,
    tls_handshake: Duration,
    room: Room,
    refusals: Rc<()>,
}

impl Door {
    fn enter(self: &Rc<Self>, plain: Plain, peer: Peer) {
        let Some(part) = self.room.take() else { return self.refuse(plain) };
        let (door, guest) = (Rc::clone(self), self.context.welcome());
        tokio::task::spawn_local(async move {
            let _part = part;
            let tls = door.tls.as_ref().filter(|_| matches!(plain, Plain::Tcp(_)));
            let Some(tls) = tls else {
                return connection::serve(guest, Socket::Plain(plain), peer, false).await;
            };
            // In a box of its own, so that connections without TLS do not hold room for it.
            Box::pin(door.encrypt(guest, tls, plain, peer)).await;
        });
    }

    async fn encrypt(&self, guest: Guest, tls: &TlsAcceptor, plain: Plain, peer: Peer) {
        match tokio::time::timeout(self.tls_handshake, tls.accept(plain)).await {
            Ok(Ok(stream)) => {
                let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let peer = Peer::new(peer.address, true);
                connection::serve(guest, Socket::Tls(Box::new(stream)), peer, http2).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake took too long"),
        }
    }

    fn refuse(self: &Rc<Self>, plain: Plain) {
        // An answer over TLS would cost a handshake: the very work there is no room for.
        if self.tls.is_some() || Rc::strong_count(&self.refusals) > REFUSALS {
            return;
        }
        let (door, counted) = (Rc::clone(self), Rc::clone(&self.refusals));
        tokio::task::spawn_local(async move {
            connection::refuse(&door.context, Socket::Plain(plain)).await;
            drop(counted);
        });
    }
}

/// A listening socket in the hands of the runtime.
enum Acceptor {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Acceptor {
    fn new(listener: Listener) -> io::Result<Self> {
        Ok(match listener {
            Listener::Tcp(socket) => Self::Tcp(TcpListener::from_std(socket)?),
            Listener::Unix(socket) => Self::Unix(UnixListener::from_std(socket)?),
        })
    }

    async fn accept(&self) -> io::Result<(Plain, Peer)> {
        match self {
            Self::Tcp(socket) => {
                let (stream, address) = socket.accept().await?;
                tcp(stream, address)
            }
            Self::Unix(socket) => Ok((Plain::Unix(socket.accept().await?.0), Peer::new(None, false))),
        }
    }

    /// The socket as it was. The runtime knows only of connections that had come when it last looked; of this one the system says.
    fn into_listener(self) -> io::Result<Listener> {
        Ok(match self {
            Self::Tcp(socket) => Listener::Tcp(socket.into_std()?),
            Self::Unix(socket) => Listener::Unix(socket.into_std()?),
        })
    }
}

fn tcp(stream: TcpStream, address: SocketAddr) -> io::Result<(Plain, Peer)> {
    // Answers leave whole; waiting for more would only delay them.
    stream.set_nodelay(true)?;
    Ok((Plain::Tcp(stream), Peer::new(Some(address), false)))
}

/// A connection that has come already.
fn accept_now(listener: &Listener) -> io::Result<(Plain, Peer)> {
    match listener {
        Listener::Tcp(socket) => {
            let (stream, address) = socket.accept()?;
            stream.set_nonblocking(true)?;
            tcp(TcpStream::from_std(stream)?, address)
        }
        Listener::Unix(socket) => {
            let (stream, _) = socket.accept()?;
            stream.set_nonblocking(true)?;
            Ok((Plain::Unix(UnixStream::from_std(stream)?), Peer::new(None, false)))
        }
    }
}

/// Accepts until the worker ends. If it drains, the queue is emptied, since what waits there would be reset with the
/// socket; if it leaves, the queue is for others.
async fn accept(door: Rc<Door>, acceptor: Acceptor, mut life: watch::Receiver<Life>) {
    let (context, told) = (Rc::clone(&door.context), life.clone());
    let mut draining = pin!(either(
        async move {
            let _ = life.wait_for(|life| *life != Life::Serve).await;
        },
        context.starts_leaving()
    ));
    loop {
        either(door.context.has_turn(), draining.as_mut()).await;
        if door.context.is_leaving() {
            return;
        }
        let accepted = {
            let mut accepting = pin!(acceptor.accept());
            std::future::poll_fn(|cx| match accepting.as_mut().poll(cx) {
                std::task::Poll::Pending if draining.as_mut().poll(cx).is_ready() => std::task::Poll::Ready(None),
                accepted => accepted.map(Some),
            })
            .await
        };
        match accepted {
            Some(Ok((plain, peer))) => door.enter(plain, peer),
            Some(Err(error)) if is_the_clients(&error) => {}
            Some(Err(error)) => {
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(PAUSE).await;
            }
            None => break,
        }
    }
    if *told.borrow() != Life::Drain {
        return;
    }
    let Ok(listener) = acceptor.into_listener() else { return };
    loop {
        match accept_now(&listener) {
            Ok((plain, peer)) => door.enter(plain, peer),
            Err(error) if is_the_clients(&error) => {}
            Err(_) => return,
        }
    }
}

/// The client left before we could say hello.
fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotConnected
    )
}

impl Room {
    /// Room for so many.
    pub(crate) fn new(most: usize) -> Self {
        Self { taken: Arc::default(), most }
    }

    fn take(&self) -> Option<Part> {
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        let part = Part { taken: Arc::clone(&self.taken) };
        (before < self.most).then_some(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

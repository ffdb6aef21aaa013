//! A thread that serves: it accepts connections and runs them until it is stopped.
//!
//! Everything that happens for a connection, the application included, happens on the thread that accepted it.

mod connection_limit;
mod process;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use skep::{Peer, Site};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::connection::{self, ConnectionGuard, Context, Limits, Plain, RequestBudget, Rules, Socket};
use crate::handoff::SlotRef;
use crate::listener::Listener;
use crate::log::AccessLog;
use crate::proxies;
use crate::worker_state::{LINGER, WorkerState};

pub(crate) use connection_limit::{ConnectionLimit, MAX_REJECTIONS};
pub(crate) use process::ProcessWorker;

/// The parts of a worker. It is created on one thread and runs on another.
pub(crate) struct Worker {
    pub(crate) site: Arc<Site>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) limits: Limits,
    pub(crate) rules: Arc<Rules>,
    pub(crate) tls_handshake: Duration,
    pub(crate) grace: Duration,
    pub(crate) access: Option<AccessLog>,
    pub(crate) connections: ConnectionLimit,
    pub(crate) state: watch::Receiver<WorkerState>,
    /// The slot of the scoreboard, if there is a supervisor.
    pub(crate) slot_ref: Option<SlotRef>,
    pub(crate) budget: RequestBudget,
}

/// How often a thread updates its heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// How long a worker waits after `accept` has failed, for instance because there are too many open files.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

impl Worker {
    /// Serves until the worker is stopped and its requests are finished or out of time.
    pub(crate) fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build_local(tokio::runtime::LocalOptions::default())?;
        runtime.block_on(self.serve())
    }

    async fn serve(self) -> io::Result<()> {
        let Self { mut state, slot_ref, grace, tls, tls_handshake, connections, .. } = self;
        let context =
            Context::new(self.site.local(), self.limits, self.rules, self.access, slot_ref.clone(), self.budget);
        tokio::task::spawn_local(Rc::clone(&context).run_timer());
        if let Some(slot_ref) = slot_ref {
            slot_ref.slot().claim();
            tokio::task::spawn_local(heartbeat(slot_ref));
        }
        let _ = state.wait_for(|state| *state != WorkerState::Standby).await;
        let acceptor = Rc::new(Acceptor { context: Rc::clone(&context), tls, tls_handshake, connections });
        let mut accepting = Vec::new();
        for listener in self.listeners {
            let listener = AsyncListener::new(listener)?;
            accepting.push(tokio::task::spawn_local(accept(Rc::clone(&acceptor), listener, state.clone())));
        }
        drop(acceptor);
        select(state.wait_for(|state| *state != WorkerState::Serving), context.is_exhausted()).await;
        if *state.borrow() != WorkerState::Draining {
            context.retire();
        }
        for accepting in accepting {
            if let Err(error) = accepting.await {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        if context.is_retiring() {
            context.publish_retiring();
            let drain = state.wait_for(|state| *state == WorkerState::Draining);
            let _ = tokio::time::timeout(LINGER.min(grace), select(drain, context.closed())).await;
        }
        context.drain();
        if tokio::time::timeout(grace, context.closed()).await.is_err() {
            tracing::warn!(connections = context.count(), "closed connections that were not finished in time");
        }
        Ok(())
    }
}

/// Never returns. A thread that hangs in a handler does not get here.
async fn heartbeat(slot_ref: SlotRef) {
    loop {
        slot_ref.slot().beat();
        tokio::time::sleep(HEARTBEAT_INTERVAL).await;
    }
}

/// Waits for either future.
async fn select<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    std::future::poll_fn(|cx| {
        let ready = one.as_mut().poll(cx).is_ready() || other.as_mut().poll(cx).is_ready();
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// Admits accepted connections, or rejects them.
struct Acceptor {
    context: Rc<Context>,
    tls: Option<TlsAcceptor>,
    tls_handshake: Duration,
    connections: ConnectionLimit,
}

impl Acceptor {
    fn admit(self: &Rc<Self>, plain: Plain, peer: Peer) {
        let is_proxy = self.context.rules.proxies.includes(peer);
        let address = peer.address.filter(|_| !is_proxy).map(|address| address.ip());
        let Some(permit) = self.connections.acquire(address) else { return self.reject(plain) };
        let (acceptor, guard) = (Rc::clone(self), self.context.register());
        tokio::task::spawn_local(async move {
            let _permit = permit;
            let Some((plain, peer)) = acceptor.read_proxy_header(plain, peer).await else { return };
            let tls = acceptor.tls.as_ref().filter(|_| matches!(plain, Plain::Tcp(_)));
            let Some(tls) = tls else {
                return connection::serve(guard, Socket::Plain(plain), peer, false).await;
            };
            // Boxed, so that connections without TLS take no memory for it.
            Box::pin(acceptor.serve_tls(guard, tls, plain, peer)).await;
        });
    }

    /// Reads the PROXY header that a trusted proxy sends first. `None`: there is no valid one.
    async fn read_proxy_header(&self, mut plain: Plain, peer: Peer) -> Option<(Plain, Peer)> {
        let rules = &self.context.rules;
        if !rules.proxy_protocol || !rules.proxies.includes(peer) {
            return Some((plain, peer));
        }
        let header = Box::pin(proxies::read_header(&mut plain, peer));
        match tokio::time::timeout(self.context.limits.header_time, header).await {
            Ok(Ok(client)) => Some((plain, client)),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a trusted proxy sent no valid PROXY header: see proxies.protocol");
                None
            }
            Err(_) => None,
        }
    }

    async fn serve_tls(&self, guard: ConnectionGuard, tls: &TlsAcceptor, plain: Plain, peer: Peer) {
        let mut handshake = pin!(tls.accept(plain));
        let accepted = async {
            if let Ok(accepted) = tokio::time::timeout(connection::PROMPT, handshake.as_mut()).await {
                return accepted;
            }
            guard.release_reservation();
            handshake.await
        };
        match tokio::time::timeout(self.tls_handshake, accepted).await {
            Ok(Ok(stream)) => {
                let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let peer = Peer::new(peer.address, true);
                connection::serve(guard, Socket::Tls(Box::new(stream)), peer, http2).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake timed out"),
        }
    }

    fn reject(self: &Rc<Self>, plain: Plain) {
        // A response over TLS would need a handshake, the very work that is to be avoided.
        let Some(permit) = self.connections.acquire_rejection().filter(|_| self.tls.is_none()) else { return };
        let acceptor = Rc::clone(self);
        tokio::task::spawn_local(async move {
            connection::reject(&acceptor.context, Socket::Plain(plain)).await;
            drop(permit);
        });
    }
}

/// A listening socket that is registered with the runtime.
enum AsyncListener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl AsyncListener {
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

    /// The socket without the runtime, which only knows the connections that had arrived when it last polled.
    fn into_listener(self) -> io::Result<Listener> {
        Ok(match self {
            Self::Tcp(socket) => Listener::Tcp(socket.into_std()?),
            Self::Unix(socket) => Listener::Unix(socket.into_std()?),
        })
    }
}

fn tcp(stream: TcpStream, address: SocketAddr) -> io::Result<(Plain, Peer)> {
    // Responses are written whole; Nagle's algorithm would only delay them.
    stream.set_nodelay(true)?;
    Ok((Plain::Tcp(stream), Peer::new(Some(address), false)))
}

/// Accepts a connection that waits in the queue.
fn accept_queued(listener: &Listener) -> io::Result<(Plain, Peer)> {
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

/// Accepts until the worker stops. If it drains, the queue is emptied first: connections that wait there would be reset when the socket is
/// closed. If it retires, the queue is left to its successor.
async fn accept(acceptor: Rc<Acceptor>, listener: AsyncListener, mut state: watch::Receiver<WorkerState>) {
    let (context, current) = (Rc::clone(&acceptor.context), state.clone());
    let mut stopping = pin!(select(
        async move {
            let _ = state.wait_for(|state| *state != WorkerState::Serving).await;
        },
        context.retires()
    ));
    loop {
        select(acceptor.context.has_permit(), stopping.as_mut()).await;
        if acceptor.context.is_retiring() {
            return;
        }
        let accepted = {
            let mut accepting = pin!(listener.accept());
            std::future::poll_fn(|cx| match accepting.as_mut().poll(cx) {
                std::task::Poll::Pending if stopping.as_mut().poll(cx).is_ready() => std::task::Poll::Ready(None),
                accepted => accepted.map(Some),
            })
            .await
        };
        match accepted {
            Some(Ok((plain, peer))) => acceptor.admit(plain, peer),
            Some(Err(error)) if is_client_error(&error) => {}
            Some(Err(error)) => {
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
            None => break,
        }
    }
    if *current.borrow() != WorkerState::Draining {
        return;
    }
    let Ok(listener) = listener.into_listener() else { return };
    loop {
        match accept_queued(&listener) {
            Ok((plain, peer)) => acceptor.admit(plain, peer),
            Err(error) if is_client_error(&error) => {}
            Err(_) => return,
        }
    }
}

/// True if the client closed the connection before it was accepted.
fn is_client_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotConnected
    )
}

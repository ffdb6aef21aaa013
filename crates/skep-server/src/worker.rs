//! A thread that serves: it accepts connections and runs them until it is stopped.
//!
//! Everything that happens for a connection, the application included, happens on the thread that accepted it.

mod connection_limit;
mod process;

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use skep::{Peer, Site};
use skep_observe::log::AccessLog;
use skep_observe::metrics::{Counter, Recorder};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::watch;

use crate::connection::{self, ConnectionGuard, Context, Limits, Plain, RequestBudget, Rules, Socket};
use crate::handoff::SlotRef;
use crate::listener::{self, AcceptedSocket, Listener};
use crate::proxies;
use crate::worker_state::{LINGER, WorkerState};
use crate::{
    sys::{self, ticker::Ticker},
    tls,
};

pub(crate) use connection_limit::{ConnectionLimit, MAX_REJECTIONS};
pub(crate) use process::ProcessWorker;

/// The parts of a worker. It is created on one thread and runs on another.
pub(crate) struct Worker {
    pub(crate) site: Arc<Site>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) tls: Option<tls::Acceptor>,
    pub(crate) limits: Limits,
    pub(crate) rules: Arc<Rules>,
    pub(crate) grace: Duration,
    pub(crate) access: Option<AccessLog>,
    pub(crate) metrics: Option<Recorder>,
    pub(crate) connections: ConnectionLimit,
    pub(crate) state: watch::Receiver<WorkerState>,
    /// The slot of the scoreboard, if there is one.
    pub(crate) slot_ref: Option<SlotRef>,
    pub(crate) budget: RequestBudget,
}

/// How often a thread updates its heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// The type of the first record of a TLS connection.
const TLS_HANDSHAKE: u8 = 22;

/// How long a worker waits after `accept` has failed, for instance because there are too many open files.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

impl Worker {
    /// Serves until the worker is stopped and its requests are finished or out of time.
    pub(crate) fn run(self) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
        runtime.block_on(self.serve())
    }

    async fn serve(self) -> io::Result<()> {
        let (mut state, slot_ref, grace) = (self.state.clone(), self.slot_ref.clone(), self.grace);
        let (acceptor, listeners) = self.split();
        let context = Rc::clone(&acceptor.context);
        tokio::task::spawn_local(Rc::clone(&context).run_timer());
        if let Some(slot_ref) = slot_ref {
            slot_ref.slot().claim();
            tokio::task::spawn_local(heartbeat(slot_ref, Rc::clone(&context)));
        }
        let _ = state.wait_for(|state| *state != WorkerState::Standby).await;
        let mut accepting = Vec::new();
        for Listener { socket, is_tcp } in listeners {
            let socket = sys::async_fd(socket)?;
            accepting.push(tokio::task::spawn_local(accept(Rc::clone(&acceptor), socket, is_tcp, state.clone())));
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
            let _ = tokio::time::timeout(LINGER.min(grace), select(drain, context.empty())).await;
        }
        context.drain();
        if tokio::time::timeout(grace, context.empty()).await.is_err() {
            tracing::warn!(connections = context.count(), "closed connections that were not finished in time");
        }
        Ok(())
    }

    /// What admits connections on this thread, and the listeners to accept them from.
    fn split(self) -> (Rc<Acceptor>, Vec<Listener>) {
        let (local, unsent) = (self.site.local(), self.connections.unsent());
        let observers = (self.access, self.metrics);
        let context = Context::new(local, &self.limits, self.rules, observers, self.slot_ref, self.budget, unsent);
        (Rc::new(Acceptor { context, tls: self.tls, connections: self.connections }), self.listeners)
    }
}

/// Never returns. A thread that hangs in a handler does not get here.
async fn heartbeat(slot_ref: SlotRef, context: Rc<Context>) {
    let mut ticker = Ticker::default();
    loop {
        slot_ref.slot().beat();
        context.show_activity();
        ticker.wait(HEARTBEAT_INTERVAL).await;
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
    tls: Option<tls::Acceptor>,
    connections: ConnectionLimit,
}

impl Acceptor {
    fn admit(self: &Rc<Self>, accepted: AcceptedSocket) {
        let peer = Peer::new(accepted.address, false);
        let plain = match Plain::register(accepted) {
            Ok(plain) => plain,
            Err(error) => return tracing::debug!(%error, "the client closed its connection at once"),
        };
        let is_proxy = self.context.rules.proxies.includes(peer);
        let client = if is_proxy { Peer::default() } else { peer };
        self.context.count_event(Counter::Accepted);
        let Some(permit) = self.connections.acquire(client) else {
            self.context.count_event(Counter::Connections);
            return self.reject(plain);
        };
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

    /// Serves a connection with TLS, or redirects one without: the first byte tells them apart (RFC 8446, 5.1).
    async fn serve_tls(&self, guard: ConnectionGuard, tls: &tls::Acceptor, plain: Plain, peer: Peer) {
        let mut handshake = pin!(async {
            match plain.first_byte().await? {
                Some(TLS_HANDSHAKE) => tls.accept(plain).await.map(|stream| Socket::Tls(Box::new(stream))),
                Some(_) => Ok(Socket::Plain(plain)),
                None => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        });
        let accepted = async {
            if let Ok(accepted) = tokio::time::timeout(connection::PROMPT, handshake.as_mut()).await {
                return accepted;
            }
            guard.release_reservation();
            handshake.await
        };
        match tokio::time::timeout(self.context.limits.tls_handshake, accepted).await {
            Ok(Ok(Socket::Tls(stream))) => {
                let http2 = tls::is_http2(&stream);
                let peer = Peer::new(peer.address, true);
                connection::serve(guard, Socket::Tls(stream), peer, http2).await;
            }
            Ok(Ok(plain)) => connection::serve(guard, plain, peer, false).await,
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

/// Accepts until the worker stops. If it drains, the queue is emptied first: connections that wait there would be reset
/// when the socket is closed. If it retires, the queue is left to its successor.
async fn accept(
    acceptor: Rc<Acceptor>,
    socket: AsyncFd<OwnedFd>,
    is_tcp: bool,
    mut state: watch::Receiver<WorkerState>,
) {
    let (context, current) = (Rc::clone(&acceptor.context), state.clone());
    let stops = || *current.borrow() != WorkerState::Serving || acceptor.context.is_retiring();
    let mut stopping = pin!(select(
        async move {
            let _ = state.wait_for(|state| *state != WorkerState::Serving).await;
        },
        context.retires()
    ));
    loop {
        select(acceptor.context.has_permit(), stopping.as_mut()).await;
        // Before each connection: a thread that was busy in a handler must not take one from its successor.
        if stops() {
            break;
        }
        let accepted = {
            let mut accepting = pin!(socket.async_io(Interest::READABLE, |socket| listener::accept(socket, is_tcp)));
            std::future::poll_fn(|cx| match stopping.as_mut().poll(cx) {
                std::task::Poll::Ready(()) => std::task::Poll::Ready(None),
                std::task::Poll::Pending => accepting.as_mut().poll(cx).map(Some),
            })
            .await
        };
        match accepted {
            Some(Ok(accepted)) => acceptor.admit(accepted),
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
    loop {
        match listener::accept(socket.get_ref(), is_tcp) {
            Ok(accepted) => acceptor.admit(accepted),
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

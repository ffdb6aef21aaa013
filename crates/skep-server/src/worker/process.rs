//! A worker that is a process, one of several that accept from the same sockets (`prefork`).
//!
//! While it has no connection it waits in an epoll of its own, exclusively, so that the kernel wakes one waiting process and not
//! all. Its runtime only runs while there are connections.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::SocketFlags;
use skep::Peer;
use tokio::io::unix::AsyncFd;
use tokio::runtime::LocalRuntime;

use super::{Acceptor, Worker, heartbeat, select};
use crate::connection::{Context, Plain};
use crate::handoff::SlotRef;
use crate::listener::Listener;
use crate::sys;
use crate::sys::scoreboard;
use crate::worker_state::{LINGER, WorkerState};

/// A worker that is a process.
pub(crate) struct ProcessWorker {
    pub(crate) worker: Worker,
    /// TERM: drain; USR1: retire; USR2: report the status of the application; QUIT: exit at once.
    pub(crate) signals: OwnedFd,
    pub(crate) slot_ref: SlotRef,
    /// It serves one request and exits.
    pub(crate) single: bool,
}

enum Event {
    Connection(AcceptedStream),
    Signal,
}

/// A connection that is not yet registered with a runtime.
enum AcceptedStream {
    Tcp(std::net::TcpStream, std::net::SocketAddr),
    Unix(std::os::unix::net::UnixStream),
}

impl AcceptedStream {
    fn register(self) -> io::Result<(Plain, Peer)> {
        Ok(match self {
            Self::Tcp(stream, address) => {
                stream.set_nodelay(true)?;
                (Plain::Tcp(tokio::net::TcpStream::from_std(stream)?), Peer::new(Some(address), false))
            }
            Self::Unix(stream) => (Plain::Unix(tokio::net::UnixStream::from_std(stream)?), Peer::new(None, false)),
        })
    }
}

impl ProcessWorker {
    /// Serves until the process is stopped or its request quota is used up. `on_connection` is called for the first connection after an idle
    /// time, `report` when a status report is requested.
    pub(crate) fn run(self, on_connection: impl Fn(), report: &dyn Fn()) -> io::Result<()> {
        let Self { worker, signals, slot_ref, single } = self;
        slot_ref.slot().claim();
        let poller = Poller::new(worker.listeners, signals, report)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            // The runtime allocates and touches this many events when it starts.
            .max_io_events_per_tick(if single { 8 } else { 256 })
            .build_local(tokio::runtime::LocalOptions::default())?;
        let slot = Some(slot_ref.clone());
        let context =
            Context::new(worker.site.local(), worker.limits, worker.rules, worker.access, slot, worker.budget);
        let acceptor = Rc::new(Acceptor {
            context,
            tls: worker.tls,
            tls_handshake: worker.tls_handshake,
            connections: worker.connections,
        });
        let process = EventLoop { runtime, acceptor, slot_ref, grace: worker.grace };
        if single {
            process.serve_one(poller, on_connection)?;
        } else {
            process.serve_many(poller, on_connection)?;
        }
        // The process exits; freeing its memory would cost more than the request did.
        std::mem::forget(process);
        Ok(())
    }
}

struct EventLoop {
    runtime: LocalRuntime,
    acceptor: Rc<Acceptor>,
    slot_ref: SlotRef,
    grace: Duration,
}

impl EventLoop {
    /// Waits for one connection, and handles one request of it.
    fn serve_one(&self, poller: Poller<'_>, on_connection: impl Fn()) -> io::Result<()> {
        let Event::Connection(stream) = self.wait(&poller)? else {
            self.runtime.block_on(self.finish(poller, 1));
            return Ok(());
        };
        self.slot_ref.slot().busy.store(scoreboard::now(), Ordering::Relaxed);
        on_connection();
        self.runtime.block_on(async {
            self.start_tasks();
            admit(&self.acceptor, stream);
            // Closes the listeners. If this process held the last open copy, clients would wait in a queue that nobody serves.
            drop(poller);
            // A signal that arrives now is not needed: the process is about to exit.
            self.acceptor.context.empty().await;
        });
        Ok(())
    }

    /// Serves until the process is stopped or its request quota is used up.
    fn serve_many(&self, poller: Poller<'_>, on_connection: impl Fn()) -> io::Result<()> {
        let mut shared = None;
        while let Event::Connection(stream) = self.wait(&poller)? {
            on_connection();
            let state = self.runtime.block_on(async {
                let shared = match &shared {
                    Some(shared) => Rc::clone(shared),
                    None => {
                        self.start_tasks();
                        Rc::clone(shared.insert(Rc::new(sys::async_fd(poller.epoll.try_clone()?)?)))
                    }
                };
                admit(&self.acceptor, stream);
                serve(&self.acceptor, &poller, &shared).await
            })?;
            if state != WorkerState::Serving || self.acceptor.context.budget.is_exhausted() {
                break;
            }
        }
        self.runtime.block_on(self.finish(poller, usize::MAX));
        std::mem::forget(shared);
        Ok(())
    }

    fn wait(&self, poller: &Poller<'_>) -> io::Result<Event> {
        let slot = self.slot_ref.slot();
        // A process that waits here does not hang.
        slot.heartbeat.store(u64::MAX, Ordering::Relaxed);
        let event = poller.wait();
        slot.beat();
        event
    }

    fn start_tasks(&self) {
        tokio::task::spawn_local(Rc::clone(&self.acceptor.context).run_timer());
        tokio::task::spawn_local(heartbeat(self.slot_ref.clone()));
    }

    /// Finishes requests. If the process drains, it first accepts at most `most` connections from the queue; if it retires, it accepts none.
    async fn finish(&self, poller: Poller<'_>, most: usize) {
        let (context, grace) = (&self.acceptor.context, self.grace);
        if poller.state() == WorkerState::Draining {
            for stream in std::iter::from_fn(|| poller.accept()).take(most) {
                admit(&self.acceptor, stream);
                tokio::task::yield_now().await;
            }
            // New clients are refused from here on, and do not wait in vain.
            drop(poller);
        } else {
            context.retire();
            drop(poller);
            context.publish_retiring();
            let _ = tokio::time::timeout(LINGER.min(grace), context.empty()).await;
        }
        context.drain();
        if tokio::time::timeout(grace, context.empty()).await.is_err() {
            tracing::warn!(connections = context.count(), "closed connections that were not finished in time");
        }
    }
}

fn admit(acceptor: &Rc<Acceptor>, stream: AcceptedStream) {
    match stream.register() {
        Ok((plain, peer)) => acceptor.admit(plain, peer),
        Err(error) => tracing::debug!(%error, "the client closed its connection at once"),
    }
}

/// Serves the open connections, and accepts more, until none is left or the process is stopped.
async fn serve(acceptor: &Rc<Acceptor>, poller: &Poller<'_>, shared: &AsyncFd<OwnedFd>) -> io::Result<WorkerState> {
    let context = &acceptor.context;
    loop {
        let over = select(context.empty(), context.is_exhausted());
        let mut ready = None;
        select(over, async {
            context.has_permit().await;
            ready = Some(shared.readable().await);
        })
        .await;
        let state = poller.state();
        if state != WorkerState::Serving || context.budget.is_exhausted() || context.is_empty() {
            return Ok(state);
        }
        let Some(ready) = ready else { continue };
        let mut ready = ready?;
        while context.budget.has_permit() {
            let Some(stream) = poller.accept() else {
                // The queue is empty, so the epoll has nothing more to report.
                ready.clear_ready();
                break;
            };
            admit(acceptor, stream);
        }
    }
}

/// Waits for listening sockets and signals together.
struct Poller<'r> {
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    signals: OwnedFd,
    report: &'r dyn Fn(),
    state: std::cell::Cell<WorkerState>,
}

impl<'r> Poller<'r> {
    fn new(listeners: Vec<Listener>, signals: OwnedFd, report: &'r dyn Fn()) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &signals, EventData::new_u64(0), EventFlags::IN)?;
        for listener in &listeners {
            epoll::add(&epoll, listener.as_fd(), EventData::new_u64(1), EventFlags::IN | EventFlags::EXCLUSIVE)?;
        }
        Ok(Self { epoll, listeners, signals, report, state: std::cell::Cell::new(WorkerState::Serving) })
    }

    /// Waits for a connection that no other process has accepted, or a signal.
    fn wait(&self) -> io::Result<Event> {
        loop {
            if self.state() != WorkerState::Serving {
                return Ok(Event::Signal);
            }
            if let Some(stream) = self.accept() {
                return Ok(Event::Connection(stream));
            }
            let mut events = [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 4];
            match epoll::wait(&self.epoll, &mut events, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Handles the signals that have arrived, and returns the state that they have led to.
    fn state(&self) -> WorkerState {
        for signal in sys::signals::received(&self.signals) {
            self.state.set(match signal {
                libc::SIGTERM => WorkerState::Draining,
                libc::SIGUSR1 => self.state.get().max(WorkerState::Retiring),
                libc::SIGUSR2 => {
                    (self.report)();
                    continue;
                }
                _ => std::process::exit(131),
            });
        }
        self.state.get()
    }

    fn accept(&self) -> Option<AcceptedStream> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        self.listeners.iter().find_map(|listener| match listener {
            Listener::Tcp(socket) => {
                let (stream, address) = rustix::net::acceptfrom_with(socket, flags).ok()?;
                Some(AcceptedStream::Tcp(stream.into(), address?.try_into().ok()?))
            }
            Listener::Unix(socket) => Some(AcceptedStream::Unix(rustix::net::accept_with(socket, flags).ok()?.into())),
        })
    }
}

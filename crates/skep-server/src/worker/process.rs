//! A worker that is a process, one of several that accept from the same sockets (`prefork`).
//!
//! While it has no connection it waits in an epoll of its own, exclusively, so that the kernel wakes one waiting
//! process and not all. Its runtime only runs while there are connections.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use skep_observe::clock::monotonic_millis;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::{Acceptor, Worker, heartbeat, select};
use crate::handoff::SlotRef;
use crate::listener::{self, AcceptedSocket, Listener};
use crate::sys;
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

impl ProcessWorker {
    /// Serves until the process is stopped or its request quota is used up. `on_connection` is called for the first
    /// connection after an idle time, `report` when a status report is requested.
    pub(crate) fn run(self, on_connection: impl Fn(), report: &dyn Fn()) -> io::Result<()> {
        let Self { worker, signals, slot_ref, single } = self;
        slot_ref.slot().claim();
        let grace = worker.grace;
        let (acceptor, listeners) = worker.split();
        let poller = Poller::new(listeners, signals, report)?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            // The runtime allocates and touches this many events when it starts.
            .max_io_events_per_tick(if single { 8 } else { 256 })
            .build_local(LocalOptions::default())?;
        let process = EventLoop { runtime, acceptor, slot_ref, grace };
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
        let Some(accepted) = self.wait(&poller)? else {
            self.runtime.block_on(self.finish(poller, 1));
            return Ok(());
        };
        self.slot_ref.slot().busy.store(monotonic_millis(), Ordering::Relaxed);
        on_connection();
        self.runtime.block_on(async {
            self.start_tasks();
            self.acceptor.admit(accepted);
            // Closes the listeners. If this process held the last open copy, clients would wait in a queue that nobody
            // serves.
            let Poller { epoll, listeners, signals, .. } = poller;
            drop((epoll, listeners));
            let (context, signals) = (&self.acceptor.context, sys::async_fd(signals)?);
            select(context.empty(), signals.readable()).await;
            // The process exits soon in any case; a WebSocket and other streams without an end have to be told so.
            context.drain();
            context.empty().await;
            Ok(())
        })
    }

    /// Serves until the process is stopped or its request quota is used up.
    fn serve_many(&self, poller: Poller<'_>, on_connection: impl Fn()) -> io::Result<()> {
        let mut shared = None;
        while let Some(accepted) = self.wait(&poller)? {
            on_connection();
            let state = self.runtime.block_on(async {
                let shared = match &shared {
                    Some(shared) => Rc::clone(shared),
                    None => {
                        self.start_tasks();
                        Rc::clone(shared.insert(Rc::new(poller.events()?)))
                    }
                };
                self.acceptor.admit(accepted);
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

    fn wait(&self, poller: &Poller<'_>) -> io::Result<Option<AcceptedSocket>> {
        let slot = self.slot_ref.slot();
        // A process that waits here does not hang.
        slot.heartbeat.store(u64::MAX, Ordering::Relaxed);
        let event = poller.wait();
        slot.beat();
        event
    }

    fn start_tasks(&self) {
        tokio::task::spawn_local(Rc::clone(&self.acceptor.context).run_timer());
        tokio::task::spawn_local(heartbeat(self.slot_ref.clone(), Rc::clone(&self.acceptor.context)));
    }

    /// Finishes requests. If the process drains, it first accepts at most `most` connections from the queue; if it
    /// retires, it accepts none.
    async fn finish(&self, poller: Poller<'_>, most: usize) {
        let (context, linger) = (&self.acceptor.context, LINGER.min(self.grace));
        let is_draining = poller.state() == WorkerState::Draining;
        let finished = async {
            if is_draining {
                context.drain();
                // As long as this process has no permit, another one may have one for what waits in the queue.
                select(context.empty(), context.has_permit()).await;
                for accepted in std::iter::from_fn(|| poller.accept()).take(most) {
                    self.acceptor.admit(accepted);
                    tokio::task::yield_now().await;
                }
                // New clients are refused from here on, and do not wait in vain.
                drop(poller);
            } else {
                context.retire();
                drop(poller);
                context.publish_retiring();
                let _ = tokio::time::timeout(linger, context.empty()).await;
                context.drain();
            }
            context.empty().await;
        };
        let patience = if is_draining { self.grace } else { linger + self.grace };
        if tokio::time::timeout(patience, finished).await.is_err() {
            tracing::warn!(connections = context.count(), "closed connections that were not finished in time");
        }
    }
}

/// Serves the open connections, and accepts more, until none is left or the process is stopped.
async fn serve(acceptor: &Rc<Acceptor>, poller: &Poller<'_>, events: &Events) -> io::Result<WorkerState> {
    let context = &acceptor.context;
    loop {
        let over = select(context.empty(), context.is_exhausted());
        let (mut ready, mut signalled) = (None, None);
        let accepting = async {
            context.has_permit().await;
            ready = Some(events.queue.readable().await);
        };
        // Not only while there is a permit: a request or a WebSocket may hold it for long.
        let signal = async { signalled = Some(events.signals.readable().await) };
        select(over, select(accepting, signal)).await;
        let state = poller.state();
        if let Some(signalled) = signalled {
            // After the state, for which all of them were read.
            signalled?.clear_ready();
        }
        if state != WorkerState::Serving || context.budget.is_exhausted() || context.is_empty() {
            return Ok(state);
        }
        let Some(ready) = ready else { continue };
        let mut ready = ready?;
        while context.budget.has_permit() {
            let Some(accepted) = poller.accept() else {
                // The queue is empty, so the epoll has nothing more to report.
                ready.clear_ready();
                break;
            };
            acceptor.admit(accepted);
        }
    }
}

/// What a process that has connections waits for, beside them.
struct Events {
    /// New connections, and signals.
    queue: AsyncFd<OwnedFd>,
    signals: AsyncFd<OwnedFd>,
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
            epoll::add(&epoll, &listener.socket, EventData::new_u64(1), EventFlags::IN | EventFlags::EXCLUSIVE)?;
        }
        Ok(Self { epoll, listeners, signals, report, state: std::cell::Cell::new(WorkerState::Serving) })
    }

    /// The same for a runtime.
    fn events(&self) -> io::Result<Events> {
        Ok(Events {
            queue: sys::async_fd(self.epoll.try_clone()?)?,
            signals: sys::async_fd(self.signals.try_clone()?)?,
        })
    }

    /// Waits for a connection that no other process has accepted. `None` after a signal.
    fn wait(&self) -> io::Result<Option<AcceptedSocket>> {
        loop {
            // Before the state: what wakes this process wakes no other one, so that a connection which it left would
            // wait for the next.
            if let Some(accepted) = self.accept() {
                return Ok(Some(accepted));
            }
            if self.state() != WorkerState::Serving {
                return Ok(None);
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

    fn accept(&self) -> Option<AcceptedSocket> {
        self.listeners.iter().find_map(|listener| listener::accept(&listener.socket, listener.is_tcp).ok())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/worker/process.rs"]
mod tests;

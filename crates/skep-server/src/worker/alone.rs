//! A worker that is a process of its own, one among several that accept from the same sockets.
//!
//! While it has no connection it waits in an epoll of its own, exclusively: the kernel wakes one of those who wait and not all
//! of them. Only then does its runtime begin to work.

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

use super::{Door, LINGER, Life, Worker, beat, either};
use crate::connection::{Context, Plain};
use crate::listener::Listener;
use crate::seat::Place;
use crate::sys;
use crate::sys::board;

/// A worker that is a process.
pub(crate) struct Alone {
    pub(crate) worker: Worker,
    /// TERM: drain; USR1: leave; USR2: tell how the application is; QUIT: end at once.
    pub(crate) signals: OwnedFd,
    pub(crate) place: Place,
    /// It takes one connection, and for one request.
    pub(crate) single: bool,
}

/// What arrived first.
enum Arrived {
    Connection(Visitor),
    Signals,
}

/// A connection that no runtime knows yet.
enum Visitor {
    Tcp(std::net::TcpStream, std::net::SocketAddr),
    Unix(std::os::unix::net::UnixStream),
}

impl Visitor {
    fn settle(self) -> io::Result<(Plain, Peer)> {
        Ok(match self {
            Self::Tcp(stream, address) => {
                stream.set_nodelay(true)?;
                (Plain::Tcp(tokio::net::TcpStream::from_std(stream)?), Peer::new(Some(address), false))
            }
            Self::Unix(stream) => (Plain::Unix(tokio::net::UnixStream::from_std(stream)?), Peer::new(None, false)),
        })
    }
}

impl Alone {
    /// Serves until it is told to end or had its share of requests. `on_first` is called when it has a connection and had none, `tell` when
    /// somebody wants to know how the application is.
    pub(crate) fn run(self, on_first: impl Fn(), tell: &dyn Fn()) -> io::Result<()> {
        let Self { worker, signals, place, single } = self;
        place.slot().take();
        let gate = Gate::new(worker.listeners, signals, tell)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            // Room for as many events is made and touched at the start.
            .max_io_events_per_tick(if single { 8 } else { 256 })
            .build_local(tokio::runtime::LocalOptions::default())?;
        let context =
            Context::new(worker.site.local(), worker.limits, worker.access, Some(place.clone()), worker.share);
        let door = Rc::new(Door {
            context,
            tls: worker.tls,
            tls_handshake: worker.tls_handshake,
            room: worker.room,
            refusals: Rc::default(),
        });
        let process = Process { runtime, door, place, grace: worker.grace };
        if single {
            process.serve_one(gate, on_first)?;
        } else {
            process.serve_many(gate, on_first)?;
        }
        // The process ends: putting its memory in order would cost more than the request did.
        std::mem::forget(process);
        Ok(())
    }
}

/// What serves in such a process.
struct Process {
    runtime: LocalRuntime,
    door: Rc<Door>,
    place: Place,
    grace: Duration,
}

impl Process {
    /// Waits for one connection, and handles one request of it.
    fn serve_one(&self, gate: Gate<'_>, on_first: impl Fn()) -> io::Result<()> {
        let Arrived::Connection(visitor) = self.wait(&gate)? else {
            self.runtime.block_on(self.finish(gate, 1));
            return Ok(());
        };
        self.place.slot().busy.store(board::now(), Ordering::Relaxed);
        on_first();
        self.runtime.block_on(async {
            self.begin();
            enter(&self.door, visitor);
            // It lets nobody else in. As long as it had the sockets open after all others had closed them, somebody could wait there in vain.
            drop(gate);
            // A signal that comes now finds a process that is about to end by itself.
            self.door.context.gets_empty().await;
        });
        Ok(())
    }

    /// Serves until it is told to end or had its share of requests.
    fn serve_many(&self, gate: Gate<'_>, on_first: impl Fn()) -> io::Result<()> {
        let mut shared = None;
        while let Arrived::Connection(visitor) = self.wait(&gate)? {
            on_first();
            let life = self.runtime.block_on(async {
                let shared = match &shared {
                    Some(shared) => Rc::clone(shared),
                    None => {
                        self.begin();
                        Rc::clone(shared.insert(Rc::new(sys::hear_of(gate.epoll.try_clone()?)?)))
                    }
                };
                enter(&self.door, visitor);
                serve(&self.door, &gate, &shared).await
            })?;
            if life != Life::Serve || self.door.context.share.is_spent() {
                break;
            }
        }
        self.runtime.block_on(self.finish(gate, usize::MAX));
        std::mem::forget(shared);
        Ok(())
    }

    fn wait(&self, gate: &Gate<'_>) -> io::Result<Arrived> {
        let slot = self.place.slot();
        // Who waits here cannot hang.
        slot.beat.store(u64::MAX, Ordering::Relaxed);
        let arrived = gate.wait();
        slot.beat();
        arrived
    }

    fn begin(&self) {
        tokio::task::spawn_local(Rc::clone(&self.door.context).keep_time());
        tokio::task::spawn_local(beat(self.place.clone()));
    }

    /// Finishes what runs, and lets nobody in any more: those who wait already, so many at the most, if nobody else will.
    async fn finish(&self, gate: Gate<'_>, most: usize) {
        let (context, grace) = (&self.door.context, self.grace);
        if gate.life() == Life::Drain {
            for visitor in std::iter::from_fn(|| gate.accept()).take(most) {
                enter(&self.door, visitor);
                tokio::task::yield_now().await;
            }
            // Whoever comes from now on is refused, and does not wait for nothing.
            drop(gate);
        } else {
            context.leave();
            drop(gate);
            context.show_leaving();
            let _ = tokio::time::timeout(LINGER.min(grace), context.gets_empty()).await;
        }
        context.drain();
        if tokio::time::timeout(grace, context.gets_empty()).await.is_err() {
            tracing::warn!(connections = context.count(), "cut connections that were not done in time");
        }
    }
}

fn enter(door: &Rc<Door>, visitor: Visitor) {
    match visitor.settle() {
        Ok((plain, peer)) => door.enter(plain, peer),
        // The client left before we could say hello.
        Err(error) => tracing::debug!(%error, "a connection was gone at once"),
    }
}

/// Serves the connections that are there, and more that come, until none is left or this process is to end.
async fn serve(door: &Rc<Door>, gate: &Gate<'_>, shared: &AsyncFd<OwnedFd>) -> io::Result<Life> {
    let context = &door.context;
    loop {
        let over = either(context.gets_empty(), context.is_spent());
        let mut ready = None;
        either(over, async {
            context.has_turn().await;
            ready = Some(shared.readable().await);
        })
        .await;
        let life = gate.life();
        if life != Life::Serve || context.share.is_spent() || context.is_empty() {
            return Ok(life);
        }
        let Some(ready) = ready else { continue };
        let mut ready = ready?;
        while context.share.has_turn() {
            let Some(visitor) = gate.accept() else {
                // Only now is there nothing left to be told of.
                ready.clear_ready();
                break;
            };
            enter(door, visitor);
        }
    }
}

/// Listening sockets and signals, which are waited for together.
struct Gate<'t> {
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    signals: OwnedFd,
    tell: &'t dyn Fn(),
    life: std::cell::Cell<Life>,
}

impl<'t> Gate<'t> {
    fn new(listeners: Vec<Listener>, signals: OwnedFd, tell: &'t dyn Fn()) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &signals, EventData::new_u64(0), EventFlags::IN)?;
        for listener in &listeners {
            epoll::add(&epoll, listener.as_fd(), EventData::new_u64(1), EventFlags::IN | EventFlags::EXCLUSIVE)?;
        }
        Ok(Self { epoll, listeners, signals, tell, life: std::cell::Cell::new(Life::Serve) })
    }

    /// Waits for a connection that nobody else has taken, or a signal.
    fn wait(&self) -> io::Result<Arrived> {
        loop {
            if self.life() != Life::Serve {
                return Ok(Arrived::Signals);
            }
            if let Some(visitor) = self.accept() {
                return Ok(Arrived::Connection(visitor));
            }
            let mut events = [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 4];
            match epoll::wait(&self.epoll, &mut events, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What signals have said so far.
    fn life(&self) -> Life {
        for signal in sys::signals::arrived(&self.signals) {
            self.life.set(match signal {
                libc::SIGTERM => Life::Drain,
                libc::SIGUSR1 => self.life.get().max(Life::Leave),
                libc::SIGUSR2 => {
                    (self.tell)();
                    continue;
                }
                _ => std::process::exit(131),
            });
        }
        self.life.get()
    }

    fn accept(&self) -> Option<Visitor> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        self.listeners.iter().find_map(|listener| match listener {
            Listener::Tcp(socket) => {
                let (stream, address) = rustix::net::acceptfrom_with(socket, flags).ok()?;
                Some(Visitor::Tcp(stream.into(), address?.try_into().ok()?))
            }
            Listener::Unix(socket) => Some(Visitor::Unix(rustix::net::accept_with(socket, flags).ok()?.into())),
        })
    }
}

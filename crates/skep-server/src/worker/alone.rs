//! A worker that is a process of its own, one among several that accept from the same sockets.
//!
//! While it has no connection it waits in an epoll of its own, exclusively: the kernel wakes one of those who wait and not all
//! of them. Only then does its runtime begin to work.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::SocketFlags;
use skep::Peer;
use tokio::io::unix::AsyncFd;

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
        let slot = place.slot();
        slot.take();
        let gate = Gate::new(worker.listeners, signals, tell)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            // Room for as many events is made and touched at the start.
            .max_io_events_per_tick(if single { 8 } else { 256 })
            .build_local(tokio::runtime::LocalOptions::default())?;
        let grace = worker.grace;
        let context =
            Context::new(worker.site.local(), worker.limits, worker.access, Some(place.clone()), worker.share);
        let door = Rc::new(Door {
            context: Rc::clone(&context),
            tls: worker.tls,
            tls_handshake: worker.tls_handshake,
            room: worker.room,
            refusals: Rc::default(),
        });
        let mut shared = None;
        let mut began = false;
        let life = loop {
            // Who waits here cannot hang.
            slot.beat.store(u64::MAX, Ordering::Relaxed);
            let arrived = gate.wait()?;
            slot.beat();
            let visitor = match arrived {
                Arrived::Signals => break gate.life(),
                Arrived::Connection(visitor) => visitor,
            };
            if single {
                slot.busy.store(board::now(), Ordering::Relaxed);
            }
            on_first();
            let life = runtime.block_on(async {
                if !std::mem::replace(&mut began, true) {
                    tokio::task::spawn_local(Rc::clone(&context).keep_time());
                    tokio::task::spawn_local(beat(place.clone()));
                }
                enter(&door, visitor);
                if single {
                    // A signal that comes now finds a process that is about to end by itself.
                    context.gets_empty().await;
                    return Ok(Life::Leave);
                }
                if shared.is_none() {
                    shared = Some(Rc::new(sys::hear_of(gate.epoll.try_clone()?)?));
                }
                let shared = shared.clone().ok_or(io::ErrorKind::NotConnected)?;
                serve(&door, &gate, &shared).await
            })?;
            if life != Life::Serve || context.share.is_spent() || single {
                break if life == Life::Serve { Life::Leave } else { life };
            }
        };
        // Who had the one connection that it is for has nobody left to look after.
        if single && began {
            std::mem::forget(gate);
        } else {
            runtime.block_on(finish(&door, gate, life, grace));
        }
        // The process ends: putting its memory in order would cost more than the request did.
        std::mem::forget((runtime, door, context, shared));
        Ok(())
    }
}

/// Finishes what runs, and lets nobody in any more: those who wait already, if nobody else will.
async fn finish(door: &Rc<Door>, gate: Gate<'_>, life: Life, grace: std::time::Duration) {
    let context = &door.context;
    if life == Life::Leave {
        context.leave();
        drop(gate);
        context.show_leaving();
        let _ = tokio::time::timeout(LINGER.min(grace), context.gets_empty()).await;
    } else {
        while let Some(visitor) = gate.accept() {
            enter(door, visitor);
            tokio::task::yield_now().await;
        }
        // Whoever comes from now on is refused, and does not wait for nothing.
        drop(gate);
    }
    context.drain();
    if tokio::time::timeout(grace, context.gets_empty()).await.is_err() {
        tracing::warn!(connections = context.count(), "cut connections that were not done in time");
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

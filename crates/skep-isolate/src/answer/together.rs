//! Requests that use one instance at once: `--reuse-concurrency`, for functions of WASI 0.3, which give way to each other where they wait.
//!
//! A [`Room`] is an instance at work, on one thread. The requests of that thread join it while it waits, and are begun in its event loop. They share
//! what befalls it: its trap is the end of all of them. Start reading at [`join`].

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use wasmtime::Result;
use wasmtime::component::{Accessor, AccessorTask};
use wasmtime_wasi_http::p3::bindings::{Service, ServiceIndices};

use super::concurrent::{self, Asked};
use super::failure::Failure;
use super::{Ended, Given, Place};
use crate::instance;
use crate::ready::{Handler, Ready};
use crate::state::State;

/// The rooms of a version.
#[derive(Default)]
pub(crate) struct Rooms(Mutex<Vec<Arc<Room>>>);

/// An instance at work, as requests see it.
struct Room {
    thread: ThreadId,
    door: UnboundedSender<Guest>,
    /// Requests in it.
    inside: AtomicU32,
    /// Requests that may still join, whenever that is.
    left: AtomicU32,
    /// It has not begun yet, or waits for something: whoever joins now is begun next. Not so while it computes, or waits in a function that gives
    /// way to nobody.
    is_free: AtomicBool,
    /// Somebody has gone before his request was done: the instance serves the others, and nobody after them.
    is_spoilt: AtomicBool,
    gone: Notify,
    /// When the time of all of them is up: what they have begun beside their answers has no more.
    until: Mutex<Instant>,
    /// How it ended, if not well.
    failed: OnceLock<Failure>,
}

/// A request in a room.
struct Guest {
    asked: Asked,
    given: Given,
    /// Says that there is an answer, or that there will be none.
    answered: oneshot::Sender<()>,
}

/// The place of a request in a room.
struct Seat {
    room: Arc<Room>,
    is_done: bool,
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.is_done {
            self.room.is_spoilt.store(true, Ordering::Relaxed);
        }
        self.room.inside.fetch_sub(1, Ordering::Relaxed);
        self.room.gone.notify_one();
    }
}

/// Has a request answered in a room that is free, or in one of its own that others may join.
pub(super) async fn join(ready: Arc<Ready>, place: Place, mut asked: Asked, given: Given) -> Ended {
    let mut seat = ready.rooms.seat(&ready, asked.until);
    let ((answered, is_answered), (done, is_done)) = (oneshot::channel(), oneshot::channel());
    let told = asked.done.replace(done);
    // If it has just failed, the channels are closed, and it says why.
    let _ = seat.room.door.send(Guest { asked, given, answered });
    let _ = is_answered.await;
    let _ = is_done.await;
    drop(told);
    seat.is_done = true;
    let result = seat.room.failed.get().cloned().map_or(Ok(()), Err);
    Ended { instance: None, result, place }
}

impl Rooms {
    /// A seat in a room of this thread.
    fn seat(&self, ready: &Arc<Ready>, until: Instant) -> Seat {
        let most = ready.at_once();
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.iter().find(|room| room.takes(most)) {
            ready.counts.reused.fetch_add(1, Ordering::Relaxed);
            return room.seat(until);
        }
        let (door, guests) = mpsc::unbounded_channel();
        let instance = ready.instance();
        let left = instance.reuse().map_or(0, |reuse| reuse.requests.saturating_sub(instance.served()));
        let room = Arc::new(Room {
            thread: thread::current().id(),
            door,
            inside: AtomicU32::new(0),
            left: AtomicU32::new(left.max(1)),
            is_free: AtomicBool::new(true),
            is_spoilt: AtomicBool::new(false),
            gone: Notify::new(),
            until: Mutex::new(until),
            failed: OnceLock::new(),
        });
        rooms.push(Arc::clone(&room));
        let seat = room.seat(until);
        drop(rooms);
        tokio::task::spawn_local(run(Listed { room, ready: Arc::clone(ready) }, instance, guests));
        seat
    }

    fn remove(&self, room: &Arc<Room>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| !Arc::ptr_eq(other, room));
    }
}

impl Room {
    /// True if one more may join it now. Only its own thread asks it that while it is not at work.
    fn takes(&self, most: u32) -> bool {
        self.thread == thread::current().id()
            && self.is_free.load(Ordering::Relaxed)
            && !self.is_spoilt.load(Ordering::Relaxed)
            && self.inside.load(Ordering::Relaxed) < most
            && self.left.load(Ordering::Relaxed) > 0
    }

    fn seat(self: &Arc<Self>, until: Instant) -> Seat {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        self.inside.fetch_add(1, Ordering::Relaxed);
        self.left.fetch_sub(1, Ordering::Relaxed);
        Seat { room: Arc::clone(self), is_done: false }
    }

    fn until(&self) -> Instant {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if nobody is left who waits for an answer.
    fn is_empty(&self) -> bool {
        self.inside.load(Ordering::Relaxed) == 0
    }

    /// True if nobody is left, and one has gone without an answer, or the time of all is up.
    fn is_over(&self) -> bool {
        self.is_empty() && (self.is_spoilt.load(Ordering::Relaxed) || Instant::now() >= self.until())
    }
}

/// A room in the list.
struct Listed {
    room: Arc<Room>,
    ready: Arc<Ready>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.ready.rooms.remove(&self.room);
    }
}

/// The life of a room.
async fn run(listed: Listed, mut instance: instance::Instance, guests: UnboundedReceiver<Guest>) {
    let (room, ready) = (Arc::clone(&listed.room), Arc::clone(&listed.ready));
    let Handler::Third(indices) = &ready.handler else { return };
    let left = room.left.load(Ordering::Relaxed);
    let ran = at_work(&room, serve(&listed, &mut instance, indices, guests)).await;
    // From here on nobody can join, and nothing else of this thread runs before the end.
    drop(listed);
    let begun = left.saturating_sub(room.left.load(Ordering::Relaxed));
    instance.count(begun.saturating_add(1));
    match ran.map(|result| Failure::of(result, &instance, &ready)) {
        Some(Ok(())) if !room.is_spoilt.load(Ordering::Relaxed) => ready.keep(instance),
        Some(Err(failure)) => drop(room.failed.set(failure)),
        _ => {}
    }
}

/// Lets an instance work, until it ends or nobody wants more of it, and knows whether it waits.
async fn at_work(room: &Room, running: impl Future<Output = Result<()>>) -> Option<Result<()>> {
    let mut running = pin!(running);
    loop {
        let (mut gone, mut over) = (pin!(room.gone.notified()), pin!(tokio::time::sleep_until(room.until())));
        let step = poll_fn(|cx| {
            if let Poll::Ready(result) = running.as_mut().poll(cx) {
                return Poll::Ready(Some(result));
            }
            // It is free if it looks for guests when it has nothing else to do.
            room.is_free.store(false, Ordering::Relaxed);
            if let Poll::Ready(result) = running.as_mut().poll(cx) {
                return Poll::Ready(Some(result));
            }
            if room.is_empty() && over.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            gone.as_mut().poll(cx).map(|()| None)
        });
        match step.await {
            Some(result) => return Some(result),
            None if room.is_over() => return None,
            None => {}
        }
    }
}

/// Serves all that come in, until nobody is there and nothing runs.
async fn serve(
    listed: &Listed,
    instance: &mut instance::Instance,
    indices: &ServiceIndices,
    mut guests: UnboundedReceiver<Guest>,
) -> Result<()> {
    let (room, ready) = (&listed.room, &listed.ready);
    let handle = async |accessor: &Accessor<State>, service: &Arc<Service>| {
        let at_work = Arc::new(AtomicU32::new(0));
        let begin = |guest: Guest| {
            at_work.fetch_add(1, Ordering::Relaxed);
            let (service, at_work) = (Arc::clone(service), Arc::clone(&at_work));
            accessor.spawn(Begun { guest, service, ready: Arc::clone(ready), at_work }).map(drop)
        };
        let next = |cx: &mut Context<'_>| {
            while let Poll::Ready(Some(guest)) = guests.poll_recv(cx) {
                if let Err(error) = begin(guest) {
                    return Poll::Ready(Err(error));
                }
            }
            room.is_free.store(true, Ordering::Relaxed);
            // What they have begun beside their answers is a part of them.
            let none = at_work.load(Ordering::Relaxed) == 0;
            if none { accessor.poll_no_interesting_tasks(cx).map(Ok) } else { Poll::Pending }
        };
        let ended = poll_fn(next).await;
        ready.rooms.remove(room);
        ended
    };
    instance.serve_concurrent(ready, indices, handle).await
}

/// A request that has begun in its room.
struct Begun {
    guest: Guest,
    service: Arc<Service>,
    ready: Arc<Ready>,
    at_work: Arc<AtomicU32>,
}

impl AccessorTask<State> for Begun {
    async fn run(self, accessor: &Accessor<State>) -> Result<()> {
        let Self { guest: Guest { asked, given, answered }, service, ready, at_work } = self;
        accessor.with(|mut access| {
            // What it prints is nobody's in particular.
            access.data_mut().services.begin(0.into());
            instance::begin(&mut access, &ready)
        })?;
        concurrent::answer(accessor, &service, (asked, given)).await?;
        let _ = answered.send(());
        at_work.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

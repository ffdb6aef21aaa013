//! What the connections of one thread share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant};

use skep::Local;
use tokio::sync::Notify;

use super::Connection;
use super::gate::Bounds;
pub(crate) use super::share::Share;
use crate::log::AccessLog;
use crate::seat::Place;
use crate::sys::{self, board};

/// So many connections leave enough memory behind to be worth giving back.
const CROWD: usize = 32;

/// What a connection may cost. All of it comes from [`Config`](crate::config::Config), which documents it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) head: Bounds,
    pub(crate) header_time: Duration,
    pub(crate) body_idle: Duration,
    pub(crate) keep_alive: Duration,
    pub(crate) write_idle: Duration,
    /// 0: any number.
    pub(crate) requests: u32,
    pub(crate) http2_streams: u32,
    pub(crate) http2_resets: usize,
}

/// What the connections of one thread share: the application, limits, a clock, and who they are.
pub(crate) struct Context {
    pub(crate) local: Local,
    pub(crate) limits: Limits,
    pub(crate) access: Option<AccessLog>,
    start: Instant,
    now: Cell<Moment>,
    draining: Cell<bool>,
    leaving: Cell<bool>,
    pub(crate) share: Share,
    /// Where this thread shows what it does, if somebody watches.
    place: Option<Place>,
    members: RefCell<Members>,
    /// Those that came in, from before they say anything until they are gone.
    guests: Cell<usize>,
    /// There is no turn for one who comes now.
    busy: Cell<bool>,
    /// A connection came or went, or draining began.
    changed: Notify,
    /// The most connections since memory was last given back.
    crowd: Cell<usize>,
}

/// Milliseconds since the thread started, as of the last tick: exact enough for limits, and free to read.
pub(crate) type Moment = u64;

#[derive(Default)]
struct Members {
    places: Vec<Option<Rc<Connection>>>,
    free: Vec<usize>,
}

/// A connection's place among the others of its thread; they forget each other when it is dropped.
pub(crate) struct Membership {
    context: Rc<Context>,
    place: usize,
}

/// Somebody who came in.
pub(crate) struct Guest {
    context: Rc<Context>,
    /// Who had no answer yet may ask at any moment: a turn is kept for that.
    is_new: Cell<bool>,
}

impl Guest {
    pub(crate) fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// It had its first answer. From now on it has no more rights than others.
    pub(crate) fn settle(&self) {
        if self.is_new.replace(false) {
            self.context.share.settle();
            self.context.show_busy();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.settle();
        self.context.guests.set(self.context.guests.get() - 1);
        self.context.changed.notify_waiters();
    }
}

impl Context {
    pub(crate) fn new(
        local: Local,
        limits: Limits,
        access: Option<AccessLog>,
        place: Option<Place>,
        share: Share,
    ) -> Rc<Self> {
        Rc::new(Self {
            local,
            limits,
            access,
            start: Instant::now(),
            now: Cell::new(0),
            draining: Cell::new(false),
            leaving: Cell::new(false),
            share,
            place,
            members: RefCell::default(),
            guests: Cell::new(0),
            busy: Cell::new(false),
            changed: Notify::new(),
            crowd: Cell::new(0),
        })
    }

    /// The time of the last tick.
    pub(crate) fn now(&self) -> Moment {
        self.now.get()
    }

    /// True if connections should end as soon as what they began is done.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// True if connections should end with their next answer.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.get()
    }

    /// True if connections should end, now or with their next answer.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_leaving() || self.is_draining()
    }

    /// True if an answer that leaves now is the last of its connection.
    pub(crate) fn is_ending_soon(&self) -> bool {
        self.is_ending() || self.share.is_spent()
    }

    /// Lets connections end with their next answer.
    pub(crate) fn leave(&self) {
        self.leaving.set(true);
        for connection in self.everyone() {
            connection.wake();
        }
        self.changed.notify_waiters();
    }

    /// Shows whoever watches that nothing more is accepted here.
    pub(crate) fn show_leaving(&self) {
        if let Some(place) = &self.place {
            place.slot().leaving.store(1, Ordering::Release);
        }
    }

    /// Waits until connections are to end with their next answer.
    pub(crate) async fn starts_leaving(self: Rc<Self>) {
        self.until(Self::is_leaving).await;
    }

    /// Waits until the thread has handled all requests that it was to handle.
    pub(crate) async fn is_spent(&self) {
        self.until(|context| context.share.is_spent()).await;
    }

    /// Waits until one more request may be handled.
    pub(crate) async fn has_turn(&self) {
        self.until(|context| context.share.has_turn()).await;
    }

    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }

    /// A request is handled from now on. Health checks are not counted.
    pub(crate) fn begin(&self) {
        if let Some(place) = &self.place {
            place.slot().count();
        }
        if self.share.begin() {
            self.changed.notify_waiters();
        }
    }

    /// A request takes a turn.
    pub(crate) fn poll_turn(&self, waker: &Waker) -> bool {
        self.share.poll_turn(waker)
    }

    /// It is done with it.
    pub(crate) fn end_turn(&self) {
        self.share.end_turn();
        self.show_busy();
    }

    /// Shows whoever watches whether this thread takes more, and wakes what waits for that.
    fn show_busy(&self) {
        let busy = !self.share.has_turn();
        if self.busy.replace(busy) == busy {
            return;
        }
        if let Some(place) = &self.place {
            place.slot().busy.store(if busy { board::now() } else { 0 }, Ordering::Relaxed);
        }
        self.changed.notify_waiters();
    }

    /// Asks all connections to end as soon as what they began is done.
    pub(crate) fn drain(&self) {
        self.draining.set(true);
        for connection in self.everyone() {
            connection.wake();
        }
        self.changed.notify_waiters();
    }

    /// Waits until no connection is left.
    pub(crate) async fn all_gone(&self) {
        self.until(|context| context.count() == 0).await;
    }

    /// Somebody comes in, and leaves when this is dropped.
    pub(crate) fn welcome(self: &Rc<Self>) -> Guest {
        self.guests.set(self.guests.get() + 1);
        self.share.welcome();
        self.show_busy();
        Guest { context: Rc::clone(self), is_new: Cell::new(true) }
    }

    /// True if nobody is in, not even in a handshake.
    pub(crate) fn is_empty(&self) -> bool {
        self.guests.get() == 0
    }

    /// Waits until nobody is in.
    pub(crate) async fn gets_empty(&self) {
        self.until(Self::is_empty).await;
    }

    /// How many connections there are.
    pub(crate) fn count(&self) -> usize {
        let members = self.members.borrow();
        members.places.len() - members.free.len()
    }

    pub(crate) fn join(self: &Rc<Self>, connection: &Rc<Connection>) -> Membership {
        self.tick();
        let mut members = self.members.borrow_mut();
        let place = members.free.pop().unwrap_or_else(|| {
            members.places.push(None);
            members.places.len() - 1
        });
        members.places[place] = Some(Rc::clone(connection));
        drop(members);
        self.show_count();
        self.changed.notify_waiters();
        Membership { context: Rc::clone(self), place }
    }

    /// Moves the clock, and ends connections whose time is up. Never returns; an idle thread does not tick.
    pub(crate) async fn keep_time(self: Rc<Self>) {
        let tick = self.resolution();
        loop {
            let changed = self.changed.notified();
            self.give_memory_back();
            if self.count() == 0 {
                changed.await;
                continue;
            }
            tokio::time::sleep(tick).await;
            self.tick();
            for connection in self.everyone() {
                connection.check_time();
            }
        }
    }

    /// Gives the system what a crowd has left behind. The allocator alone keeps it: the memory of one connection that
    /// stays lies among that of a hundred that went.
    fn give_memory_back(&self) {
        let count = self.count();
        let crowd = self.crowd.get().max(count);
        let is_over = crowd >= CROWD && count <= crowd / 2;
        self.crowd.set(if is_over { count } else { crowd });
        if is_over {
            sys::give_memory_back();
        }
    }

    fn show_count(&self) {
        if let Some(place) = &self.place {
            place.slot().connections.store(u32::try_from(self.count()).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
    }

    /// A tenth of the shortest limit, and neither a burden nor a surprise.
    fn resolution(&self) -> Duration {
        let limits = &self.limits;
        let shortest = limits.header_time.min(limits.keep_alive).min(limits.write_idle);
        (shortest / 10).clamp(Duration::from_millis(5), Duration::from_millis(250))
    }

    fn tick(&self) {
        self.now.set(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(Moment::MAX));
    }

    fn everyone(&self) -> Vec<Rc<Connection>> {
        self.members.borrow().places.iter().flatten().cloned().collect()
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut members = self.context.members.borrow_mut();
        let gone = members.places[self.place].take();
        members.free.push(self.place);
        drop(members);
        self.context.show_count();
        // A body that was not sent holds its connection, which holds it.
        if let Some(connection) = gone {
            connection.wire().drop_body();
        }
        self.context.changed.notify_waiters();
    }
}

//! What the connections of one thread share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use skep::Local;
use tokio::sync::Notify;

use super::Connection;
use super::gate::Bounds;
use crate::log::AccessLog;
use crate::sys;

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
    members: RefCell<Members>,
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

impl Context {
    pub(crate) fn new(local: Local, limits: Limits, access: Option<AccessLog>) -> Rc<Self> {
        Rc::new(Self {
            local,
            limits,
            access,
            start: Instant::now(),
            now: Cell::new(0),
            draining: Cell::new(false),
            members: RefCell::default(),
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
        loop {
            let changed = self.changed.notified();
            if self.count() == 0 {
                return;
            }
            changed.await;
        }
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
        // A body that was not sent holds its connection, which holds it.
        if let Some(connection) = gone {
            connection.wire().drop_body();
        }
        self.context.changed.notify_waiters();
    }
}

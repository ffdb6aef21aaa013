//! What the connections of one thread share.

use std::cell::{Cell, RefCell, RefMut};
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use skep::{LocalSite, Peer};
use skep_observe::clock::monotonic_millis;
use skep_observe::log::AccessLog;
use skep_observe::metrics::{Counter, Recorder};
use tokio::sync::Notify;

use super::Limits;
pub(crate) use super::budget::RequestBudget;
use super::slot::SpareSlots;
use super::{Connection, UnsentLimit};
use crate::authority::Hosts;
use crate::handoff::SlotRef;
use crate::http1::DATE_LINE;
use crate::proxies::{Fields, Trusted};
use crate::sys::{self, ticker::Ticker};

/// After this many connections and requests, and as many times these bytes of bodies and responses, free memory is
/// returned to the system: at once, and once more when a detached job has ended.
const TRIM_PEAK: usize = 32;
const TRIM_BYTES: usize = 64 << 10;
const TRIM_AGAIN: Tick = 5000;

/// A request that runs for longer is shown to who watches the server.
const LONG: Duration = Duration::from_millis(500);

/// Bytes that a connection receives at once, at most.
const SCRATCH: usize = 32 << 10;

/// Who may send requests for whom.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) proxies: Trusted,
    /// What they write.
    pub(crate) fields: Fields,
    /// Trusted proxies send a PROXY header.
    pub(crate) proxy_protocol: bool,
    pub(crate) hosts: Hosts,
    /// Connections over TCP use TLS, and plain requests are redirected.
    pub(crate) tls: bool,
}

/// What the connections of one thread share: the application, limits, a clock, and the list of them.
pub(crate) struct Context {
    pub(crate) local: LocalSite,
    pub(crate) limits: Limits,
    pub(crate) rules: Arc<Rules>,
    pub(crate) access: Option<AccessLog>,
    pub(crate) metrics: Option<Recorder>,
    start: Instant,
    now: Cell<Tick>,
    /// The line of `Date` (RFC 9110, 5.6.7), as of a second since 1970.
    date: Cell<([u8; DATE_LINE], u64)>,
    /// Where connections receive bytes before they know what to do with them.
    scratch: RefCell<Box<[u8]>>,
    /// Memory for futures of requests.
    pub(super) slots: SpareSlots,
    draining: Cell<bool>,
    retiring: Cell<bool>,
    pub(crate) budget: RequestBudget,
    pub(crate) unsent: UnsentLimit,
    /// The slot of the scoreboard, if there is one.
    slot_ref: Option<SlotRef>,
    /// Requests in flight.
    running: Cell<u32>,
    table: RefCell<ConnectionTable>,
    /// Accepted connections, those in a TLS handshake included.
    open: Cell<usize>,
    /// No permit is free for a new connection.
    busy: Cell<bool>,
    /// Notified when a connection opens or closes, or the state changes.
    changed: Notify,
    /// Notified when the thread retires or drains. Apart from `changed`, for which thousands of byte streams would be
    /// woken again and again.
    ending: Notify,
    /// When the log was last told why this is not ready.
    unready_noted: Cell<Option<Tick>>,
    /// The most connections and requests since memory was last returned.
    peak: Cell<usize>,
    /// When it is returned once more.
    trim_at: Cell<Option<Tick>>,
}

/// Milliseconds since the thread started, as of the last tick: exact enough for timeouts, and free to read.
pub(crate) type Tick = u64;

#[derive(Default)]
struct ConnectionTable {
    slots: Vec<Option<Rc<Connection>>>,
    free: Vec<usize>,
}

/// Removes its connection from the table when dropped.
pub(crate) struct Registration {
    context: Rc<Context>,
    slot_ref: usize,
}

/// An accepted connection.
pub(crate) struct ConnectionGuard {
    context: Rc<Context>,
    /// It had no response so far, so a permit is reserved for it.
    is_unserved: Cell<bool>,
}

impl ConnectionGuard {
    pub(crate) fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Gives up the reserved permit after the first response.
    pub(crate) fn release_reservation(&self) {
        if self.is_unserved.replace(false) {
            self.context.budget.release_reservation();
            self.context.publish_busy();
        }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.release_reservation();
        self.context.open.set(self.context.open.get() - 1);
        self.context.changed.notify_waiters();
    }
}

impl Context {
    pub(crate) fn new(
        local: LocalSite,
        limits: &Limits,
        rules: Arc<Rules>,
        (access, metrics): (Option<AccessLog>, Option<Recorder>),
        slot_ref: Option<SlotRef>,
        budget: RequestBudget,
        unsent: UnsentLimit,
    ) -> Rc<Self> {
        slot_ref.iter().for_each(super::turn::answer_as);
        Rc::new(Self {
            local,
            limits: *limits,
            rules,
            access,
            metrics,
            start: Instant::now(),
            now: Cell::new(0),
            date: Cell::new(([0; DATE_LINE], u64::MAX)),
            scratch: RefCell::new(vec![0; SCRATCH].into_boxed_slice()),
            slots: SpareSlots::default(),
            draining: Cell::new(false),
            retiring: Cell::new(false),
            budget,
            unsent,
            slot_ref,
            running: Cell::new(0),
            table: RefCell::default(),
            open: Cell::new(0),
            busy: Cell::new(false),
            changed: Notify::new(),
            ending: Notify::new(),
            unready_noted: Cell::new(None),
            peak: Cell::new(0),
            trim_at: Cell::new(None),
        })
    }

    pub(crate) fn now(&self) -> Tick {
        self.now.get()
    }

    /// True if connections close as soon as their requests are finished.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// True if connections close with their next response.
    pub(crate) fn is_retiring(&self) -> bool {
        self.retiring.get()
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_retiring() || self.is_draining()
    }

    /// True if the next response is the last of its connection.
    pub(crate) fn closes_after_response(&self) -> bool {
        self.is_ending() || self.budget.is_exhausted()
    }

    /// Makes connections close with their next response.
    pub(crate) fn retire(&self) {
        self.end(&self.retiring);
    }

    /// Makes all connections close as soon as their requests are finished.
    pub(crate) fn drain(&self) {
        // Streams without an end end now.
        self.local.site().drain();
        self.end(&self.draining);
    }

    fn end(&self, how: &Cell<bool>) {
        how.set(true);
        self.connections().iter().for_each(|connection| connection.wake());
        self.ending.notify_waiters();
        self.changed.notify_waiters();
    }

    /// Waits until the thread retires or drains.
    pub(super) async fn ends(self: Rc<Self>) {
        let ending = self.ending.notified();
        if !self.is_ending() {
            ending.await;
        }
    }

    /// Shows the supervisor that this thread accepts nothing more.
    pub(crate) fn publish_retiring(&self) {
        if let Some(slot_ref) = &self.slot_ref {
            slot_ref.slot().retiring.store(1, Ordering::Release);
        }
    }

    pub(crate) async fn retires(self: Rc<Self>) {
        self.until(Self::is_retiring).await;
    }

    pub(crate) async fn is_exhausted(&self) {
        self.until(|context| context.budget.is_exhausted()).await;
    }

    pub(crate) async fn has_permit(&self) {
        self.until(|context| context.budget.has_permit()).await;
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

    /// Counts a request. Health checks are not counted.
    pub(crate) fn count_request(&self) {
        if let Some(slot_ref) = &self.slot_ref {
            slot_ref.slot().count_request();
        }
        if self.budget.count_request() {
            self.changed.notify_waiters();
        }
    }

    /// Counts something else, if there are metrics.
    pub(crate) fn count_event(&self, counter: Counter) {
        if let Some(metrics) = &self.metrics {
            metrics.count(counter);
        }
    }

    /// Milliseconds since 1970, as of the second of the last tick.
    pub(super) fn unix_millis(&self) -> u64 {
        self.date.get().1.saturating_mul(1000)
    }

    /// A request has begun, or ended.
    pub(super) fn change_running(&self, change: impl FnOnce(u32) -> u32) {
        if self.metrics.is_none() {
            return;
        }
        self.running.set(change(self.running.get()));
        if let Some(slot_ref) = &self.slot_ref {
            slot_ref.slot().running.store(self.running.get(), Ordering::Relaxed);
        }
    }

    /// Shows the request that has been running for longest.
    pub(crate) fn show_activity(&self) {
        let Some(metrics) = &self.metrics else { return };
        let table = self.table.borrow();
        let running = table.slots.iter().flatten().filter_map(|connection| connection.current.borrow().clone());
        let oldest = running.min_by_key(|entry| entry.start).filter(|entry| entry.start.elapsed() >= LONG);
        let path = oldest.as_ref().map(|entry| self.local.site().masks().path(entry.path())).unwrap_or_default();
        metrics.show_activity(oldest.as_ref().map(|entry| (entry.method.as_str(), &*path, entry.start)));
    }

    /// Says for the supervisor what this thread serves: a service of this number, for this peer. In a signal handler,
    /// so nothing is locked or allocated here.
    pub(super) fn tell_serving(&self, service: u16, peer: Peer) {
        let (Some(slot_ref), mut text) = (&self.slot_ref, [0; 240]) else { return };
        let route = self.local.site().service_routes().get(usize::from(service)).filter(|route| !route.is_empty());
        let mut room = &mut text[..];
        // A route that is too long is cut.
        let _ = match (route, peer.address) {
            (Some(route), Some(address)) => write!(room, "{route} for {address}"),
            (Some(route), None) => write!(room, "{route} for a client of a unix socket"),
            (None, Some(address)) => write!(room, "a connection of {address}"),
            (None, None) => write!(room, "a connection of a unix socket"),
        };
        let written = text.split(|byte| *byte == 0).next().unwrap_or_default();
        slot_ref.tell(str::from_utf8(written).unwrap_or("a connection"));
    }

    /// Tells the log why this process is not ready, at most once a minute.
    pub(crate) fn note_unready(&self, cause: &str) {
        let now = self.now();
        if self.unready_noted.get().is_none_or(|noted| now.saturating_sub(noted) >= 60_000) {
            self.unready_noted.set(Some(now));
            tracing::error!("not ready: {cause}");
        }
    }

    pub(crate) fn release_permit(&self) {
        if self.budget.release_permit() {
            // A request takes it at once: the thread is as busy as before. Should that one be gone, somebody else may
            // have it.
            self.changed.notify_waiters();
        } else {
            self.publish_busy();
        }
    }

    /// Shows the supervisor whether this thread has a free permit, and wakes tasks that wait for one.
    fn publish_busy(&self) {
        let busy = !self.budget.has_permit();
        if self.busy.replace(busy) == busy {
            return;
        }
        if let Some(slot_ref) = &self.slot_ref {
            slot_ref.slot().busy.store(if busy { monotonic_millis() } else { 0 }, Ordering::Relaxed);
        }
        self.changed.notify_waiters();
    }

    /// Registers an accepted connection, until the guard is dropped.
    pub(crate) fn register(self: &Rc<Self>) -> ConnectionGuard {
        self.open.set(self.open.get() + 1);
        self.budget.reserve();
        self.publish_busy();
        ConnectionGuard { context: Rc::clone(self), is_unserved: Cell::new(true) }
    }

    /// True if there is no accepted connection, not even one in a handshake.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.get() == 0
    }

    /// Waits until there is no accepted connection.
    pub(crate) async fn empty(&self) {
        self.until(Self::is_empty).await;
    }

    pub(crate) fn count(&self) -> usize {
        let table = self.table.borrow();
        table.slots.len() - table.free.len()
    }

    pub(crate) fn join(self: &Rc<Self>, connection: &Rc<Connection>) -> Registration {
        self.tick();
        let mut table = self.table.borrow_mut();
        let slot_ref = table.free.pop().unwrap_or_else(|| {
            table.slots.push(None);
            table.slots.len() - 1
        });
        table.slots[slot_ref] = Some(Rc::clone(connection));
        drop(table);
        self.publish_connections();
        self.changed.notify_waiters();
        Registration { context: Rc::clone(self), slot_ref }
    }

    /// Advances the clock and enforces timeouts. Never returns; an idle thread has no ticks.
    pub(crate) async fn run_timer(self: Rc<Self>) {
        let (tick, mut ticker) = (self.resolution(), Ticker::default());
        loop {
            let changed = self.changed.notified();
            self.trim_heap();
            if self.count() == 0 {
                match self.trim_at.get() {
                    Some(at) => {
                        let wait = Duration::from_millis(at.saturating_sub(self.now()));
                        let _ = tokio::time::timeout(wait, changed).await;
                        self.tick();
                    }
                    None => changed.await,
                }
                continue;
            }
            ticker.wait(tick).await;
            self.tick();
            for connection in self.connections() {
                connection.check_timeouts();
            }
        }
    }

    /// Returns free memory to the system after a peak. The allocator alone would keep it, since the memory of open
    /// connections lies in between.
    fn trim_heap(&self) {
        let load = |one: &Rc<Connection>| 1 + one.running.get() as usize + one.unsent.bytes() / TRIM_BYTES;
        let bodies = usize::try_from(self.local.site().bodies_in_memory()).unwrap_or(usize::MAX) / TRIM_BYTES;
        let load = self.table.borrow().slots.iter().flatten().map(load).sum::<usize>() + bodies;
        let peak = self.peak.get().max(load);
        let is_over = peak >= TRIM_PEAK && load <= peak / 2;
        self.peak.set(if is_over { load } else { peak });
        let is_due = self.trim_at.get().is_some_and(|at| at <= self.now());
        if is_over || is_due {
            sys::trim_heap();
            self.trim_at.set(is_over.then(|| self.now() + TRIM_AGAIN));
        }
    }

    fn publish_connections(&self) {
        if let Some(slot_ref) = &self.slot_ref {
            slot_ref.slot().connections.store(u32::try_from(self.count()).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
    }

    /// A tenth of the shortest timeout, within bounds.
    fn resolution(&self) -> Duration {
        let limits = &self.limits;
        let shortest = limits.header_time.min(limits.keep_alive).min(limits.write_idle);
        (shortest / 10).clamp(Duration::from_millis(5), Duration::from_millis(250))
    }

    /// The line of `Date`, as of the last tick.
    pub(super) fn date(&self) -> [u8; DATE_LINE] {
        self.date.get().0
    }

    /// Memory to receive into, for the time of one poll.
    pub(super) fn scratch(&self) -> RefMut<'_, Box<[u8]>> {
        self.scratch.borrow_mut()
    }

    /// Advances the clock.
    pub(super) fn tick(&self) {
        let time = SystemTime::now();
        let second = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if self.date.get().1 != second {
            let mut date = [0; DATE_LINE];
            date.copy_from_slice(format!("date: {}\r\n", httpdate::fmt_http_date(time)).as_bytes());
            self.date.set((date, second));
        }
        self.now.set(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(Tick::MAX));
    }

    fn connections(&self) -> Vec<Rc<Connection>> {
        self.table.borrow().slots.iter().flatten().cloned().collect()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut table = self.context.table.borrow_mut();
        let gone = table.slots[self.slot_ref].take();
        table.free.push(self.slot_ref);
        drop(table);
        self.context.publish_connections();
        // A body that was not sent and its connection refer to each other.
        if let Some(connection) = gone {
            connection.wire().drop_body();
        }
        self.context.changed.notify_waiters();
    }
}

//! How long one connection keeps its thread: the budget of a turn of the event loop.
//!
//! All connections of a thread take turns. A client that has sent more than can be done at once, such as a thousand
//! pipelined requests, would keep its turn for as long as that takes, and all others would wait, health checks
//! included. So whatever a client can have done again and again without a pause asks [`poll_proceed`] before each time:
//! requests of HTTP/1, messages and bytes of an upgraded connection, pieces of bodies in both directions, bytes that
//! are read for HTTP/2 or dropped. Once the budget is used up, the connection is the last to go on.
//!
//! A connection may have several tasks (HTTP/2 streams). What they use together is in [`Share`].

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use skep::log::RequestLog;

use super::Connection;
use crate::handoff::SlotRef;
use crate::sys;

/// Requests, messages or pieces in a turn: as many as hyper reads and writes before it yields.
const MOST: u32 = 16;

/// The longest turn, if nothing that is done in it takes longer by itself. A hundred such connections still let a
/// health check through within a tenth of a second.
const LONGEST: Duration = Duration::from_millis(1);

thread_local! {
    /// The turn that this thread is in.
    static TURN: Cell<Option<TurnBudget>> = const { Cell::new(None) };
    /// Whose turn it is.
    static CURRENT: RefCell<Option<Rc<Connection>>> = const { RefCell::new(None) };
    /// Where it says so.
    static SLOT: RefCell<Option<SlotRef>> = const { RefCell::new(None) };
}

/// What was done in a turn so far.
#[derive(Clone, Copy, Debug, Default)]
struct TurnBudget {
    counted: u32,
    /// How often the clock was asked.
    asked: u32,
    since: Option<Duration>,
}

/// A turn of a connection, until this is dropped.
pub(super) struct Turn(());

/// What the tasks of one connection use of the thread, beside its own.
#[derive(Default)]
pub(super) struct Share {
    used: Cell<Duration>,
    /// Tasks that wait for the next turn.
    waiting: RefCell<Vec<Waker>>,
}

/// A reading of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Exact,
    /// Some milliseconds late, for a third of the price.
    Coarse,
}

impl TurnBudget {
    /// The clock runs from here on.
    fn start(&mut self, clock: impl Fn(Reading) -> Duration) {
        self.since.get_or_insert_with(|| clock(Reading::Exact));
    }

    /// True if there is time left. Exact at first, so that slow steps end the turn at once; then mostly coarse, as many
    /// steps are fast ones.
    fn has_time(&mut self, clock: impl Fn(Reading) -> Duration) -> bool {
        let Some(since) = self.since else {
            self.start(clock);
            return true;
        };
        self.asked += 1;
        let reading = if self.asked.is_power_of_two() { Reading::Exact } else { Reading::Coarse };
        clock(reading).saturating_sub(since) < LONGEST
    }

    /// Counts a step, if it may be taken. The first one may.
    fn take(&mut self, clock: impl Fn(Reading) -> Duration) -> bool {
        let may = self.counted == 0 || self.counted < MOST && self.has_time(clock);
        self.counted += u32::from(may);
        may
    }
}

impl Turn {
    pub(super) fn begin(connection: &Rc<Connection>) -> Self {
        TURN.set(Some(TurnBudget::default()));
        CURRENT.replace(Some(Rc::clone(connection)));
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TURN.set(None);
        CURRENT.take();
    }
}

/// The time, of a clock that is never set.
fn clock(reading: Reading) -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let coarse = ClockId::MonotonicCoarse;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let coarse = ClockId::Monotonic;
    let time = clock_gettime(if reading == Reading::Exact { ClockId::Monotonic } else { coarse });
    let second = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(second, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Starts the clock of this turn: more is there than one step. The clock is not asked for a request that is alone.
pub(super) fn start_clock() {
    TURN.set(TURN.get().map(|mut turn| {
        turn.start(clock);
        turn
    }));
}

/// Ready if one more step may be taken in this turn. Work that is not in a turn of a connection, such as that of
/// another thread, always may.
pub(super) fn poll_proceed(cx: &Context<'_>) -> Poll<()> {
    poll(cx, |turn| turn.take(clock))
}

/// Ready if there is time left in this turn: for what is sent piece by piece, which is gathered, so that few of them
/// would make small packets.
pub(super) fn poll_time(cx: &Context<'_>) -> Poll<()> {
    poll(cx, |turn| turn.has_time(clock))
}

fn poll(cx: &Context<'_>, may: impl FnOnce(&mut TurnBudget) -> bool) -> Poll<()> {
    let Some(mut turn) = TURN.get() else { return Poll::Ready(()) };
    let may = may(&mut turn);
    TURN.set(Some(turn));
    if may {
        return Poll::Ready(());
    }
    defer(cx);
    Poll::Pending
}

/// Wakes the task when all others that are ready have run, and the runtime has looked for news of sockets. A task that
/// woke itself at once would run 61 times before the latter.
pub(super) fn defer(cx: &Context<'_>) {
    let mut own = Context::from_waker(cx.waker());
    let _ = pin!(tokio::task::yield_now()).poll(&mut own);
}

/// Has this thread answer the supervisor, which asks by a signal what it serves when it hangs.
pub(super) fn answer_as(slot_ref: &SlotRef) {
    SLOT.replace(Some(slot_ref.clone()));
    sys::signals::before_backtrace(tell_serving);
}

/// Always says something: the supervisor waits for that.
fn tell_serving() {
    let told = CURRENT.try_with(|current| {
        let current = current.try_borrow().ok()?;
        let connection = current.as_ref()?;
        let service = skep::log::with_request(|request| request.map(RequestLog::service));
        connection.context.tell_serving(service.unwrap_or(connection.upgraded.get()), connection.peer);
        Some(())
    });
    if !matches!(told, Ok(Some(()))) {
        let tell = |slot: &SlotRef| slot.tell("no connection");
        let _ = SLOT.try_with(|slot| slot.try_borrow().map(|slot| slot.iter().for_each(tell)));
    }
}

impl Share {
    /// Runs a task of this connection in a turn, if the others have not used the time up.
    pub(super) fn poll<F: Future + ?Sized>(
        connection: &Rc<Connection>,
        cx: &mut Context<'_>,
        task: Pin<&mut F>,
    ) -> Poll<F::Output> {
        let share = &connection.share;
        // Also for a single one, which its connection wakes as soon as there is room for what it has made.
        if share.used.get() >= LONGEST {
            share.wait(connection, cx.waker());
            return Poll::Pending;
        }
        let begun = clock(Reading::Exact);
        let polled = {
            let _turn = Turn::begin(connection);
            task.poll(cx)
        };
        share.used.set(share.used.get() + clock(Reading::Exact).saturating_sub(begun));
        polled
    }

    /// Waits with the others. The first one has all of them woken when everybody else had a turn.
    fn wait(&self, connection: &Rc<Connection>, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        waiting.push(waker.clone());
        if waiting.len() == 1 {
            let connection = Rc::clone(connection);
            tokio::task::spawn_local(async move {
                tokio::task::yield_now().await;
                connection.share.used.set(Duration::ZERO);
                connection.share.waiting.take().into_iter().for_each(Waker::wake);
            });
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/connection/turn.rs"]
mod tests;

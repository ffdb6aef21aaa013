//! Statements that nobody waits for any more: a client left, or a request took too long.
//!
//! Such a statement runs on in a task of its own, so that what is known of its connection stays true. If nothing of it
//! is to stay, PostgreSQL is asked to cancel it once it is the first in its connection. That request names the
//! connection and no statement, and may take its time on the way: a connection that was named in one is given no new
//! statements, and is closed once those behind it are answered. Should it hit one of them, that one is run again, of
//! which nothing was done.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use skep_units::lock;
use tokio::runtime::Handle;

use super::connection::Connection;

/// How long what is abandoned may go on: most statements are over by then, and the connection stays.
const GRACE: Duration = Duration::from_millis(100);

/// The statements of a connection that are sent and not answered.
#[derive(Default)]
pub(super) struct Flights {
    next: u64,
    /// In the order in which they were sent.
    open: VecDeque<Flight>,
    /// A request to cancel is on the way, or is about to be.
    is_cancelling: bool,
    /// There was one.
    is_retired: bool,
}

struct Flight {
    number: u64,
    /// Nobody waits for it, and nothing of it is to stay.
    is_abandoned: bool,
    /// There was a request to cancel another one that was sent before.
    may_be_hit: bool,
}

/// What is done about a statement that nobody waits for any more.
#[derive(Clone, Copy)]
pub(super) enum Care {
    /// PostgreSQL is asked to cancel it.
    Cancel,
    /// It is done to its end.
    Finish,
}

impl Connection {
    /// How many statements are sent and not answered.
    pub(super) fn in_flight(&self) -> usize {
        lock(&self.flights).open.len()
    }

    /// Nothing new may be sent.
    pub(super) fn is_retired(&self) -> bool {
        self.is_closed() || lock(&self.flights).is_retired
    }

    /// Nothing new is sent from now on.
    pub(super) fn retire(&self) {
        lock(&self.flights).is_retired = true;
    }

    /// Runs `work`, which gives this connection a statement, to its end, also if the future is dropped. From now on
    /// until `work` drops what it is given, the connection counts as one with that statement.
    pub(super) fn to_end<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        self: &Arc<Self>,
        care: Care,
        work: impl FnOnce(Sent) -> F,
    ) -> ToEnd<T> {
        let sent = self.depart();
        let number = sent.number;
        let work = work(sent);
        ToEnd { work: Some(Box::pin(work)), has_begun: false, care, number, connection: Arc::clone(self) }
    }

    fn depart(self: &Arc<Self>) -> Sent {
        let mut flights = lock(&self.flights);
        flights.next += 1;
        let number = flights.next;
        flights.open.push_back(Flight { number, is_abandoned: false, may_be_hit: false });
        Sent { connection: Arc::clone(self), number }
    }

    fn land(self: &Arc<Self>, number: u64) {
        let mut flights = lock(&self.flights);
        // Answers come in the order of the statements, so it is one of the first.
        if let Some(nth) = flights.open.iter().position(|flight| flight.number == number) {
            flights.open.remove(nth);
        }
        drop(flights);
        self.cancel_first();
    }

    fn abandon(self: &Arc<Self>, number: u64) {
        if !self.cancels {
            return;
        }
        if let Some(flight) = lock(&self.flights).open.iter_mut().find(|flight| flight.number == number) {
            flight.is_abandoned = true;
        }
        self.cancel_first();
    }

    /// Cancels the statement that PostgreSQL runs now, if nobody waits for it.
    fn cancel_first(self: &Arc<Self>) {
        let mut flights = lock(&self.flights);
        let Some(first) = flights.abandoned_first().filter(|_| !flights.is_cancelling) else { return };
        // Without a runtime there are no connections any more.
        let Ok(runtime) = Handle::try_current() else { return };
        flights.is_cancelling = true;
        drop(flights);
        let connection = Arc::clone(self);
        runtime.spawn(async move {
            tokio::time::sleep(GRACE).await;
            let still_runs = lock(&connection.flights).retire_for(first);
            if still_runs {
                connection.cancel().await;
            }
            lock(&connection.flights).is_cancelling = false;
            // Another one may be the first now. The same one again, if the request did not arrive.
            connection.cancel_first();
        });
    }
}

impl Flights {
    /// The statement that PostgreSQL runs now, if nobody waits for it.
    fn abandoned_first(&self) -> Option<u64> {
        self.open.front().filter(|first| first.is_abandoned).map(|first| first.number)
    }

    /// Notes that this statement is about to be cancelled; false if it is over.
    fn retire_for(&mut self, first: u64) -> bool {
        let still_runs = self.abandoned_first() == Some(first);
        if still_runs {
            self.is_retired = true;
            self.open.iter_mut().for_each(|flight| flight.may_be_hit = true);
        }
        still_runs
    }
}

/// A statement that is sent, or about to be. It is answered when this is dropped.
pub(super) struct Sent {
    connection: Arc<Connection>,
    number: u64,
}

impl Sent {
    /// A request to cancel may have hit it that was meant for another one.
    pub(super) fn may_be_hit(&self) -> bool {
        let flights = lock(&self.connection.flights);
        let flight = flights.open.iter().find(|flight| flight.number == self.number);
        flight.is_some_and(|flight| flight.may_be_hit && !flight.is_abandoned)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.connection.land(self.number);
    }
}

/// Work that is done to its end once it has begun.
pub(super) struct ToEnd<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    has_begun: bool,
    care: Care,
    number: u64,
    connection: Arc<Connection>,
}

impl<T: Send + 'static> Future for ToEnd<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.has_begun = true;
        // It is taken out meanwhile: should it panic, nothing of it is left to go on.
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        self.work = polled.is_pending().then_some(work);
        polled
    }
}

impl<T: Send + 'static> Drop for ToEnd<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take().filter(|_| self.has_begun) else { return };
        // Without a runtime there are no connections any more.
        let Ok(runtime) = Handle::try_current() else { return };
        if matches!(self.care, Care::Cancel) {
            self.connection.abandon(self.number);
        }
        runtime.spawn(work);
    }
}

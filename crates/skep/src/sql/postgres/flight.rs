//! Statements that nobody waits for any more: a client left, or a request took too long.
//!
//! Such a statement runs on in a task of its own, so that what is known of its connection stays true. If it only reads, PostgreSQL is asked
//! to cancel it once it is the first in its connection. That request names the connection and no statement: should it hit the next one, that
//! one is run again, of which nothing was done.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use super::connection::Connection;

/// The statements of a connection that are sent and not answered.
#[derive(Default)]
pub(super) struct Flights {
    next: u64,
    /// In the order in which they were sent.
    open: VecDeque<Flight>,
    is_cancelling: bool,
}

struct Flight {
    number: u64,
    /// Nobody waits for it, and it only reads.
    is_abandoned: bool,
    /// A request to cancel was under way at the same time.
    may_be_hit: bool,
}

impl Connection {
    /// How many statements are sent and not answered.
    pub(super) fn in_flight(&self) -> usize {
        self.flights().open.len()
    }

    /// Runs `work`, which is given to this connection with that statement, to its end, also if the future is dropped. The other part of its
    /// value is true if the statement may have been cancelled by mistake.
    pub(super) fn to_end<T: Send + 'static>(
        self: &Arc<Self>,
        text: &Arc<str>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> ToEnd<T> {
        let number = self.depart();
        let connection = Arc::clone(self);
        let work = Box::pin(async move {
            let value = work.await;
            (value, connection.land(number))
        });
        ToEnd { work: Some(work), has_begun: false, number, text: Arc::clone(text), connection: Arc::clone(self) }
    }

    fn depart(&self) -> u64 {
        let mut flights = self.flights();
        flights.next += 1;
        let flight = Flight { number: flights.next, is_abandoned: false, may_be_hit: flights.is_cancelling };
        flights.open.push_back(flight);
        flights.next
    }

    /// True if a request to cancel may have hit it that was meant for another.
    fn land(self: &Arc<Self>, number: u64) -> bool {
        let mut flights = self.flights();
        let place = flights.open.iter().position(|flight| flight.number == number);
        let flight = place.and_then(|place| flights.open.remove(place));
        drop(flights);
        self.cancel_first();
        flight.is_some_and(|flight| flight.may_be_hit && !flight.is_abandoned)
    }

    fn abandon(self: &Arc<Self>, number: u64) {
        if let Some(flight) = self.flights().open.iter_mut().find(|flight| flight.number == number) {
            flight.is_abandoned = true;
        }
        self.cancel_first();
    }

    /// Cancels the statement that PostgreSQL runs now, if nobody waits for it.
    fn cancel_first(self: &Arc<Self>) {
        let mut flights = self.flights();
        let is_wanted = flights.open.front().is_none_or(|first| !first.is_abandoned);
        let Some(runtime) = Handle::try_current().ok().filter(|_| !is_wanted && !flights.is_cancelling) else { return };
        flights.is_cancelling = true;
        flights.open.iter_mut().for_each(|flight| flight.may_be_hit = true);
        drop(flights);
        let connection = Arc::clone(self);
        runtime.spawn(async move {
            connection.cancel().await;
            connection.flights().is_cancelling = false;
        });
    }

    // Nothing that is done under this lock can panic half-way.
    fn flights(&self) -> MutexGuard<'_, Flights> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that is done to its end once it has begun.
pub(super) struct ToEnd<T: Send + 'static> {
    work: Option<Work<T>>,
    has_begun: bool,
    number: u64,
    text: Arc<str>,
    connection: Arc<Connection>,
}

type Work<T> = Pin<Box<dyn Future<Output = (T, bool)> + Send>>;

impl<T: Send + 'static> Future for ToEnd<T> {
    type Output = (T, bool);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.has_begun = true;
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for ToEnd<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        match Handle::try_current() {
            Ok(runtime) if self.has_begun => {
                if self.connection.reads_only(&self.text) {
                    self.connection.abandon(self.number);
                }
                runtime.spawn(work);
            }
            // Without a runtime there are no connections any more.
            _ => _ = self.connection.land(self.number),
        }
    }
}

//! Statements in flight, and what becomes of one whose request has ended: a client left, or it took too long.
//!
//! Such a statement is read to its end in a task of its own, so that the next answer on its connection is the next
//! statement's. One that is to be cancelled is, once it is the first in flight there, by a request to cancel. That
//! names the connection and no statement, and may arrive late: the connection is retired, which means that it gets no
//! new statements and is closed once those in flight are answered. If the request hits one of these instead, that one
//! is run again, since PostgreSQL has done nothing of it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use skep_units::lock;
use tokio::runtime::Handle;

use super::connection::Connection;

/// How long an abandoned statement may go on before it is cancelled: most are over by then, and the connection stays.
const CANCEL_AFTER: Duration = Duration::from_millis(100);

/// The statements of a connection that are sent and not answered.
#[derive(Default)]
pub(super) struct InFlight {
    next: u64,
    /// In the order in which they were sent.
    open: VecDeque<Statement>,
    /// A request to cancel is on the way, or is about to be.
    is_cancelling: bool,
    /// There was one.
    is_retired: bool,
}

struct Statement {
    number: u64,
    /// Its future was dropped, and it is to be cancelled.
    is_abandoned: bool,
    /// A request to cancel a statement before it may have reached it.
    may_be_cancelled: bool,
}

/// What is done about a statement whose future is dropped.
#[derive(Clone, Copy)]
pub(super) enum OnDrop {
    /// It is cancelled.
    Cancel,
    /// It runs to its end.
    Finish,
}

impl Connection {
    /// How many statements are sent and not answered.
    pub(super) fn in_flight(&self) -> usize {
        lock(&self.in_flight).open.len()
    }

    /// Nothing new may be sent.
    pub(super) fn is_retired(&self) -> bool {
        self.is_closed() || lock(&self.in_flight).is_retired
    }

    /// Nothing new is sent from now on.
    pub(super) fn retire(&self) {
        lock(&self.in_flight).is_retired = true;
    }

    /// Runs `work`, which gives this connection a statement, to its end, also if the future is dropped. From now on
    /// until `work` drops what it is given, the connection counts as one with that statement.
    pub(super) fn run_to_end<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        self: &Arc<Self>,
        on_drop: OnDrop,
        work: impl FnOnce(Sent) -> F,
    ) -> RunToEnd<T> {
        let sent = self.push();
        let number = sent.number;
        let work = work(sent);
        RunToEnd { work: Some(Box::pin(work)), has_begun: false, on_drop, number, connection: Arc::clone(self) }
    }

    fn push(self: &Arc<Self>) -> Sent {
        let mut in_flight = lock(&self.in_flight);
        in_flight.next += 1;
        let number = in_flight.next;
        in_flight.open.push_back(Statement { number, is_abandoned: false, may_be_cancelled: false });
        Sent { connection: Arc::clone(self), number }
    }

    fn complete(self: &Arc<Self>, number: u64) {
        let mut in_flight = lock(&self.in_flight);
        // Answers come in the order of the statements, so it is one of the first.
        if let Some(nth) = in_flight.open.iter().position(|statement| statement.number == number) {
            in_flight.open.remove(nth);
        }
        drop(in_flight);
        self.cancel_first();
    }

    fn abandon(self: &Arc<Self>, number: u64) {
        if !self.cancels {
            return;
        }
        if let Some(statement) = lock(&self.in_flight).open.iter_mut().find(|statement| statement.number == number) {
            statement.is_abandoned = true;
        }
        self.cancel_first();
    }

    /// Cancels the statement that PostgreSQL runs now, if it is abandoned.
    fn cancel_first(self: &Arc<Self>) {
        let mut in_flight = lock(&self.in_flight);
        let Some(first) = in_flight.abandoned_first().filter(|_| !in_flight.is_cancelling) else { return };
        // Without a runtime there are no connections any more.
        let Ok(runtime) = Handle::try_current() else { return };
        in_flight.is_cancelling = true;
        drop(in_flight);
        let connection = Arc::clone(self);
        runtime.spawn(async move {
            tokio::time::sleep(CANCEL_AFTER).await;
            let still_runs = lock(&connection.in_flight).retire_for(first);
            if still_runs {
                connection.cancel().await;
            }
            lock(&connection.in_flight).is_cancelling = false;
            // Another one may be the first now. The same one again, if the request did not arrive.
            connection.cancel_first();
        });
    }
}

impl InFlight {
    /// The statement that PostgreSQL runs now, if it is abandoned.
    fn abandoned_first(&self) -> Option<u64> {
        self.open.front().filter(|first| first.is_abandoned).map(|first| first.number)
    }

    /// Notes that this statement is about to be cancelled; false if it is over.
    fn retire_for(&mut self, first: u64) -> bool {
        let still_runs = self.abandoned_first() == Some(first);
        if still_runs {
            self.is_retired = true;
            self.open.iter_mut().for_each(|statement| statement.may_be_cancelled = true);
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
    pub(super) fn may_be_cancelled(&self) -> bool {
        let in_flight = lock(&self.connection.in_flight);
        let statement = in_flight.open.iter().find(|statement| statement.number == self.number);
        statement.is_some_and(|statement| statement.may_be_cancelled && !statement.is_abandoned)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.connection.complete(self.number);
    }
}

/// Work that is done to its end once it has begun.
pub(super) struct RunToEnd<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    has_begun: bool,
    on_drop: OnDrop,
    number: u64,
    connection: Arc<Connection>,
}

impl<T: Send + 'static> Future for RunToEnd<T> {
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

impl<T: Send + 'static> Drop for RunToEnd<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take().filter(|_| self.has_begun) else { return };
        // Without a runtime there are no connections any more.
        let Ok(runtime) = Handle::try_current() else { return };
        if matches!(self.on_drop, OnDrop::Cancel) {
            self.connection.abandon(self.number);
        }
        runtime.spawn(work);
    }
}

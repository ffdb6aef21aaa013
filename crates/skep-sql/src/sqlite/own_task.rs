//! A write that waits for a transaction of its own task, which waits for the write.
//!
//! There is one writer, so neither would end. A task is known by its waker. The write is not an error at once, since a
//! task may do several things at a time (`join!`), and the transaction may be about to end: it is one after
//! `busy_timeout`, as it is where another process holds the lock.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep_cache::{Clock, Sleep};
use skep_units::lock;

use crate::error::{Kind, Result};

/// The task whose transaction holds the writer.
#[derive(Clone, Default)]
pub(super) struct Holder(Arc<Mutex<HeldBy>>);

#[derive(Default)]
struct HeldBy {
    /// How many transactions have held the writer.
    count: u64,
    /// Of the task whose transaction holds it now.
    waker: Option<Waker>,
}

/// While it is there, the task that made it, or renewed it last, is the [`Holder`].
pub(super) struct Held(Holder);

impl Holder {
    /// Notes that this task holds the writer.
    pub(super) async fn hold(&self) -> Held {
        poll_fn(|cx| {
            let mut state = lock(&self.0);
            state.count += 1;
            state.waker = Some(cx.waker().clone());
            Poll::Ready(Held(self.clone()))
        })
        .await
    }

    /// What `wait` gives, unless it has waited for so long for one transaction of its own task.
    pub(super) async fn wait<T>(&self, wait: impl Future<Output = Result<T>>, limit: Duration) -> Result<T> {
        let (mut wait, mut timer) = (pin!(wait), None);
        poll_fn(|cx| {
            let polled = wait.as_mut().poll(cx);
            if polled.is_ready() {
                return polled;
            }
            let Some(number) = self.number(cx) else { return Poll::Pending };
            let (of, sleep) = timer.get_or_insert_with(|| (number, after(limit)));
            // Many short ones of a task may follow one another before it is the turn of this write.
            if *of != number {
                (*of, *sleep) = (number, after(limit));
            }
            Pin::new(sleep).poll(cx).map(|()| Err(Kind::OwnTask { waited: limit }.into()))
        })
        .await
    }

    /// The number of the transaction that holds the writer, if it is of this task.
    fn number(&self, cx: &Context<'_>) -> Option<u64> {
        let state = lock(&self.0);
        let is_own = state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        is_own.then_some(state.count)
    }
}

impl Held {
    /// Notes that this task has the transaction now, which may have been begun by another one.
    pub(super) async fn renew(&self) {
        poll_fn(|cx| {
            if let Some(waker) = &mut lock(&self.0.0).waker {
                waker.clone_from(cx.waker());
            }
            Poll::Ready(())
        })
        .await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What a waker does when it is dropped is its runtime's: not under the lock.
        let _waker = lock(&self.0.0).waker.take();
    }
}

/// A timer of no runtime.
fn after(time: Duration) -> Sleep {
    let clock = Clock::system();
    clock.sleep_until(clock.now().plus(time))
}

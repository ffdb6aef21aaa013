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
pub(super) struct Holder(Arc<Mutex<Option<Waker>>>);

/// While it is there, the task that made it is the [`Holder`].
pub(super) struct Held(Holder);

impl Holder {
    /// Notes that this task holds the writer.
    pub(super) async fn hold(&self) -> Held {
        poll_fn(|cx| {
            *lock(&self.0) = Some(cx.waker().clone());
            Poll::Ready(Held(self.clone()))
        })
        .await
    }

    /// What `wait` gives, unless it has waited for so long while its own task holds the writer.
    pub(super) async fn wait<T>(&self, wait: impl Future<Output = Result<T>>, limit: Duration) -> Result<T> {
        let (mut wait, mut sleep) = (pin!(wait), None);
        poll_fn(|cx| match wait.as_mut().poll(cx) {
            Poll::Pending if self.is(cx) => {
                let sleep = sleep.get_or_insert_with(|| after(limit));
                Pin::new(sleep).poll(cx).map(|()| Err(Kind::OwnTask { waited: limit }.into()))
            }
            polled => polled,
        })
        .await
    }

    fn is(&self, cx: &Context<'_>) -> bool {
        lock(&self.0).as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        *lock(&self.0.0) = None;
    }
}

/// A timer of no runtime.
fn after(time: Duration) -> Sleep {
    let clock = Clock::system();
    clock.sleep_until(clock.now().plus(time))
}

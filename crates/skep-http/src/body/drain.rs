//! Learning that the server drains: it stops, or a new version takes over, and what is still being sent should end.
//!
//! A server waits for open responses up to `grace`. A stream without an end, such as [events](crate::sse), makes it
//! wait for nothing; so it listens to [`Draining`].

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use skep_units::lock;

/// Whether the server drains, and who wants to know.
#[derive(Debug, Default)]
pub struct DrainSignal {
    has_begun: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl DrainSignal {
    /// The server drains from now on.
    pub fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut lock(&self.waiting).wakers);
        waiting.into_values().for_each(Waker::wake);
    }

    /// For somebody who wants to know.
    pub fn listen(self: &Arc<Self>) -> Draining {
        Draining { signal: Arc::clone(self), place: None }
    }
}

/// A future that is ready once the server drains, from `Cx::draining`. In a component it never
/// is: its host ends requests by their time limit.
pub struct Draining {
    signal: Arc<DrainSignal>,
    place: Option<u64>,
}

impl Draining {
    /// True if the server drains.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.signal.has_begun.load(Ordering::Acquire)
    }

    /// The stream, which ends once the server drains.
    pub fn cut<S: Stream>(self, stream: S) -> Cut<S> {
        Cut { stream: Box::pin(stream), draining: self }
    }

    fn leave(&mut self) {
        if let Some(place) = self.place.take() {
            lock(&self.signal.waiting).wakers.remove(&place);
        }
    }
}

impl Future for Draining {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.has_begun() {
            return Poll::Ready(());
        }
        let signal = Arc::clone(&self.signal);
        let mut waiting = lock(&signal.waiting);
        let place = *self.place.get_or_insert_with(|| {
            waiting.last += 1;
            waiting.last
        });
        if waiting.wakers.get(&place).is_none_or(|known| !known.will_wake(cx.waker())) {
            waiting.wakers.insert(place, cx.waker().clone());
        }
        drop(waiting);
        // It may have begun meanwhile, and wakes nobody a second time.
        if self.has_begun() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Clone for Draining {
    fn clone(&self) -> Self {
        self.signal.listen()
    }
}

impl Drop for Draining {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Draining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Draining({})", self.has_begun())
    }
}

/// A stream that ends once the server drains: [`Draining::cut`].
#[derive(Debug)]
pub struct Cut<S> {
    stream: Pin<Box<S>>,
    draining: Draining,
}

impl<S: Stream> Stream for Cut<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        if Pin::new(&mut self.draining).poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        self.stream.as_mut().poll_next(cx)
    }
}

//! A subscriber of the program's own, beside the log.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use skep_units::lock;
use tracing::{Subscriber, dispatcher};

use crate::sys::tee::BoxedSubscriber;

/// A subscriber of the program's own, which is made in each process that serves: not before it is forked, since it may
/// start threads.
pub struct OwnSubscriber {
    make: Mutex<Option<Box<Make>>>,
    made: Arc<OnceLock<BoxedSubscriber>>,
    guard: Mutex<Option<Box<dyn Any + Send>>>,
}

type Make = dyn FnOnce() -> (BoxedSubscriber, Box<dyn Any + Send>) + Send;

impl OwnSubscriber {
    /// One that `make` returns, and what is dropped at the end of the process.
    pub fn new<S, G>(make: impl FnOnce() -> (S, G) + Send + 'static) -> Self
    where
        S: Subscriber + Send + Sync,
        G: Send + 'static,
    {
        let make = move || -> (BoxedSubscriber, Box<dyn Any + Send>) {
            let (subscriber, guard) = make();
            (Box::new(subscriber), Box::new(guard))
        };
        Self { make: Mutex::new(Some(Box::new(make))), made: Arc::default(), guard: Mutex::default() }
    }

    /// Where it will be.
    pub(super) fn cell(&self) -> Arc<OnceLock<BoxedSubscriber>> {
        Arc::clone(&self.made)
    }

    /// Makes it, the first time.
    pub(super) fn start(&self) {
        let Some(make) = lock(&self.make).take() else { return };
        let (subscriber, guard) = make();
        *lock(&self.guard) = Some(guard);
        let subscriber = self.made.get_or_init(|| subscriber);
        dispatcher::get_default(|dispatch| subscriber.on_register_dispatch(dispatch));
        // Callsites have noted what is wanted of them.
        tracing::callsite::rebuild_interest_cache();
    }

    /// Lets it write what it has.
    pub(super) fn finish(&self) {
        let guard = lock(&self.guard).take();
        drop(guard);
    }
}

impl fmt::Debug for OwnSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnSubscriber")
    }
}

//! Waiting for a future without a runtime: this thread sleeps until it is woken.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The value of a future, for which this thread waits. For sync programs and tests; what needs a runtime needs it here too.
///
/// ```
/// assert_eq!(skep_cache::driver::block_on(async { 1 + 1 }), 2);
/// ```
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return value;
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            // One who waits for nothing but a moment; there is no other thread that could wake it.
            #[cfg(target_family = "wasm")]
            Poll::Pending => assert!(crate::timer::pass(), "a future waits for something that nobody is going to do"),
            #[cfg(not(target_family = "wasm"))]
            Poll::Pending => std::thread::park(),
        }
    }
}

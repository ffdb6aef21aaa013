//! Blocks this thread until a future is ready, without a runtime.

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

/// Blocks until a future is ready and returns its value. Drivers that need a runtime need it here too.
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
            // A component has one thread: nothing but the timer can wake it.
            #[cfg(target_family = "wasm")]
            Poll::Pending => {
                assert!(crate::timer::pass(), "deadlock: the future waits for something other than a timer")
            }
            #[cfg(not(target_family = "wasm"))]
            Poll::Pending => std::thread::park(),
        }
    }
}

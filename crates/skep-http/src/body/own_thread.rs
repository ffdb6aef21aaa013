//! Values that stay on the thread that made them, in bodies, which may be carried to another one.
//!
//! A stream that owns a handle of the database is polled and dropped by the thread of its request. Here is no way to
//! use it elsewhere.

use send_wrapper::SendWrapper;

/// A value of one thread. Other threads may carry it, and see nothing of it.
pub(crate) struct OwnThread<T>(Option<SendWrapper<T>>);

impl<T> OwnThread<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(SendWrapper::new(value)))
    }

    /// The value, on its own thread.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut().filter(|value| value.valid()).map(|value| &mut **value)
    }

    /// The value, on its own thread.
    pub(crate) fn take(mut self) -> Option<T> {
        self.0.take_if(|value| value.valid()).map(SendWrapper::take)
    }
}

impl<T> Drop for OwnThread<T> {
    fn drop(&mut self) {
        // The wrapper would panic: dropped elsewhere, the value is lost, which is no danger to anybody.
        if let Some(value) = self.0.take_if(|value| !value.valid()) {
            std::mem::forget(value);
        }
    }
}

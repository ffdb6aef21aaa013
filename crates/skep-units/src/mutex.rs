//! Locks that a panic of another thread leaves as they are.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose data is whole at any time: a panic of another thread that held it does no harm.
///
/// ```
/// let count = std::sync::Mutex::new(1);
/// *skep_units::lock(&count) += 1;
/// assert_eq!(*skep_units::lock(&count), 2);
/// ```
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

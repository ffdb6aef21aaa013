//! Locks that a panic of another thread leaves as they are.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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

/// Locks what many read and few write, for reading; as [`lock`] does.
pub fn read_lock<T: ?Sized>(data: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    data.read().unwrap_or_else(PoisonError::into_inner)
}

/// The same, for writing.
pub fn write_lock<T: ?Sized>(data: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    data.write().unwrap_or_else(PoisonError::into_inner)
}

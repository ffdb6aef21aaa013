//! Blocking work on the threads that tokio has for it.

use std::fmt;

use tokio::runtime::Handle;

use super::Offload;

/// Runs every job on a thread for blocking work of a runtime of tokio (`spawn_blocking`). With the feature `tokio`.
///
/// A database gives it no more jobs at once than it has connections: one that writes,
/// [`readers`](crate::Options::readers) and [`streams`](crate::Options::streams).
///
/// ```
/// use std::sync::Arc;
/// use skep_sql::offload::{self, offload};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = Arc::new(offload::Tokio::current());
/// assert_eq!(offload(&*pool, || 6 * 7).await.unwrap(), 42);
/// # });
/// ```
#[derive(Clone)]
pub struct Tokio(Handle);

impl Tokio {
    /// Of the runtime that this is called in.
    ///
    /// # Panics
    /// Outside of a runtime.
    #[must_use]
    pub fn current() -> Self {
        Self(Handle::current())
    }

    /// Of this runtime.
    #[must_use]
    pub fn of(runtime: Handle) -> Self {
        Self(runtime)
    }
}

impl Offload for Tokio {
    /// Once the runtime is shut down, the job is dropped.
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        drop(self.0.spawn_blocking(job));
    }
}

impl fmt::Debug for Tokio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokio")
    }
}

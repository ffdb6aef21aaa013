//! Work that may block goes elsewhere.
//!
//! A handler runs on its thread's reactor, where blocking stalls every other request of that thread. This crate starts
//! no thread, so the server brings an [`Offload`].
//!
//! Start reading at [`offload`].

#[cfg(all(feature = "tokio", not(target_family = "wasm")))]
mod on_tokio;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_channel::oneshot;

#[cfg(all(feature = "tokio", not(target_family = "wasm")))]
pub use self::on_tokio::Tokio;

/// Runs work that may block somewhere where blocking harms no one.
///
/// The server of skep brings one; for an application of axum, or any other on tokio, `Tokio` is one, with the feature
/// `tokio`; without a server (tests, tools) [`Inline`] runs it at once.
pub trait Offload: Send + Sync {
    /// Takes the job and returns at once; the job runs later, on another thread. A job that finds the queue full is
    /// dropped, which its giver hears of.
    fn run(&self, job: Box<dyn FnOnce() + Send>);

    /// True if its jobs carry what belongs to the request that gives them.
    #[doc(hidden)]
    fn carries(&self) -> bool {
        false
    }
}

/// Runs every job at once, on the thread that gives it. For tests and tools, where blocking stalls nobody else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

impl Offload for Inline {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        job();
    }
}

/// Runs `work` by way of `pool` and waits for its value without blocking. In a handler, `cx.offload` does it on the
/// server's pool, whose jobs carry what belongs to the request: its id in the log, and the nonce of its page. Those of
/// a pool of your own do not.
///
/// A job that panics or that the pool drops is an error; the latter is answered 503, because the queue of the pool is
/// full. If the future is dropped, a job that has begun runs to its end, and one that still waits is skipped:
/// [`offload_to_end`] is for what must be done all the same.
///
/// ```
/// use skep_sql::offload::{Inline, offload};
///
/// # async fn example() -> Result<(), skep_sql::offload::Lost> {
/// let sum = offload(&Inline, || (1..=4).sum::<u32>()).await?;
/// assert_eq!(sum, 10);
/// # Ok(()) }
/// ```
pub async fn offload<T: Send + 'static>(
    pool: &dyn Offload,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Lost> {
    run(pool, work, false).await
}

/// The same, but the job is detached, and runs to its end even if its caller is gone: to end a session, to store what a
/// client was told is stored.
pub async fn offload_to_end<T: Send + 'static>(
    pool: &dyn Offload,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Lost> {
    run(pool, work, true).await
}

async fn run<T: Send + 'static>(
    pool: &dyn Offload,
    work: impl FnOnce() -> T + Send + 'static,
    to_end: bool,
) -> Result<T, Lost> {
    let (answer, answered) = oneshot::channel();
    pool.run(Box::new(move || {
        if !to_end && answer.is_canceled() {
            return;
        }
        let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Lost { panic: text_of(&*panic) });
        // If the handler was dropped, the value goes with it.
        let _ = answer.send(outcome);
    }));
    answered.await.unwrap_or(Err(Lost { panic: None }))
}

/// A job gave no value: it panicked, or its pool dropped it.
#[derive(Debug)]
pub struct Lost {
    panic: Option<String>,
}

impl Lost {
    /// What the client may be told if the same request may succeed later.
    #[doc(hidden)]
    #[must_use]
    pub fn public_message(&self) -> Option<&'static str> {
        self.panic.is_none().then_some("the server is busy: please try again later")
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.panic {
            Some(text) => write!(f, "work that was given to the pool panicked: {text}"),
            None => f.write_str("the queue for blocking work is full (limits.blocking_queue)"),
        }
    }
}

impl std::error::Error for Lost {}

fn text_of(panic: &(dyn std::any::Any + Send)) -> Option<String> {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).or_else(|| Some("no message".to_owned()))
}

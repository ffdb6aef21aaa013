//! Threads for blocking work.
//!
//! They start when there is work and no thread is idle, and end after some idle time. Work waits while all threads are
//! busy, in a queue of bounded length: what finds it full is dropped, and its request gets a 503.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use skep::offload::Offload;
use skep_settings::settings;
use tokio::runtime::Handle;

/// How long an idle thread waits for work.
const PATIENCE: Duration = Duration::from_secs(10);

/// Work, and the runtime of the thread that submits it: the work may ask a cache over the network.
type Job = (Box<dyn FnOnce() + Send>, Option<Handle>);

settings! {
    /// How much blocking work there may be.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Limits in "limits" {
        /// Maximum number of pieces of blocking work that wait for a thread (503). What belongs to a request that was
        /// cancelled is skipped.
        queue as "limits.blocking_queue": usize = Number(1..=10_000_000), 4096;
        /// Maximum number of threads for blocking work. They start on demand and end when idle.
        threads as "limits.blocking_threads": usize = Number(1..=4096), 16;
    }
}

/// Threads for blocking work.
#[derive(Clone)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    most: usize,
    /// Maximum length of the queue.
    queue: usize,
    /// Work is done by the thread that submits it.
    inline: AtomicBool,
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Pool {
    /// At most `most` threads, and `queue` jobs that wait for one. None is started yet.
    pub(crate) fn new(most: usize, queue: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                most,
                queue,
                inline: AtomicBool::new(false),
                state: Mutex::default(),
                work: Condvar::new(),
            }),
        }
    }

    /// Whether the thread that submits work does it itself, so that no thread starts.
    pub(crate) fn set_inline(&self, yes: bool) {
        self.shared.inline.store(yes, Ordering::Relaxed);
    }

    fn start_thread(&self) {
        let shared = Arc::clone(&self.shared);
        let started = thread::Builder::new().name("blocking".into()).spawn(move || shared.run());
        if let Err(error) = started {
            let mut state = self.shared.lock();
            state.threads -= 1;
            let stranded = state.threads == 0;
            drop(state);
            tracing::error!(%error, "cannot start a thread for blocking work");
            // Without any thread, the work is done here.
            while let Some(job) = stranded.then(|| self.shared.lock().jobs.pop_front()).flatten() {
                work(job);
            }
        }
    }
}

impl Offload for Pool {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        let job = (job, Handle::try_current().ok());
        if self.shared.inline.load(Ordering::Relaxed) {
            return work(job);
        }
        let mut state = self.shared.lock();
        if state.jobs.len() >= self.shared.queue {
            drop(state);
            return tracing::warn!("the queue for blocking work is full (limits.blocking_queue)");
        }
        state.jobs.push_back(job);
        let grow = state.idle < state.jobs.len() && state.threads < self.shared.most;
        state.threads += usize::from(grow);
        drop(state);
        if grow {
            self.start_thread();
        } else {
            self.shared.work.notify_one();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        skep_units::lock(&self.state)
    }

    fn run(&self) {
        while let Some(job) = self.next() {
            work(job);
        }
    }

    /// The next job, or `None` after an idle time, when this thread should end.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            let (woken, waited) = self.work.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }
}

/// If a job panics, its submitter notices that the job was dropped; the thread continues.
fn work((job, runtime): Job) {
    let _entered = runtime.as_ref().map(Handle::enter);
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("a blocking job panicked");
    }
}

#[cfg(test)]
#[path = "../tests/unit/offload.rs"]
mod tests;

//! The instances of a version that wait for requests.
//!
//! A request gets an instance that keeps its state (`cached`), or one that was reset, or a new one.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::instance::Instance;
use crate::program::Program;
use crate::reuse::Reuse;
use crate::state::IdleMemory;
use crate::sys::SHORTCUT_MISSED_A_PAGE;

#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) reuse: Option<Reuse>,
    /// Instances that keep their state.
    cached: Mutex<Vec<Idle>>,
    /// The length of `cached`: most versions have none, and take no lock.
    cached_count: AtomicU32,
    /// Instances that were reset.
    recycled: Mutex<Vec<Idle>>,
    /// Another version serves: nothing is put into the pool.
    is_closed: AtomicBool,
    /// Resets in a row that failed.
    failed_resets: AtomicU64,
    /// An instance that had served before returned without a response.
    silent_again: AtomicBool,
    /// So did a new one.
    silent_at_once: AtomicBool,
    /// One that had served before responded: its program can serve again.
    answered_again: AtomicBool,
    /// The requests of instances do not count.
    is_trial: AtomicBool,
}

/// An instance between two requests.
struct Idle {
    instance: Instance,
    since: Instant,
}

/// How an instance came to a request, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct PoolCounts {
    pub(crate) made: AtomicU64,
    /// Used again with their state.
    pub(crate) reused: AtomicU64,
    /// Put into the pool with their state.
    pub(crate) cached: AtomicU64,
    /// Used again after a reset.
    pub(crate) recycled: AtomicU64,
}

/// At most this many instances that were reset wait: twice as many as the allocator keeps warm.
const MOST_RECYCLED: usize = 32;

/// An instance that was reset waits at most this long.
const RECYCLED_IDLE: Duration = Duration::from_secs(10);

/// After this many failed resets in a row, one instance in as many is prepared for a reset.
const FUTILE: u64 = 64;

impl IdleMemory for Pool {
    fn drop_idle(&self) {
        // They are dropped without the locks: that takes a while for each.
        drop(self.take_cached());
        let recycled = std::mem::take(&mut *self.recycled());
        drop(recycled);
    }
}

impl Pool {
    pub(crate) fn new(reuse: Option<Reuse>) -> Self {
        Self { reuse, ..Self::default() }
    }

    /// An instance for a request.
    pub(crate) fn take(&self, program: &Program, counts: &PoolCounts) -> Instance {
        let has_cached = self.cached_count.load(Ordering::Relaxed) > 0 && !self.serves_once();
        let cached = if has_cached { self.pop_cached() } else { None };
        if let Some(Idle { instance, since }) = cached
            && instance.reuse().is_some_and(|reuse| since.elapsed() < reuse.idle)
        {
            counts.reused.fetch_add(1, Ordering::Relaxed);
            return instance;
        }
        if let Some(recycled) = program.reset.and_then(|_| self.recycled().pop()) {
            counts.recycled.fetch_add(1, Ordering::Relaxed);
            return recycled.instance;
        }
        let made = counts.made.fetch_add(1, Ordering::Relaxed);
        Instance::new(program, self.reuse.map(Reuse::drawn)).with_reset(self.resets_pay(program, made))
    }

    fn resets_pay(&self, program: &Program, made: u64) -> bool {
        program.reset.is_some() && (self.failed_resets.load(Ordering::Relaxed) < FUTILE || made.is_multiple_of(FUTILE))
    }

    /// Takes an instance back whose request succeeded, resets it unless it keeps its state, and drops it if neither is
    /// possible.
    pub(crate) async fn give_back(&self, mut instance: Instance, program: &Program, counts: &PoolCounts) {
        if instance.reuse().is_some() {
            return self.keep(instance, counts);
        }
        if instance.reset.is_none() || !self.has_room(&self.recycled()) {
            return;
        }
        match instance.reset(program).await {
            Ok(()) => {
                self.failed_resets.store(0, Ordering::Relaxed);
                let mut recycled = self.recycled();
                // Checked with the lock held: see `close`.
                if self.has_room(&recycled) {
                    recycled.push(Idle { instance, since: Instant::now() });
                }
            }
            Err(why) => {
                let (app, text) = (&program.grants.name, why.0);
                if why == SHORTCUT_MISSED_A_PAGE {
                    tracing::error!(target: "skep::isolate", app, "instance discarded, page_fault_shortcut turned off: {text}");
                } else {
                    tracing::trace!(target: "skep::isolate", app, "instance discarded: {text}");
                }
                self.failed_resets.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Takes an instance back that keeps its state, or drops it.
    pub(crate) fn keep(&self, instance: Instance, counts: &PoolCounts) {
        let is_tried = self.is_trial.load(Ordering::Relaxed);
        self.answered_again.fetch_or(instance.served > 1 && !is_tried, Ordering::Relaxed);
        // A guest that was refused memory may continue without it: no other request is to find it so.
        if instance.was_refused_memory().is_some() || self.serves_once() {
            return;
        }
        if instance.reuse().is_some_and(|reuse| is_tried || instance.served < reuse.requests) {
            counts.cached.fetch_add(1, Ordering::Relaxed);
            let idle = Idle { instance, since: Instant::now() };
            let mut cached = self.cached();
            cached.push(idle);
            self.count(&cached);
        }
    }

    /// Notes that a guest returned without a response. If it had served before, no new one ever did the same, and none
    /// that had served before ever responded, its program can handle one request for each instance only, such as one of
    /// componentize-js with `addEventListener("fetch", ..)`. Then none is kept.
    pub(crate) fn note_silent(&self, served: u32, app: &str) {
        let is_new = served <= 1;
        let seen = if is_new { &self.silent_at_once } else { &self.silent_again };
        let was_seen = seen.swap(true, Ordering::Relaxed);
        if !is_new && !was_seen && self.serves_once() {
            tracing::warn!(
                target: "skep::isolate", app,
                "an instance that had served before returned without a response: the program handles one request \
                 per instance, so each gets a new one in spite of `cached`; module_cache = \"snapshot\" is made for it"
            );
        }
    }

    /// True if instances that have served before do not serve again, whatever the settings say.
    pub(crate) fn serves_once(&self) -> bool {
        let [again, at_once, answered] = [&self.silent_again, &self.silent_at_once, &self.answered_again];
        again.load(Ordering::Relaxed) && !at_once.load(Ordering::Relaxed) && !answered.load(Ordering::Relaxed)
    }

    /// Has one instance serve several requests of a trial, which do not count.
    pub(crate) fn begin_trial(&self) {
        self.is_trial.store(true, Ordering::Relaxed);
    }

    /// The instance of a trial has served one request, as far as others know.
    pub(crate) fn end_trial(&self, counts: &PoolCounts) {
        self.is_trial.store(false, Ordering::Relaxed);
        for Idle { mut instance, .. } in self.take_cached() {
            instance.served = 1;
            self.keep(instance, counts);
        }
    }

    /// Drops the instances that were reset: their slots belong to the next version.
    pub(crate) fn close(&self) {
        let dropped = {
            let mut recycled = self.recycled();
            self.is_closed.store(true, Ordering::Relaxed);
            std::mem::take(&mut *recycled)
        };
        drop(dropped);
    }

    /// Drops what has waited too long. To be called from time to time.
    pub(crate) fn tidy(&self) {
        let expired: Vec<Idle> = {
            let mut cached = self.cached();
            let is_old = |idle: &mut Idle| idle.instance.reuse().is_none_or(|reuse| idle.since.elapsed() >= reuse.idle);
            let expired = cached.extract_if(.., is_old).collect();
            self.count(&cached);
            expired
        };
        drop(expired);
        let expired: Vec<Idle> = self.recycled().extract_if(.., |idle| idle.since.elapsed() >= RECYCLED_IDLE).collect();
        drop(expired);
    }

    /// The number of instances that wait with their state.
    pub(crate) fn idle(&self) -> usize {
        self.cached().len()
    }

    fn has_room(&self, recycled: &[Idle]) -> bool {
        recycled.len() < MOST_RECYCLED && !self.is_closed.load(Ordering::Relaxed)
    }

    fn pop_cached(&self) -> Option<Idle> {
        let mut cached = self.cached();
        let last = cached.pop();
        self.count(&cached);
        last
    }

    fn take_cached(&self) -> Vec<Idle> {
        let mut cached = self.cached();
        self.count(&[]);
        std::mem::take(&mut *cached)
    }

    fn count(&self, cached: &[Idle]) {
        self.cached_count.store(u32::try_from(cached.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    fn cached(&self) -> MutexGuard<'_, Vec<Idle>> {
        skep_units::lock(&self.cached)
    }

    fn recycled(&self) -> MutexGuard<'_, Vec<Idle>> {
        skep_units::lock(&self.recycled)
    }
}

//! The clock of guests: the epoch of the engines, advanced every `TICK` while requests run.
//!
//! A guest compares the epoch in loops and calls. After a tick it yields its thread, and stops if its deadline has
//! passed. While no request runs ([`Clock::work`]) the thread of this clock sleeps.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;
use std::{fmt, io, thread};

use wasmtime::{Engine, EngineWeak};

/// A guest keeps its thread at most this long.
const TICK: Duration = Duration::from_millis(5);

/// The clock sleeps after this many ticks without a request.
const IDLE_TICKS: u64 = 200;

/// A running request: the clock does not sleep while it exists.
#[derive(Debug)]
pub(crate) struct Work(Arc<Clock>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts ticks.
#[derive(Default)]
pub(crate) struct Clock {
    ticks: AtomicU64,
    /// Somebody has read the time since the last tick.
    asked: AtomicBool,
    /// Requests in flight, whether they compute or wait.
    working: AtomicU32,
    sleeps: AtomicBool,
    woken: Condvar,
    lock: Mutex<()>,
    /// The engines whose epoch it advances.
    engines: Mutex<Vec<EngineWeak>>,
}

impl Clock {
    /// Starts the thread. It ends when the clock is dropped.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let clock = Arc::new(Self::default());
        let known = Arc::downgrade(&clock);
        thread::Builder::new().name("epochs".into()).spawn(move || run(&known))?;
        Ok(clock)
    }

    /// Advances the epoch of this engine, too.
    pub(crate) fn drive(&self, engine: &Engine) {
        let mut engines = skep_units::lock(&self.engines);
        engines.retain(|engine| engine.upgrade().is_some());
        engines.push(engine.weak());
    }

    /// The clock runs until the result is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Work {
        // Either this sees that the thread sleeps, or the thread sees the request.
        self.working.fetch_add(1, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) {
            let _lock = skep_units::lock(&self.lock);
            self.woken.notify_one();
        }
        Work(Arc::clone(self))
    }

    /// The time in ticks, for a request that begins.
    pub(crate) fn now(&self) -> u64 {
        if !self.asked.load(Ordering::Relaxed) {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.ticks.load(Ordering::Relaxed)
    }

    /// The time in ticks, for a request that runs.
    pub(crate) fn passed(&self) -> u64 {
        self.asked.store(true, Ordering::Relaxed);
        self.ticks.load(Ordering::Relaxed)
    }

    /// The number of ticks that last at least this long.
    pub(crate) fn ticks(time: Duration) -> u64 {
        u64::try_from(time.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u64::MAX).max(1)
    }

    fn move_epochs(&self) {
        let engines = skep_units::lock(&self.engines);
        engines.iter().filter_map(EngineWeak::upgrade).for_each(|engine| engine.increment_epoch());
    }

    fn is_at_work(&self) -> bool {
        self.working.load(Ordering::SeqCst) > 0 || self.asked.swap(false, Ordering::Relaxed)
    }

    /// Waits for a request, at most a second.
    fn sleep(&self) {
        let lock = skep_units::lock(&self.lock);
        self.sleeps.store(true, Ordering::SeqCst);
        if self.working.load(Ordering::SeqCst) == 0 {
            drop(self.woken.wait_timeout(lock, Duration::from_secs(1)));
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.ticks.load(Ordering::Relaxed))
    }
}

fn run(clock: &Weak<Clock>) {
    let mut idle = 0;
    loop {
        let Some(clock) = clock.upgrade() else { return };
        clock.ticks.fetch_add(1, Ordering::Relaxed);
        clock.move_epochs();
        idle = if clock.is_at_work() { 0 } else { idle + 1 };
        if idle > IDLE_TICKS {
            clock.sleep();
        }
        drop(clock);
        thread::sleep(TICK);
    }
}

#[cfg(test)]
#[path = "../tests/unit/clock.rs"]
mod tests;

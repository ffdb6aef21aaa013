//! Time for guests that compute: the epoch of the engines, moved every `TICK` while anything runs.
//!
//! A guest looks at the epoch where it loops and where it calls, which costs a comparison. When a tick has passed it gives its thread to the
//! others, and learns whether its time is up. While nobody is at work ([`Clock::work`]) the thread of this clock sleeps.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;
use std::{fmt, io, thread};

use wasmtime::{Engine, EngineWeak};

/// How long a guest may keep its thread from others.
const TICK: Duration = Duration::from_millis(5);

/// After so many ticks without a request the clock sleeps.
const IDLE_TICKS: u64 = 200;

/// Somebody at work: while it is there the clock does not sleep.
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
    /// Somebody has asked since the last tick.
    asked: AtomicBool,
    /// Requests that have begun and not ended, whether they compute or wait.
    working: AtomicU32,
    sleeps: AtomicBool,
    woken: Condvar,
    lock: Mutex<()>,
    /// Whose epoch it moves.
    engines: Mutex<Vec<EngineWeak>>,
}

impl Clock {
    /// Starts the thread. It ends when nobody holds the clock any more.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let clock = Arc::new(Self::default());
        let known = Arc::downgrade(&clock);
        thread::Builder::new().name("epochs".into()).spawn(move || run(&known))?;
        Ok(clock)
    }

    /// Moves the epoch of this engine, too, from now on.
    pub(crate) fn drive(&self, engine: &Engine) {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|engine| engine.upgrade().is_some());
        engines.push(engine.weak());
    }

    /// From now on time passes, until what this gives is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Work {
        // Either this sees that the thread sleeps, or the thread sees that somebody works.
        self.working.fetch_add(1, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) {
            let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.woken.notify_one();
        }
        Work(Arc::clone(self))
    }

    /// The time, in ticks, for somebody at work.
    pub(crate) fn now(&self) -> u64 {
        if !self.asked.load(Ordering::Relaxed) {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.ticks.load(Ordering::Relaxed)
    }

    /// The time, for somebody who has asked before.
    pub(crate) fn passed(&self) -> u64 {
        self.asked.store(true, Ordering::Relaxed);
        self.ticks.load(Ordering::Relaxed)
    }

    /// How many ticks are at least so long.
    pub(crate) fn ticks(time: Duration) -> u64 {
        u64::try_from(time.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u64::MAX).max(1)
    }

    fn move_epochs(&self) {
        let engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        engines.iter().filter_map(EngineWeak::upgrade).for_each(|engine| engine.increment_epoch());
    }

    fn is_at_work(&self) -> bool {
        self.working.load(Ordering::SeqCst) > 0 || self.asked.swap(false, Ordering::Relaxed)
    }

    /// Waits for somebody to begin, at most a second.
    fn sleep(&self) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
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
mod tests {
    use super::*;

    #[test]
    fn time_passes_while_somebody_is_at_work() {
        let clock = Arc::new(Clock::default());
        assert!(!clock.is_at_work());
        let (one, other) = (clock.work(), clock.work());
        drop(one);
        // It waits, and asks for nothing.
        assert!(clock.is_at_work() && clock.is_at_work());
        drop(other);
        assert!(!clock.is_at_work());
    }

    #[test]
    fn a_time_is_never_shorter_than_asked_for() {
        assert_eq!(Clock::ticks(Duration::from_millis(1)), 1);
        assert_eq!(Clock::ticks(Duration::from_millis(6)), 2);
        assert_eq!(Clock::ticks(Duration::from_secs(1)), 200);
    }
}

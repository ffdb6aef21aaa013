//! Timers without a runtime.
//!
//! The system clock has one thread, `skep-cache timer`, started at the first sleep; most programs never need it. A
//! manual clock has none: advancing it wakes the sleepers.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};

use skep_units::lock;

use crate::clock::{Clock, Time};

/// The sleepers, by time and a unique number.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    queue: Mutex<Queue>,
    earlier: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: BTreeMap<(Time, u64), Waker>,
    last: u64,
}

impl Timer {
    fn add(&self, until: Time, waker: Waker) -> (Time, u64) {
        let mut queue = lock(&self.queue);
        queue.last += 1;
        let place = (until, queue.last);
        queue.waiting.insert(place, waker);
        if queue.waiting.first_key_value().is_some_and(|(first, _)| *first == place) {
            self.earlier.notify_one();
        }
        place
    }

    fn remove(&self, place: (Time, u64)) {
        lock(&self.queue).waiting.remove(&place);
    }

    /// Wakes all sleepers up to this time.
    pub(crate) fn fire(&self, now: Time) {
        let mut queue = lock(&self.queue);
        let later = queue.waiting.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut queue.waiting, later);
        drop(queue);
        due.into_values().for_each(Waker::wake);
    }

    #[cfg(not(target_family = "wasm"))]
    fn run(&self) {
        let clock = Clock::system();
        loop {
            self.fire(clock.now());
            let queue = lock(&self.queue);
            match queue.waiting.first_key_value().map(|(&(until, _), _)| until) {
                Some(until) => {
                    let _ = self.earlier.wait_timeout(queue, until.since(clock.now()));
                }
                None => drop(self.earlier.wait(queue)),
            }
        }
    }

    /// The timer of the system clock. A component has one thread, which sleeps in [`pass`].
    #[cfg(target_family = "wasm")]
    pub(crate) fn system() -> Option<Arc<Self>> {
        static TIMER: std::sync::LazyLock<Arc<Timer>> = std::sync::LazyLock::new(Arc::default);
        Some(Arc::clone(&TIMER))
    }

    /// The timer of the system clock. Threads do not survive a fork, so a child process starts its own.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn system() -> Option<Arc<Self>> {
        static RUNNING: Mutex<Option<(u32, Arc<Timer>)>> = Mutex::new(None);
        let mut running = lock(&RUNNING);
        let process = std::process::id();
        if let Some((started_by, timer)) = &*running
            && *started_by == process
        {
            return Some(Arc::clone(timer));
        }
        let timer = Arc::new(Self::default());
        let runner = Arc::clone(&timer);
        let thread = std::thread::Builder::new().name("skep-cache timer".into()).spawn(move || runner.run());
        if let Err(error) = thread {
            tracing::error!(target: "skep_cache", %error, "cannot start the timer thread: timeouts do not work");
            return None;
        }
        *running = Some((process, Arc::clone(&timer)));
        Some(timer)
    }
}

/// Sleeps until the next timer. False without any.
#[cfg(target_family = "wasm")]
pub(crate) fn pass() -> bool {
    let (Some(timer), clock) = (Timer::system(), Clock::system()) else { return false };
    let first = lock(&timer.queue).waiting.first_key_value().map(|(&(until, _), _)| until);
    let Some(until) = first else { return false };
    std::thread::sleep(until.since(clock.now()));
    timer.fire(clock.now());
    true
}

/// A sleep until a moment. From [`Clock::sleep_until`].
#[derive(Debug)]
pub struct Sleep {
    clock: Clock,
    until: Time,
    waiting: Option<(Arc<Timer>, (Time, u64), Waker)>,
}

impl Sleep {
    pub(crate) fn new(clock: Clock, until: Time) -> Self {
        Self { clock, until, waiting: None }
    }

    fn leave(&mut self) {
        if let Some((timer, place, _)) = self.waiting.take() {
            timer.remove(place);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.clock.now() >= self.until {
            self.leave();
            return Poll::Ready(());
        }
        if self.waiting.as_ref().is_some_and(|(_, _, waker)| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        self.leave();
        if self.until < Time::NEVER
            && let Some(timer) = self.clock.timer()
        {
            let place = timer.add(self.until, cx.waker().clone());
            self.waiting = Some((timer, place, cx.waker().clone()));
        }
        // A manual clock may have been advanced meanwhile.
        if self.clock.now() >= self.until {
            self.leave();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_dropped_sleep_leaves_nothing_behind() {
        let clock = Clock::manual();
        let mut sleep = Box::pin(clock.sleep_until(clock.now().plus(Duration::from_secs(2))));
        assert!(sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let timer = clock.timer().unwrap();
        assert_eq!(lock(&timer.queue).waiting.len(), 1);
        drop(sleep);
        assert!(lock(&timer.queue).waiting.is_empty());
    }
}

//! What a thread does again and again, whether or not there are requests.
//!
//! Where the kernel has timers that are files (`timerfd_create(2)`), the event loop watches one like any socket. With a
//! timer of the runtime, each of its waits would look for that, and once more at the clock.

use std::time::Duration;

#[cfg(any(target_os = "linux", target_os = "android"))]
use std::{cell::OnceCell, os::fd::OwnedFd};

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
#[cfg(any(target_os = "linux", target_os = "android"))]
use tokio::io::unix::AsyncFd;

/// Waits for ticks, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Ticker {
    /// Made for the first tick; `None` where none is to be had.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    timer: OnceCell<Option<AsyncFd<OwnedFd>>>,
}

impl Ticker {
    /// Waits for so long, which is not zero.
    pub(crate) async fn wait(&mut self, time: Duration) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(timer) = self.start(time)
            && let Ok(mut ready) = timer.readable().await
        {
            return ready.clear_ready();
        }
        tokio::time::sleep(time).await;
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn start(&mut self, time: Duration) -> Option<&AsyncFd<OwnedFd>> {
        let made = self.timer.get_or_init(|| {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            super::async_fd(timerfd_create(TimerfdClockId::Monotonic, flags).ok()?).ok()
        });
        let timer = made.as_ref()?;
        let once = Itimerspec { it_interval: Timespec::default(), it_value: Timespec::try_from(time).ok()? };
        // This takes back that the tick before has expired, so that nothing has to be read.
        timerfd_settime(timer, TimerfdTimerFlags::empty(), &once).ok().map(|_| timer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    async fn assert_ticks(mut ticker: Ticker) {
        let begun = Instant::now();
        for ticks in 1..=3 {
            ticker.wait(Duration::from_millis(20)).await;
            assert!(begun.elapsed() >= ticks * Duration::from_millis(20));
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn each_tick_takes_its_time() {
        assert_ticks(Ticker::default()).await;
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[tokio::test(flavor = "current_thread")]
    async fn without_a_timer_of_the_kernel_so_does_each() {
        assert_ticks(Ticker { timer: None.into() }).await;
    }
}

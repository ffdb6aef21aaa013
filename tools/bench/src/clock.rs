//! Clocks of the kernel that the standard library does not show.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What the calling thread has taken of its cores.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let whole = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    whole + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

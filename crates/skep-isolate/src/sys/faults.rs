//! The page faults of a thread.

use std::mem::MaybeUninit;
use std::thread::{self, ThreadId};

/// A thread's page faults so far. They restart in a forked process, where no instances are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Faults {
    thread: ThreadId,
    count: libc::c_long,
}

impl Faults {
    /// `None` if the kernel does not report them.
    pub(super) fn of_this_thread() -> Option<Self> {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: it writes one `rusage` where there is room for one.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        // SAFETY: zeroes are a `rusage`, too.
        let usage = unsafe { usage.assume_init() };
        (result == 0).then(|| Self { thread: thread::current().id(), count: usage.ru_minflt + usage.ru_majflt })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/sys/faults.rs"]
mod tests;

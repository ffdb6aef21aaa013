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
mod tests {
    use std::hint::black_box;

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

    use super::*;

    const PAGES: u16 = 64;

    #[test]
    fn the_first_write_to_each_page_counts_and_the_second_does_not() {
        let now = || Faults::of_this_thread().unwrap();
        let length = usize::from(PAGES) * 4096;
        // SAFETY: it is new memory, wherever there is room; in small pages, unless the system knows no other.
        let room = unsafe {
            let start =
                mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            let start = start.unwrap();
            let _ = madvise(start, length, Advice::LinuxNoHugepage);
            std::slice::from_raw_parts_mut(start.cast::<u8>(), length)
        };
        let write = |room: &mut [u8]| room.iter_mut().step_by(4096).for_each(|byte| *byte = black_box(7));
        let before = now();
        write(room);
        assert!(now().count - before.count >= PAGES.into());
        // Code faults, too, when it runs for the first time.
        let is_quiet = |_| {
            let before = now();
            write(room);
            now() == before
        };
        assert!((0..100).any(is_quiet));
        let here = now().thread;
        assert!(thread::spawn(move || now().thread != here).join().unwrap());
    }
}

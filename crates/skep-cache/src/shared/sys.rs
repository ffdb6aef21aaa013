//! The few places where the compiler cannot see that we are right.
//!
//! All `unsafe` of this crate is here, each block with its reason. Nothing here knows what lies in the mapping.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

// Locks of the opened file, where there are such; else those of the process.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use libc::{F_GETLK as GET, F_SETLK as SET};
#[cfg(any(target_os = "linux", target_os = "android"))]
use libc::{F_OFD_GETLK as GET, F_OFD_SETLK as SET};
use rustix::mm::{MapFlags, ProtFlags};

/// A huge page on the machines we know; a mapping that begins at a multiple of it can be made of them.
const HUGE: usize = 2 << 20;

/// A file's words, shared with all processes that map it.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// What was reserved; the words lie in it.
    reserved: NonNull<c_void>,
    length: usize,
    words: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the memory belongs to nobody's thread, and all access to it is atomic.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the start of a file, which has at least `count` words and never gets shorter.
    ///
    /// That it never gets shorter, the caller sees to as well as it can: we replace files and never cut them. Should
    /// somebody else cut it, the system ends this process (SIGBUS); memory safety is not harmed.
    pub(crate) fn new(file: impl AsFd, count: usize) -> io::Result<Self> {
        let bytes = count * size_of::<AtomicU64>();
        let length = bytes.next_multiple_of(HUGE) + HUGE;
        // SAFETY: a new mapping at a place that the system chooses touches no memory of ours.
        let start = unsafe { rustix::mm::mmap_anonymous(null_mut(), length, ProtFlags::empty(), MapFlags::PRIVATE)? };
        let reserved = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        let aligned = start.map_addr(|address| address.next_multiple_of(HUGE));
        let mut mapping = Self { reserved, length, words: NonNull::dangling(), count: 0 };
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the whole range lies within what was just reserved and nobody knows yet; `aligned` is at most
        // `HUGE - 1` behind its start, and `bytes + HUGE` at most its length.
        let mapped =
            unsafe { rustix::mm::mmap(aligned, bytes, ProtFlags::READ | ProtFlags::WRITE, flags, file.as_fd(), 0)? };
        mapping.words = NonNull::new(mapped.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        mapping.count = count;
        Ok(mapping)
    }

    /// Words of zeros that this process and those forked from it share. Those that nobody touches take no memory.
    pub(crate) fn anonymous(count: usize) -> io::Result<Self> {
        let length = count * size_of::<AtomicU64>();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the system chooses touches no memory of ours.
        let start = unsafe { rustix::mm::mmap_anonymous(null_mut(), length, protection, MapFlags::SHARED)? };
        let reserved = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { reserved, length, words: reserved.cast(), count })
    }

    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the range is mapped for reading and writing as long as `self` lives and aligned to a page; every bit
        // pattern is an `AtomicU64`; and nobody in this process makes another kind of reference to it.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }

    /// Asks for huge pages: a random access then costs one cache miss less. Not all systems and file systems do it, and
    /// none must.
    pub(crate) fn ask_for_huge_pages(&self) {
        #[cfg(target_os = "linux")]
        {
            /// `MADV_COLLAPSE`, madvise(2), since Linux 6.1; works also where /dev/shm is mounted without huge pages.
            const COLLAPSE: i32 = 25;
            let (start, bytes) = (self.words.as_ptr().cast(), self.count * size_of::<AtomicU64>());
            for advice in [libc::MADV_HUGEPAGE, COLLAPSE] {
                // SAFETY: the range is a mapping of ours, and both kinds of advice leave its contents as they are.
                unsafe { libc::madvise(start, bytes, advice) };
            }
        }
    }
}

/// Has the processor fetch the line of a word, while it goes on with what comes next. Where we know no way to ask,
/// nothing happens.
#[inline]
pub(crate) fn prefetch(word: &AtomicU64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it changes nothing that a program can see, and the address is that of a reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = word;
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was reserved by `new`, and no reference to it outlives `self`. What else lies in it was
        // mapped by `new` too. An error would mean that it is not mapped, which leaves nothing to do.
        let _ = unsafe { rustix::mm::munmap(self.reserved.as_ptr(), self.length) };
    }
}

/// One plus the number of forks since `notice_forks`, in this process and its ancestors.
static PROCESS: AtomicU64 = AtomicU64::new(1);

/// Another number in each process of a family of forks. To ask the system for the process's own is a system call for
/// each write.
#[inline]
pub(crate) fn process() -> u64 {
    PROCESS.load(Relaxed)
}

/// From now on, forks by `fork` are noticed. One made by a system call that goes round the C library is not: then a
/// child has its parent's number, and what it leaves locked when it is killed is taken away by time.
pub(crate) fn notice_forks() -> io::Result<()> {
    extern "C" fn count() {
        PROCESS.fetch_add(1, Relaxed);
    }
    static DONE: OnceLock<i32> = OnceLock::new();
    // SAFETY: the function does nothing but add to a number, which is allowed after a fork; and it stays where it is,
    // as code is not unloaded.
    let failed = *DONE.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(count)) });
    if failed == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(failed)) }
}

/// Takes a lock on one byte of a file, far behind its end, if nobody has it. The system gives it back when the last
/// descriptor of this opened file is closed: when its process dies, whatever it dies of.
pub(crate) fn lock_byte(file: impl AsFd, byte: u64) -> io::Result<bool> {
    let mut lock = range(byte);
    // SAFETY: `fcntl` reads the structure, which lives; the descriptor is open.
    let result = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), SET, &raw mut lock) };
    match (result, io::Error::last_os_error()) {
        (0.., _) => Ok(true),
        (_, error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        (_, error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        (_, error) => Err(error),
    }
}

/// Whether another opened file holds the lock on this byte.
pub(crate) fn is_byte_locked(file: impl AsFd, byte: u64) -> io::Result<bool> {
    let mut lock = range(byte);
    // SAFETY: `fcntl` reads and writes the structure, which lives; the descriptor is open.
    let result = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), GET, &raw mut lock) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(i32::from(lock.l_type) != libc::F_UNLCK) }
}

#[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
fn range(byte: u64) -> libc::flock {
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_whence = libc::SEEK_SET as _;
    lock.l_start = i64::try_from(byte).unwrap_or(i64::MAX - 1);
    lock.l_len = 1;
    lock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_another_number_than_its_parent() {
        notice_forks().unwrap();
        let parent = process();
        // SAFETY: the child does nothing but load a number and end, which is allowed after a fork whatever other
        // threads do.
        let child = unsafe {
            match libc::fork() {
                0 => libc::_exit(i32::from(process() == parent)),
                child => child,
            }
        };
        let child = rustix::process::Pid::from_raw(child).expect("it was forked");
        let ended = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()).unwrap();
        assert_eq!(ended.and_then(|(_, status)| status.exit_status()), Some(0));
        assert_eq!(process(), parent);
    }
}

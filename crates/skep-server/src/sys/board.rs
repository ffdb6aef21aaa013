//! A few numbers that processes share: each worker writes its own, and whoever watches over it reads them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// One thread that serves. All zeros means that there is none.
///
/// A cache line of its own, and one writer: counting costs a request what adding to a local variable costs.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Slot {
    /// The process; 0 if the slot is free.
    pub(crate) process: AtomicU32,
    /// The thread within the system.
    pub(crate) thread: AtomicU32,
    /// When the thread last showed that it runs, in milliseconds of the monotonic clock.
    pub(crate) beat: AtomicU64,
    /// Since when all it may do at once is being done; 0 if it is free.
    pub(crate) busy: AtomicU64,
    pub(crate) requests: AtomicU64,
    /// The requests of those who had the slot before. A process for each request leaves one.
    pub(crate) before: AtomicU64,
    pub(crate) connections: AtomicU32,
    /// 1 when it was asked to end.
    pub(crate) leaving: AtomicU32,
}

/// Memory that is shared with processes that inherit its file.
#[derive(Debug)]
pub(crate) struct Board {
    memory: NonNull<Slot>,
    slots: usize,
    file: OwnedFd,
}

// SAFETY: what it points to consists of atomics, and stays where it is until the board is dropped.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

impl Board {
    /// So many free slots.
    pub(crate) fn new(slots: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create("skep-board", MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, Self::bytes(slots) as u64)?;
        Self::open(file, slots)
    }

    /// The board that somebody else made with as many slots.
    pub(crate) fn open(file: OwnedFd, slots: usize) -> io::Result<Self> {
        let length = Self::bytes(slots);
        if rustix::fs::fstat(&file)?.st_size.cast_unsigned() < length as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the board of workers is too short"));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses; the file is at least that long, and is never made shorter.
        let memory =
            unsafe { rustix::mm::mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, file.as_fd(), 0)? };
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, slots, file })
    }

    fn bytes(slots: usize) -> usize {
        slots.max(1) * size_of::<Slot>()
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        // SAFETY: so many slots are mapped (page alignment is enough for them), any bytes are valid atomics, and the memory
        // lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.slots) }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this length; nobody can hold a slice of it any more.
        let _ = unsafe { rustix::mm::munmap(self.memory.as_ptr().cast(), Self::bytes(self.slots)) };
    }
}

impl Slot {
    /// This thread takes the slot.
    pub(crate) fn take(&self) {
        self.requests.store(0, Ordering::Relaxed);
        self.connections.store(0, Ordering::Relaxed);
        self.busy.store(0, Ordering::Relaxed);
        self.leaving.store(0, Ordering::Relaxed);
        self.thread.store(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned(), Ordering::Relaxed);
        self.beat();
        self.process.store(std::process::id(), Ordering::Release);
    }

    /// Nobody has it now: who had it has ended.
    pub(crate) fn free(&self) {
        self.before.fetch_add(self.requests.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        self.process.store(0, Ordering::Release);
    }

    /// The thread runs.
    pub(crate) fn beat(&self) {
        self.beat.store(now(), Ordering::Relaxed);
    }

    /// A request came. Only the slot's own thread may call this.
    pub(crate) fn count(&self) {
        self.requests.store(self.requests.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Of all who ever had the slot.
    pub(crate) fn all_requests(&self) -> u64 {
        self.before.load(Ordering::Relaxed) + self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.process.load(Ordering::Acquire) != 0
    }
}

/// Milliseconds of the monotonic clock, which all processes of a machine share. Never 0.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let millis = time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000);
    millis.cast_unsigned().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_writes_another_reads() {
        let board = Board::new(3).unwrap();
        let other = Board::open(board.file().try_clone().unwrap(), 3).unwrap();
        board.slots()[2].take();
        board.slots()[2].count();
        assert!(other.slots()[2].is_taken() && !other.slots()[1].is_taken());
        assert_eq!(other.slots()[2].requests.load(Ordering::Relaxed), 1);
        assert!(Board::open(board.file().try_clone().unwrap(), 300).is_err());
        // The next one begins anew, and what the first one did stays counted.
        board.slots()[2].free();
        board.slots()[2].take();
        board.slots()[2].count();
        let slot = &other.slots()[2];
        assert_eq!((slot.requests.load(Ordering::Relaxed), slot.all_requests()), (1, 2));
    }
}

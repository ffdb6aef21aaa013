//! Numbers that processes share: each worker writes its own slot, and its supervisor reads them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// One thread that serves. All zeros: the slot is free.
///
/// It has a cache line of its own and one writer, so counting a request costs no more than adding to a local variable.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Slot {
    /// The process id; 0 if the slot is free.
    pub(crate) process: AtomicU32,
    /// The thread id.
    pub(crate) thread: AtomicU32,
    /// The last heartbeat, in milliseconds of the monotonic clock.
    pub(crate) heartbeat: AtomicU64,
    /// Since when the thread has no free permit; 0 if it has one.
    pub(crate) busy: AtomicU64,
    pub(crate) requests: AtomicU64,
    /// The requests of previous owners of the slot, which process-per-request has many of.
    pub(crate) previous: AtomicU64,
    pub(crate) connections: AtomicU32,
    /// 1 once the thread accepts nothing more.
    pub(crate) retiring: AtomicU32,
    /// Requests in flight.
    pub(crate) running: AtomicU32,
}

/// Memory that processes share by inheriting its file.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    memory: NonNull<Slot>,
    slots: usize,
    file: OwnedFd,
}

// SAFETY: what it points to consists of atomics, and stays where it is until the scoreboard is dropped.
unsafe impl Send for Scoreboard {}
// SAFETY: as above.
unsafe impl Sync for Scoreboard {}

impl Scoreboard {
    /// A scoreboard with free slots.
    pub(crate) fn new(slots: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create("skep-scoreboard", MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, Self::bytes(slots) as u64)?;
        Self::open(file, slots)
    }

    /// A scoreboard that another process has created with as many slots.
    pub(crate) fn open(file: OwnedFd, slots: usize) -> io::Result<Self> {
        let length = Self::bytes(slots);
        if rustix::fs::fstat(&file)?.st_size.cast_unsigned() < length as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the scoreboard is too short"));
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
        // SAFETY: `self.slots` slots are mapped (page alignment is enough for them), any bytes are valid atomics, and the memory
        // lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.slots) }
    }
}

impl Drop for Scoreboard {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this length; nobody can hold a slice of it any more.
        let _ = unsafe { rustix::mm::munmap(self.memory.as_ptr().cast(), Self::bytes(self.slots)) };
    }
}

impl Slot {
    /// Claims the slot for this thread.
    pub(crate) fn claim(&self) {
        self.requests.store(0, Ordering::Relaxed);
        self.connections.store(0, Ordering::Relaxed);
        self.running.store(0, Ordering::Relaxed);
        self.busy.store(0, Ordering::Relaxed);
        self.retiring.store(0, Ordering::Relaxed);
        self.thread.store(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned(), Ordering::Relaxed);
        self.beat();
        self.process.store(std::process::id(), Ordering::Release);
    }

    /// Frees the slot of a process that has exited.
    pub(crate) fn release(&self) {
        self.previous.fetch_add(self.requests.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        self.process.store(0, Ordering::Release);
    }

    /// Updates the heartbeat.
    pub(crate) fn beat(&self) {
        self.heartbeat.store(now(), Ordering::Relaxed);
    }

    /// The time since the last heartbeat; none for a process that waits for a connection.
    pub(crate) fn silent(&self) -> Duration {
        Duration::from_millis(now().saturating_sub(self.heartbeat.load(Ordering::Relaxed)))
    }

    /// Counts a request. Only the slot's own thread may call this.
    pub(crate) fn count_request(&self) {
        self.requests.store(self.requests.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The requests of all owners of the slot.
    pub(crate) fn total_requests(&self) -> u64 {
        self.previous.load(Ordering::Relaxed) + self.requests.load(Ordering::Relaxed)
    }

    /// True if this process has the slot, and requests in flight.
    pub(crate) fn is_busy_process(&self, process: u32) -> bool {
        self.process.load(Ordering::Acquire) == process && self.running.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.process.load(Ordering::Acquire) != 0
    }
}

/// Milliseconds of the monotonic clock, which all processes share. Never 0.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let millis = time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000);
    millis.cast_unsigned().max(1)
}

#[cfg(test)]
#[path = "../../tests/unit/sys/scoreboard.rs"]
mod tests;

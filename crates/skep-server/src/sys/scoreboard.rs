//! Numbers that processes share: each worker writes its own slot, and its supervisor reads them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};
use skep_observe::clock::monotonic_millis;
use skep_observe::overview::SlotOverview;
use skep_observe::shared_words::{load_bytes, store_bytes};

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

/// Words of the text behind the slots for each: its length, and the text.
const TEXT: usize = 32;

/// How long a thread that hangs has to say what it serves. It does so in a signal handler, first of all.
pub(crate) const ANSWER: Duration = Duration::from_millis(500);

/// Memory that processes share by inheriting its file: the slots, and behind them a text for each.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    memory: NonNull<Slot>,
    slots: usize,
    /// False if another version has created it, which knows no texts.
    has_texts: bool,
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
        rustix::fs::ftruncate(&file, Self::bytes(slots, true) as u64)?;
        Self::open(file, slots)
    }

    /// A scoreboard that another process has created with as many slots.
    pub(crate) fn open(file: OwnedFd, slots: usize) -> io::Result<Self> {
        let size = rustix::fs::fstat(&file)?.st_size.cast_unsigned();
        let has_texts = size >= Self::bytes(slots, true) as u64;
        let length = Self::bytes(slots, has_texts);
        if size < length as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the scoreboard is too short"));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses; the file is at least that long, and is never made
        // shorter.
        let memory =
            unsafe { rustix::mm::mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, file.as_fd(), 0)? };
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, slots, has_texts, file })
    }

    fn bytes(slots: usize, has_texts: bool) -> usize {
        let text = if has_texts { TEXT * size_of::<AtomicU64>() } else { 0 };
        slots.max(1) * (size_of::<Slot>() + text)
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        // SAFETY: `self.slots` slots are mapped (page alignment is enough for them), any bytes are valid atomics, and
        // the memory lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.slots) }
    }

    /// The text of a slot, if there is room for any.
    fn text(&self, slot: usize) -> Option<&[AtomicU64]> {
        if !self.has_texts || slot >= self.slots {
            return None;
        }
        // SAFETY: texts are mapped behind the slots, whose length is a multiple of the alignment; the rest is as in
        // `slots`.
        unsafe {
            let texts = self.memory.as_ptr().add(self.slots.max(1)).cast::<AtomicU64>();
            Some(std::slice::from_raw_parts(texts.add(slot * TEXT), TEXT))
        }
    }

    /// Says for who asked what the thread with this slot serves. It may be called in a signal handler.
    pub(crate) fn tell(&self, slot: usize, text: &str) {
        if let Some([length, words @ ..]) = self.text(slot) {
            let text = &text[..text.floor_char_boundary(size_of_val(words))];
            store_bytes(words, text.as_bytes());
            length.store(text.len() as u64, Ordering::Release);
        }
    }

    /// Asks a thread what it serves, by a signal that `ask` sends. `None` if it does not answer.
    pub(crate) fn ask(&self, slot: usize, ask: impl FnOnce()) -> Option<String> {
        self.begin_to_ask(slot, ask);
        self.answer(slot, Instant::now() + ANSWER)
    }

    /// Asks without waiting for the [answer](Self::answer).
    pub(crate) fn begin_to_ask(&self, slot: usize, ask: impl FnOnce()) {
        if let Some([length, ..]) = self.text(slot) {
            length.store(0, Ordering::Release);
        }
        ask();
    }

    /// What the thread that was asked has said until then.
    pub(crate) fn answer(&self, slot: usize, until: Instant) -> Option<String> {
        let [length, words @ ..] = self.text(slot)? else { return None };
        while length.load(Ordering::Acquire) == 0 {
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let bytes = load_bytes(words, usize::try_from(length.load(Ordering::Acquire)).ok()?)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Scoreboard {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this length; nobody can hold a slice of it any more.
        let _ = unsafe { rustix::mm::munmap(self.memory.as_ptr().cast(), Self::bytes(self.slots, self.has_texts)) };
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
        self.heartbeat.store(monotonic_millis(), Ordering::Relaxed);
    }

    /// The time since the last heartbeat; none for a process that waits for a connection.
    pub(crate) fn silent(&self) -> Duration {
        Duration::from_millis(monotonic_millis().saturating_sub(self.heartbeat.load(Ordering::Relaxed)))
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

    /// Those of these slots that are in use, for the status.
    pub(crate) fn overviews(slots: &[Self]) -> Vec<SlotOverview> {
        let claimed = slots.iter().zip(1..).filter(|(slot, _)| slot.is_claimed());
        claimed.map(|(slot, number)| slot.overview(number)).collect()
    }

    fn overview(&self, number: u32) -> SlotOverview {
        SlotOverview {
            number,
            process: self.process.load(Ordering::Relaxed),
            thread: self.thread.load(Ordering::Relaxed),
            requests: self.requests.load(Ordering::Relaxed),
            connections: self.connections.load(Ordering::Relaxed),
            busy: self.busy.load(Ordering::Relaxed) != 0,
            retiring: self.retiring.load(Ordering::Relaxed) != 0,
            running: self.running.load(Ordering::Relaxed),
            silent: self.silent().as_secs_f64(),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/sys/scoreboard.rs"]
mod tests;

//! Lines that outlive their process.
//!
//! A line waits for the thread that writes ([`buffer`](super::buffer)) for up to 50 ms. So that a process that is
//! killed loses none, each buffer has a copy of what waits in memory that is shared with who reaps the process: its
//! supervisor, or the parent that forked it. It writes what is left there to the same outputs, with
//! [`Logs::write_last_lines`](super::Logs::write_last_lines).
//!
//! It is a copy and not the buffer, so that layouts and sinks know nothing of it, and a process that nobody supervises
//! does without. An area has two halves, as a buffer has two vectors: one takes lines while the other one is written. A
//! half begins at its start again when its lines are written, so no line wraps around, and little memory is touched.
//! Nothing has to be repaired:
//!
//! - **A line counts by the length**, which is stored after its bytes. A process that dies in between has not logged
//!   it.
//! - **What is written counts by another number**, which follows each write. For a file the area says first where the
//!   write begins, so that one that was interrupted is found in the file itself.
//!
//! Start reading at [`Area::append`] and [`Area::rest`]. What is read here is never trusted: lengths are checked, and
//! the reader writes with no other rights than the process had.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create};

use crate::sys::shared_words::{SharedWords, load_bytes, store_bytes, store_bytes_at};

const NAME: &CStr = c"skep-last-lines";

/// Changes with the layout.
const VERSION: u64 = 0x736b_6570_6c6c_0001;

/// Areas and halves begin with a page, in words.
const PAGE: usize = 512;

/// The first page: its version, the areas of a process, the words of a half.
const MAGIC: usize = 0;
const AREAS: usize = 1;
const HALF: usize = 2;

/// The first page of an area: the process, the half that takes lines, and of each half its length and how much of it is
/// written, in bytes.
const OWNER: usize = 0;
const CURRENT: usize = 1;
const USED: usize = 2;
const DONE: usize = 4;
/// Calls whose lines found no room, of each half.
const MISSED: usize = 6;
/// A write to a file that was begun: its inode, its size before, and how much was written then.
const FILE: usize = 8;
const FILE_SIZE: usize = 9;
const FILE_DONE: usize = 10;
/// What ends a line, and the description of the output: its length and its bytes.
const END: usize = 11;
const OUTPUT: usize = 12;

/// A half is never longer, however large `log.buffer` and `log.reserve` are.
const LONGEST_HALF: usize = 64 << 20;
/// Room for a line that begins below the limit of its buffer.
const LAST_LINE: usize = 64 << 10;
/// The bytes of a half that stay in memory when it is empty.
const KEEP: usize = 256 << 10;

/// The memory of a worker, or of the processes that a parent forks.
#[derive(Debug)]
pub struct LastLines {
    memory: SharedWords,
}

/// The areas of a process, which its buffers take one after another.
#[derive(Debug)]
pub struct Areas {
    lines: Arc<LastLines>,
    next: AtomicUsize,
    end: usize,
}

/// What waits in one buffer.
#[derive(Debug)]
pub(super) struct Area {
    lines: Arc<LastLines>,
    at: usize,
}

/// How far a sink has come with the lines that it was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress<'a> {
    area: Option<&'a Area>,
    /// What was written before.
    done: u64,
}

/// What a process left behind in one area.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) output: String,
    pub(super) end: u8,
    pub(super) lines: Vec<u8>,
    /// The inode of the file that was written to, and where the lines begin there.
    pub(super) begun: Option<(u64, u64)>,
    /// Calls whose lines are not here.
    pub(super) missed: u64,
}

impl LastLines {
    /// The file of this memory, still empty. It never gets shorter, so that who reads it is not killed by who writes
    /// it.
    pub fn file() -> io::Result<OwnedFd> {
        let file = memfd_create(NAME, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        Ok(file)
    }

    /// Lays out the file for this number of processes with as many buffers each, of at most `size` bytes. What nobody
    /// touches takes no memory.
    pub(super) fn new(file: OwnedFd, processes: usize, areas: usize, size: usize) -> io::Result<Arc<Self>> {
        let half = size.saturating_add(LAST_LINE).min(LONGEST_HALF).next_multiple_of(PAGE * 8) / 8;
        let words = PAGE + processes * areas * (PAGE + 2 * half);
        ftruncate(&file, (words * 8) as u64)?;
        let lines = Self { memory: SharedWords::open(file, words)? };
        lines.word(AREAS).store(areas as u64, Ordering::Relaxed);
        lines.word(HALF).store(half as u64, Ordering::Relaxed);
        lines.word(MAGIC).store(VERSION, Ordering::Release);
        Ok(Arc::new(lines))
    }

    /// The memory that another process has laid out. `None` if none has, or one of a version that does it in another
    /// way.
    pub fn open(file: OwnedFd) -> io::Result<Option<Arc<Self>>> {
        if rustix::fs::fstat(&file)?.st_size == 0 {
            return Ok(None);
        }
        let lines = Self { memory: SharedWords::open(file, PAGE)? };
        let is_same = lines.word(MAGIC).load(Ordering::Acquire) == VERSION;
        let is_possible = lines.half() > 0 && lines.half() <= lines.memory.words().len();
        Ok((is_same && is_possible).then(|| Arc::new(lines)))
    }

    /// Those of a process by its number.
    pub fn areas(self: &Arc<Self>, process: usize) -> Areas {
        let areas = self.number(AREAS);
        let first = areas.saturating_mul(process);
        Areas { lines: Arc::clone(self), next: AtomicUsize::new(first), end: first.saturating_add(areas) }
    }

    /// Those of all processes.
    pub fn all(self: &Arc<Self>) -> Areas {
        Areas { lines: Arc::clone(self), next: AtomicUsize::new(0), end: usize::MAX }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.memory.words()[at]
    }

    fn number(&self, at: usize) -> usize {
        usize::try_from(self.word(at).load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    fn half(&self) -> usize {
        self.number(HALF)
    }
}

impl Areas {
    /// The next one, if there is one. It is the caller's to see to it that nobody else uses it.
    pub(super) fn next(&self) -> Option<Area> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let size = PAGE + 2 * self.lines.half();
        let at = number.checked_mul(size)?.checked_add(PAGE)?;
        let is_there = number < self.end && at.checked_add(size)? <= self.lines.memory.words().len();
        is_there.then(|| Area { lines: Arc::clone(&self.lines), at })
    }
}

impl Area {
    /// Takes it for a buffer of this process. False if the description of the output is too long.
    pub(super) fn claim(&self, output: &str, end: u8) -> bool {
        if output.len() > (PAGE - OUTPUT - 1) * 8 {
            return false;
        }
        self.release();
        self.word(END).store(end.into(), Ordering::Relaxed);
        self.word(OUTPUT).store(output.len() as u64, Ordering::Relaxed);
        store_bytes(&self.words()[OUTPUT + 1..PAGE], output.as_bytes());
        self.word(OWNER).store(std::process::id().into(), Ordering::Release);
        true
    }

    /// Empties it: nobody uses it any more.
    pub(super) fn release(&self) {
        self.word(OWNER).store(0, Ordering::Relaxed);
        (CURRENT..END).for_each(|at| self.word(at).store(0, Ordering::Relaxed));
    }

    /// The process that uses it, or used it until its end; 0 if none.
    pub(super) fn owner(&self) -> u32 {
        u32::try_from(self.word(OWNER).load(Ordering::Acquire)).unwrap_or(0)
    }

    /// Copies lines that wait now. The caller holds the lock of its buffer.
    pub(super) fn append(&self, lines: &[u8]) {
        let half = self.current();
        let used = self.number(USED + half);
        // The lines of a half have no gap, so that the number of those that are written tells which.
        if self.number(MISSED + half) > 0 || lines.len() > (self.lines.half() * 8).saturating_sub(used) {
            self.word(MISSED + half).fetch_add(1, Ordering::Relaxed);
            return;
        }
        store_bytes_at(self.half(half), used, lines);
        self.word(USED + half).store((used + lines.len()) as u64, Ordering::Release);
    }

    /// The lines that waited are being written now, and the other half, whose lines are, takes the next ones. The
    /// caller holds the lock.
    pub(super) fn swap(&self) {
        let next = 1 - self.current();
        if self.number(USED + next) > KEEP {
            self.free(next);
        }
        for at in [USED, DONE, MISSED] {
            self.word(at + next).store(0, Ordering::Relaxed);
        }
        self.word(CURRENT).store(next as u64, Ordering::Release);
    }

    /// For a sink that gets what is not written yet.
    pub(super) fn progress(&self) -> Progress<'_> {
        Progress { area: Some(self), done: self.word(DONE + 1 - self.current()).load(Ordering::Relaxed) }
    }

    /// What is not written.
    pub(super) fn rest(&self) -> Rest {
        let text = load_bytes(&self.words()[OUTPUT + 1..PAGE], self.number(OUTPUT)).unwrap_or_default();
        let (current, mut lines) = (self.current(), Vec::new());
        let earlier = 1 - current;
        for half in [earlier, current] {
            let bytes = load_bytes(self.half(half), self.number(USED + half)).unwrap_or_default();
            lines.extend_from_slice(bytes.get(self.number(DONE + half)..).unwrap_or_default());
        }
        let is_begun = self.number(FILE) != 0 && self.number(FILE_DONE) == self.number(DONE + earlier);
        let place = || (self.word(FILE).load(Ordering::Relaxed), self.word(FILE_SIZE).load(Ordering::Relaxed));
        Rest {
            output: String::from_utf8_lossy(&text).into_owned(),
            end: self.number(END).to_le_bytes()[0],
            lines,
            begun: is_begun.then(place),
            missed: [MISSED, MISSED + 1]
                .map(|at| self.word(at).load(Ordering::Relaxed))
                .into_iter()
                .fold(0, u64::saturating_add),
        }
    }

    /// Gives the memory of a half back.
    fn free(&self, half: usize) {
        let (start, length) = ((self.at + PAGE + half * self.lines.half()) * 8, self.lines.half() * 8);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // If it cannot be given back, it is used again.
        let _ = fallocate(self.lines.memory.file(), flags, start as u64, length as u64);
    }

    fn current(&self) -> usize {
        self.number(CURRENT) & 1
    }

    fn words(&self) -> &[AtomicU64] {
        &self.lines.memory.words()[self.at..]
    }

    fn half(&self, half: usize) -> &[AtomicU64] {
        let size = self.lines.half();
        &self.words()[PAGE + half * size..PAGE + (half + 1) * size]
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.words()[at]
    }

    fn number(&self, at: usize) -> usize {
        usize::try_from(self.word(at).load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }
}

impl<'a> Progress<'a> {
    /// For lines that nobody else has.
    pub(super) const NONE: Self = Self { area: None, done: 0 };

    pub(super) fn of(area: Option<&'a Area>) -> Self {
        area.map_or(Self::NONE, Area::progress)
    }

    /// The lines are going to be appended to the file with this inode, which has this size.
    pub(super) fn begins(self, file: u64, size: u64) {
        let Some(area) = self.area else { return };
        area.word(FILE_SIZE).store(size, Ordering::Relaxed);
        area.word(FILE_DONE).store(self.done, Ordering::Relaxed);
        area.word(FILE).store(file, Ordering::Release);
    }

    /// This many bytes of them are written.
    pub(super) fn wrote(self, bytes: usize) {
        let Some(area) = self.area else { return };
        area.word(DONE + 1 - area.current()).store(self.done + bytes as u64, Ordering::Release);
        area.word(FILE).store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/log/last_lines.rs"]
mod tests;

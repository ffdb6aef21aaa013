//! Buffers between the threads that log and the thread that writes.
//!
//! A buffer takes lines up to its limit. Beyond it, less important ones are dropped and counted. Warnings and errors
//! have a reserve of their own, so that an output may stand still for long and gets them all later. Only when that is
//! full, they wait for the writer, but not for long, and are dropped and counted then. What a sink does not take is
//! kept and written later.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use skep_units::lock;

use super::last_lines::{Area, Areas, Progress};
use super::sink::{Sink, Stopped};

/// How long a line may wait before it is written.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the thread writes without waiting for more, in bytes.
const ENOUGH: usize = 128 << 10;

/// When a sink that took nothing is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// How long a warning waits for room in its reserve. Once it has waited in vain, no other one does until there was
/// room.
const WAIT_FOR_ROOM: Duration = Duration::from_secs(1);

/// How long a slow reader is waited for by the thread, when there is no thread, and at the end.
const USUAL: Duration = Duration::from_millis(20);
const DIRECT: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_secs(1);

/// The capacity that an emptied buffer keeps. One that had more to write keeps what it has until it has less: it would
/// only grow again.
const KEEP: usize = 64 << 10;

thread_local! {
    /// This thread writes. It must not wait for itself.
    static WRITES: Cell<bool> = const { Cell::new(false) };
}

/// A sink, its name, and what ends its lines.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) name: String,
    /// For the process that writes the last lines of this one; empty if it shall not.
    pub(super) description: String,
    pub(super) sink: Arc<Sink>,
    pub(super) end: u8,
}

/// How many bytes of lines a buffer takes, but for the end of the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// For lines of all levels.
    pub(crate) usual: usize,
    /// Further ones, for warnings and errors alone.
    pub(crate) reserve: usize,
}

impl Capacity {
    fn of(self, severe: bool) -> usize {
        if severe { self.all() } else { self.usual }
    }

    pub(crate) fn all(self) -> usize {
        self.usual.saturating_add(self.reserve)
    }
}

/// The lines that wait to be written to one destination.
#[derive(Debug)]
pub(crate) struct LogBuffer {
    to: Destination,
    capacity: Capacity,
    lines: Mutex<Vec<u8>>,
    /// What was taken from `lines`, and not written yet. Held while it is written.
    unsent: Mutex<Vec<u8>>,
    /// A copy of both, for the case that this process is killed.
    area: OnceLock<Area>,
    /// Notified when `lines` were taken.
    room: Condvar,
    dropped: AtomicU64,
    /// The sink has failed, and this was reported.
    failing: AtomicBool,
    /// The sink fails, or a line has waited in vain: further ones do not wait for room.
    stuck: AtomicBool,
    /// The last lines were not all taken.
    unfinished: AtomicBool,
    writer: Arc<Writer>,
}

/// Writes the buffers, usually on a thread of its own.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// A thread writes the lines. Otherwise they are written at once.
    threaded: AtomicBool,
    /// A buffer has lines.
    pending: AtomicBool,
    /// A buffer has lines that shall not wait.
    urgent: AtomicBool,
    stopping: AtomicBool,
    buffers: Mutex<Vec<Arc<LogBuffer>>>,
    /// Where buffers have their copies, if somebody writes the last lines of this process.
    areas: OnceLock<Areas>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl LogBuffer {
    /// Appends what `format` writes, which must be whole lines. If the buffer is full, it is dropped, but for what is
    /// `severe`.
    pub(crate) fn push(&self, severe: bool, format: impl FnOnce(&mut Vec<u8>)) {
        let mut lines = lock(&self.lines);
        let capacity = self.capacity.of(severe);
        if lines.len() >= capacity {
            if severe {
                lines = self.wait_for_room(lines);
            }
            if lines.len() >= capacity {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        let before = lines.len();
        format(&mut lines);
        let after = lines.len();
        if let Some(area) = self.area.get() {
            area.append(&lines[before..]);
        }
        drop(lines);
        if !self.writer.threaded.load(Ordering::Relaxed) {
            return self.flush(DIRECT);
        }
        let half = (self.capacity.usual / 2).min(ENOUGH);
        let is_urgent = severe || before < half && after >= half;
        if (is_urgent || !self.writer.pending.load(Ordering::Relaxed)) && !self.writer.call(is_urgent) {
            self.flush(DIRECT);
        }
    }

    /// Waits until the reserve is not full, unless the sink takes nothing anyway.
    fn wait_for_room<'l>(&self, lines: MutexGuard<'l, Vec<u8>>) -> MutexGuard<'l, Vec<u8>> {
        let most = self.capacity.all();
        let is_full = |lines: &mut Vec<u8>| lines.len() >= most && !self.stuck.load(Ordering::Relaxed);
        if WRITES.get() || !self.writer.threaded.load(Ordering::Relaxed) {
            return lines;
        }
        let (lines, result) =
            self.room.wait_timeout_while(lines, WAIT_FOR_ROOM, is_full).unwrap_or_else(PoisonError::into_inner);
        if result.timed_out() {
            self.stuck.store(true, Ordering::Relaxed);
        }
        lines
    }

    /// Writes what there is, as far as the sink takes it, and reports what was lost.
    fn flush(&self, patience: Duration) {
        let (written, failure) = self.write(patience);
        self.unfinished.store(failure.is_some(), Ordering::Relaxed);
        match failure {
            // Its reader is slow, which shows in what is dropped.
            Some(stopped) if stopped.is_slow() => {}
            Some(stopped) => self.report_failure(&stopped),
            None => self.report_success(written > 0),
        }
    }

    /// Returns the number of bytes written, and why not all were.
    fn write(&self, patience: Duration) -> (usize, Option<Stopped>) {
        let mut unsent = lock(&self.unsent);
        let mut written = 0;
        // A sink may have the rest of a line that it began.
        let mut is_resumed = self.is_unfinished();
        loop {
            if unsent.is_empty() {
                let mut lines = lock(&self.lines);
                std::mem::swap(&mut *lines, &mut *unsent);
                if let Some(area) = self.area.get() {
                    area.swap();
                }
                self.stuck.store(false, Ordering::Relaxed);
                drop(lines);
                self.room.notify_all();
            }
            if unsent.is_empty() && !std::mem::take(&mut is_resumed) {
                return (written, None);
            }
            is_resumed = false;
            let progress = Progress::of(self.area.get());
            let result = self.to.sink.write(&unsent, self.to.end, patience, progress);
            let done = result.as_ref().map_or_else(|stopped| stopped.written, |()| unsent.len());
            progress.wrote(done);
            unsent.drain(..done);
            if done < KEEP {
                unsent.shrink_to(KEEP);
            }
            written += done;
            if let Err(stopped) = result {
                return (written, Some(stopped));
            }
        }
    }

    /// Copies from now on what waits into memory that outlives this process.
    fn use_area(&self, areas: &Areas) {
        if self.to.description.is_empty() {
            return;
        }
        let (unsent, lines) = (lock(&self.unsent), lock(&self.lines));
        if let Some(area) = areas.next().filter(|area| area.claim(&self.to.description, self.to.end)) {
            area.append(&unsent);
            area.swap();
            area.append(&lines);
            let _ = self.area.set(area);
        }
    }

    fn report_failure(&self, stopped: &Stopped) {
        self.stuck.store(true, Ordering::Relaxed);
        self.room.notify_all();
        if !self.failing.swap(true, Ordering::Relaxed) {
            let (output, error) = (&self.to.name, &stopped.error);
            let text = "a log cannot be written; what log.buffer and log.reserve hold is written later";
            tracing::error!(target: "skep::log", output, %error, "{text}");
        }
    }

    fn report_success(&self, has_written: bool) {
        let output = &self.to.name;
        if has_written && self.failing.swap(false, Ordering::Relaxed) {
            tracing::warn!(target: "skep::log", output, "a log is written again");
        }
        let lines = self.dropped.swap(0, Ordering::Relaxed);
        if lines > 0 {
            tracing::warn!(target: "skep::log", output, lines, "lines dropped: the log buffer was full (log.buffer)");
        }
    }

    fn is_unfinished(&self) -> bool {
        self.unfinished.load(Ordering::Relaxed)
    }
}

impl Writer {
    /// Starts the thread with the next line: a process that logs nothing needs none. What waits for it is copied into
    /// these areas.
    pub(crate) fn use_thread(&self, areas: Option<Areas>) {
        self.threaded.store(true, Ordering::Relaxed);
        let areas = areas.map(|areas| self.areas.get_or_init(|| areas));
        for buffer in lock(&self.buffers).iter() {
            buffer.to.sink.use_thread();
            if let Some(areas) = areas {
                buffer.use_area(areas);
            }
        }
    }

    /// A new buffer.
    pub(super) fn buffer(self: &Arc<Self>, to: Destination, capacity: Capacity) -> Arc<LogBuffer> {
        if self.threaded.load(Ordering::Relaxed) {
            to.sink.use_thread();
        }
        let buffer = Arc::new(LogBuffer {
            to,
            capacity,
            lines: Mutex::default(),
            unsent: Mutex::default(),
            area: OnceLock::new(),
            room: Condvar::new(),
            dropped: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            unfinished: AtomicBool::new(false),
            writer: Arc::clone(self),
        });
        if let Some(areas) = self.areas.get() {
            buffer.use_area(areas);
        }
        lock(&self.buffers).push(Arc::clone(&buffer));
        buffer
    }

    /// Wakes the writing thread, and starts it if necessary. False if it cannot be started.
    fn call(self: &Arc<Self>, is_urgent: bool) -> bool {
        if is_urgent {
            self.urgent.store(true, Ordering::Release);
        }
        self.pending.store(true, Ordering::Release);
        let begun = self.begin();
        if begun.is_err() {
            self.threaded.store(false, Ordering::Relaxed);
        }
        begun.is_ok()
    }

    pub(super) fn begin(self: &Arc<Self>) -> io::Result<()> {
        let mut thread = lock(&self.thread);
        if let Some(thread) = &*thread {
            thread.thread().unpark();
        } else if !self.stopping.load(Ordering::Acquire) {
            let running = Arc::clone(self);
            let builder = thread::Builder::new().name("log".into()).stack_size(128 << 10);
            *thread = Some(builder.spawn(move || running.run())?);
        }
        Ok(())
    }

    fn run(&self) {
        WRITES.set(true);
        loop {
            self.wait();
            let stopping = self.stopping.load(Ordering::Acquire);
            self.pending.store(false, Ordering::Release);
            self.urgent.store(false, Ordering::Release);
            self.flush_all(if stopping { LAST } else { USUAL });
            if stopping {
                // What was said of the last lines, such as how many were dropped.
                if self.pending.load(Ordering::Acquire) {
                    self.flush_all(USUAL);
                }
                return;
            }
        }
    }

    /// Waits for lines, and then a while for more of them.
    fn wait(&self) {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Acquire);
        let is_due = || is_set(&self.pending) || is_set(&self.stopping);
        while !is_due() {
            if super::events::has_repeats() || lock(&self.buffers).iter().any(|buffer| buffer.is_unfinished()) {
                thread::park_timeout(RETRY);
                break;
            }
            thread::park();
        }
        if !is_set(&self.urgent) && !is_set(&self.stopping) {
            thread::park_timeout(PATIENCE);
        }
    }

    fn flush_all(&self, patience: Duration) {
        super::events::report_repeats();
        let buffers = lock(&self.buffers).clone();
        for buffer in buffers {
            buffer.flush(patience);
        }
    }

    /// Writes all buffers, and ends the thread if there is one.
    pub(crate) fn finish(&self) {
        self.stopping.store(true, Ordering::Release);
        let thread = lock(&self.thread).take();
        let Some(thread) = thread else { return self.flush_all(LAST) };
        thread.thread().unpark();
        let _ = thread.join();
    }
}

#[cfg(test)]
#[path = "../../tests/unit/log/buffer.rs"]
mod tests;

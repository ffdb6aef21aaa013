//! Buffers between the threads that log and the thread that writes.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a line may wait before it is written.
const PATIENCE: Duration = Duration::from_millis(50);

/// The capacity that an emptied buffer keeps.
const KEEP: usize = 64 << 10;

/// Where lines are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
    /// /dev/null.
    #[cfg(test)]
    Null,
}

/// The lines of one thread (or, for events, of all) that wait to be written.
#[derive(Debug)]
pub(crate) struct LogBuffer {
    stream: Stream,
    limit: usize,
    lines: Mutex<Vec<u8>>,
    dropped: AtomicU64,
    writer: Arc<Writer>,
}

/// Writes the buffers, usually on a thread of its own.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// A thread writes the lines. Otherwise they are written at once.
    threaded: AtomicBool,
    /// A buffer has lines.
    pending: AtomicBool,
    stopping: AtomicBool,
    buffers: Mutex<Vec<Arc<LogBuffer>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl LogBuffer {
    /// Appends what `format` writes, which must be whole lines, or drops it if the buffer is full.
    pub(crate) fn push(&self, format: impl FnOnce(&mut Vec<u8>)) {
        let mut lines = lock(&self.lines);
        if lines.len() >= self.limit {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let before = lines.len();
        format(&mut lines);
        if !self.writer.threaded.load(Ordering::Relaxed) {
            drop(lines);
            self.write(&mut Vec::new());
            return;
        }
        let half = self.limit / 2;
        let hurry = before < half && lines.len() >= half;
        drop(lines);
        if (hurry || !self.writer.pending.load(Ordering::Relaxed)) && !self.writer.call() {
            self.write(&mut Vec::new());
        }
    }

    /// Writes the buffer. `spare` replaces it meanwhile.
    fn write(&self, spare: &mut Vec<u8>) {
        std::mem::swap(&mut *lock(&self.lines), spare);
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let _ = writeln!(spare, "# {dropped} lines dropped: the log buffer was full");
        }
        // A failure to write the log cannot be reported anywhere.
        let _ = match self.stream {
            Stream::Output => io::stdout().lock().write_all(spare).and_then(|()| io::stdout().flush()),
            Stream::Error => io::stderr().lock().write_all(spare),
            #[cfg(test)]
            Stream::Null => {
                std::fs::File::options().write(true).open("/dev/null").and_then(|mut null| null.write_all(spare))
            }
        };
        spare.clear();
        spare.shrink_to(KEEP);
    }
}

impl Writer {
    /// Starts the thread with the next line: a process that logs nothing needs none.
    pub(crate) fn use_thread(&self) {
        self.threaded.store(true, Ordering::Relaxed);
    }

    /// A new buffer of at most `limit` bytes.
    pub(crate) fn buffer(self: &Arc<Self>, stream: Stream, limit: usize) -> Arc<LogBuffer> {
        let (lines, dropped) = Default::default();
        let buffer = Arc::new(LogBuffer { stream, limit, lines, dropped, writer: Arc::clone(self) });
        lock(&self.buffers).push(Arc::clone(&buffer));
        buffer
    }

    /// Wakes the writing thread, and starts it if necessary. False if it cannot be started.
    fn call(self: &Arc<Self>) -> bool {
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
        let mut spare = Vec::new();
        loop {
            while !self.pending.load(Ordering::Acquire) && !self.stopping.load(Ordering::Acquire) {
                thread::park();
            }
            let stopping = self.stopping.load(Ordering::Acquire);
            if !stopping {
                thread::park_timeout(PATIENCE);
            }
            self.pending.store(false, Ordering::Release);
            self.write(&mut spare);
            if stopping {
                return;
            }
        }
    }

    fn write(&self, spare: &mut Vec<u8>) {
        let buffers = lock(&self.buffers).clone();
        for buffer in buffers {
            buffer.write(spare);
        }
    }

    /// Writes all buffers, and ends the thread if there is one.
    pub(crate) fn finish(&self) {
        self.stopping.store(true, Ordering::Release);
        let Some(thread) = lock(&self.thread).take() else { return self.write(&mut Vec::new()) };
        thread.thread().unpark();
        let _ = thread.join();
    }
}

/// A thread that panicked has at worst left an incomplete line.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "../../tests/unit/log/buffer.rs"]
mod tests;

//! The way of a line from the thread that has it to the thread that writes it.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a line may wait before it is written.
const PATIENCE: Duration = Duration::from_millis(50);

/// Room that an emptied buffer keeps.
const KEEP: usize = 64 << 10;

/// Where lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
    /// /dev/null: what is written is only measured.
    Null,
}

/// Lines of one thread (or, for events, of all) that wait to be written.
#[derive(Debug)]
pub(crate) struct Lane {
    stream: Stream,
    limit: usize,
    lines: Mutex<Vec<u8>>,
    dropped: AtomicU64,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// There is no thread: what is pushed is written at once.
    direct: AtomicBool,
    /// Something waits.
    pending: AtomicBool,
    stopping: AtomicBool,
    lanes: Mutex<Vec<Arc<Lane>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Who writes.
#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<Shared>,
}

impl Lane {
    /// Adds what `format` writes, which must be whole lines. If too much waits already, they are dropped.
    pub(crate) fn push(&self, format: impl FnOnce(&mut Vec<u8>)) {
        let mut lines = lock(&self.lines);
        if lines.len() >= self.limit {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let before = lines.len();
        format(&mut lines);
        if self.shared.direct.load(Ordering::Relaxed) {
            drop(lines);
            self.write(&mut Vec::new());
            return;
        }
        let half = self.limit / 2;
        let hurry = before < half && lines.len() >= half;
        drop(lines);
        if (hurry || !self.shared.pending.load(Ordering::Relaxed)) && !self.shared.call() {
            self.write(&mut Vec::new());
        }
    }

    /// Writes what waits, and says how many bytes that were. `spare` is the buffer that lines gather in meanwhile.
    pub(super) fn write(&self, spare: &mut Vec<u8>) -> usize {
        std::mem::swap(&mut *lock(&self.lines), spare);
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let _ = writeln!(spare, "# {dropped} lines were dropped here: they came faster than they could be written");
        }
        // Nobody is left to tell when the log itself cannot be written.
        let _ = match self.stream {
            Stream::Output => io::stdout().lock().write_all(spare).and_then(|()| io::stdout().flush()),
            Stream::Error => io::stderr().lock().write_all(spare),
            Stream::Null => File::options().write(true).open("/dev/null").and_then(|mut null| null.write_all(spare)),
        };
        let length = spare.len();
        spare.clear();
        spare.shrink_to(KEEP);
        length
    }
}

impl Shared {
    /// Has the thread write, which begins with that if it has not yet. False if there can be none.
    fn call(self: &Arc<Self>) -> bool {
        self.pending.store(true, Ordering::Release);
        let begun = self.begin();
        if begun.is_err() {
            self.direct.store(true, Ordering::Relaxed);
        }
        begun.is_ok()
    }

    fn begin(self: &Arc<Self>) -> io::Result<()> {
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
            let lanes = lock(&self.lanes).clone();
            for lane in lanes {
                lane.write(&mut spare);
            }
            if stopping {
                return;
            }
        }
    }
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let writer = Self::direct();
        writer.use_thread();
        writer.shared.begin()?;
        Ok(writer)
    }

    /// Without a thread: whoever has a line writes it, and waits for that.
    pub(crate) fn direct() -> Self {
        let shared = Arc::new(Shared {
            direct: AtomicBool::new(true),
            pending: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            lanes: Mutex::default(),
            thread: Mutex::default(),
        });
        Self { shared }
    }

    /// From now on a thread writes. It begins with the first line: a process that has nothing to say, and does not live long, has none.
    pub(crate) fn use_thread(&self) {
        self.shared.direct.store(false, Ordering::Relaxed);
    }

    /// A new lane of at most `limit` bytes.
    pub(crate) fn lane(&self, stream: Stream, limit: usize) -> Arc<Lane> {
        let lane = Arc::new(Lane {
            stream,
            limit,
            lines: Mutex::default(),
            dropped: AtomicU64::new(0),
            shared: Arc::clone(&self.shared),
        });
        lock(&self.shared.lanes).push(Arc::clone(&lane));
        lane
    }

    /// Writes all that waits, and ends the thread, if there is one.
    pub(crate) fn finish(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        let Some(thread) = lock(&self.shared.thread).take() else {
            let lanes = lock(&self.shared.lanes).clone();
            for lane in lanes {
                lane.write(&mut Vec::new());
            }
            return;
        };
        thread.thread().unpark();
        let _ = thread.join();
    }
}

/// A thread that panicked has at worst left half a line behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_lane_drops_lines_and_counts_them() {
        let mut writer = Writer::start().unwrap();
        let lane = writer.lane(Stream::Error, 0);
        lane.push(|_| panic!("there is no room"));
        lane.push(|_| panic!("there is no room"));
        assert_eq!(lane.dropped.load(Ordering::Relaxed), 2);
        lane.dropped.store(0, Ordering::Relaxed);
        writer.finish();
    }

    #[test]
    fn a_thread_begins_with_the_first_line_and_ends_with_the_last() {
        let mut writer = Writer::direct();
        writer.use_thread();
        let lane = writer.lane(Stream::Null, 100);
        assert!(lock(&writer.shared.thread).is_none());
        lane.push(|lines| lines.extend(b"one line\n"));
        assert!(lock(&writer.shared.thread).is_some());
        lane.push(|lines| lines.extend(b"another\n"));
        writer.finish();
        assert!(lock(&lane.lines).is_empty() && lock(&writer.shared.thread).is_none());
    }
}

//! A log file that several processes write, and any of them rotates.
//!
//! A process appends whole lines while it holds the file's lock (`flock`). With the lock it checks that the path still
//! leads to this file, so one that another process or `logrotate` has renamed is opened again; and that the file ends
//! with a whole line, so what a killed process left unfinished is removed. What is rotated is renamed with the lock
//! held: nobody writes to it any more.
//!
//! A path may lead to a FIFO or a device: these are written as standard output is, and opened without waiting for a
//! reader.

mod archive;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use skep_units::format_duration;

use super::stream::{self, write_all};
use super::{Progress, Stopped};
use archive::Archive;

/// When a file is rotated, and what becomes of the old ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::log) struct Rotation {
    /// Before it exceeds this size.
    pub(in crate::log) size: Option<u64>,
    /// At multiples of this time since 1970, UTC: `1d` is midnight.
    pub(in crate::log) every: Option<Duration>,
    /// How many old files are kept.
    pub(in crate::log) keep: Option<usize>,
    /// Old files are compressed.
    pub(in crate::log) compress: bool,
}

/// A file by its path.
#[derive(Debug)]
pub(in crate::log) struct LogFile {
    path: PathBuf,
    rotation: Rotation,
    open: Mutex<Option<Open>>,
    in_background: AtomicBool,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Who opened it: a lock belongs to an open file, which a forked process would share.
    process: u32,
}

/// What is read at once to find the end of the last whole line.
const TAIL: usize = 4096;

/// How often a file is opened again in one call, because it was replaced meanwhile.
const ATTEMPTS: usize = 8;

/// How long another process may hold the lock: it may be stopped.
const LOCK_ATTEMPTS: u32 = 1000;
const LOCK_PAUSE: Duration = Duration::from_millis(1);

impl LogFile {
    pub(in crate::log) fn new(path: PathBuf, rotation: Rotation) -> Self {
        Self { path, rotation, open: Mutex::default(), in_background: AtomicBool::new(false) }
    }

    /// This process may have threads, so old files are compressed by one.
    pub(super) fn compress_in_background(&self) {
        self.in_background.store(true, Ordering::Relaxed);
    }

    /// Appends whole lines. Waits at most `patience` for the reader of a FIFO.
    pub(super) fn write(&self, lines: &[u8], patience: Duration, progress: Progress<'_>) -> Result<(), Stopped> {
        let mut open = skep_units::lock(&self.open);
        for _ in 0..ATTEMPTS {
            match self.try_write(&mut open, lines, patience, progress) {
                Ok(true) => return Ok(()),
                Ok(false) => *open = None,
                Err(stopped) => return Err(stopped),
            }
        }
        Err(stopped(io::Error::other("the file is replaced again and again")))
    }

    /// False if the file is no longer the one of the path.
    fn try_write(
        &self,
        open: &mut Option<Open>,
        lines: &[u8],
        patience: Duration,
        progress: Progress<'_>,
    ) -> Result<bool, Stopped> {
        let file = self.opened(open).map_err(stopped)?;
        let metadata = file.metadata().map_err(stopped)?;
        let is_file = metadata.is_file();
        let _lock = is_file.then(|| Locked::new(file));
        if !is_at(file, &self.path) {
            return Ok(false);
        }
        if !is_file {
            return stream::write(file.as_fd(), lines, patience, progress).map(|()| true);
        }
        let size = remove_incomplete_line(file).map_err(stopped)?;
        if size > 0 && self.rotation.is_due(size + lines.len() as u64, modified(file), SystemTime::now()) {
            let archive = Archive { path: &self.path, rotation: &self.rotation };
            archive.rotate(self.in_background.load(Ordering::Relaxed)).map_err(stopped)?;
            return Ok(false);
        }
        progress.begins(metadata.ino(), size);
        append(file, lines, size)?;
        progress.wrote(lines.len());
        Ok(true)
    }

    /// How much of these lines a process has appended that was killed meanwhile: to the file with this inode, from this
    /// size on. It may have been rotated since; if it is compressed, nothing is known.
    pub(in crate::log) fn has_taken(&self, (inode, size): (u64, u64), lines: &[u8]) -> usize {
        let archive = Archive { path: &self.path, rotation: &self.rotation };
        let files = std::iter::once(self.path.clone()).chain(archive.files().unwrap_or_default());
        let open = |path: PathBuf| OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok();
        let is_it = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.ino() == inode);
        let Some(file) = files.filter_map(open).find(is_it) else { return 0 };
        let (mut there, mut read) = (vec![0; lines.len()], 0);
        while let Ok(more @ 1..) = file.read_at(&mut there[read..], size + read as u64) {
            read += more;
        }
        let same = there[..read].iter().zip(lines).take_while(|(there, line)| there == line).count();
        whole(&lines[..same])
    }

    fn opened<'o>(&self, open: &'o mut Option<Open>) -> io::Result<&'o File> {
        let process = std::process::id();
        if open.as_ref().is_none_or(|open| open.process != process) {
            *open = Some(Open { file: open_file(&self.path)?, process });
        }
        open.as_ref().map(|open| &open.file).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Opens a file, and creates it if it does not exist. A FIFO is opened for writing only: this process must not count as
/// its reader.
fn open_file(path: &Path) -> io::Result<File> {
    let options = || {
        let mut options = OpenOptions::new();
        // Without it, opening a FIFO waits for a reader, and so would all requests of a process without a writing
        // thread.
        options.append(true).custom_flags(libc::O_NONBLOCK);
        options
    };
    if path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        return options().open(path).map_err(|error| match error.raw_os_error() {
            Some(libc::ENXIO) => io::Error::new(io::ErrorKind::BrokenPipe, "it is a FIFO that no process reads"),
            _ => error,
        });
    }
    // A device may not be readable.
    options().read(true).create(true).mode(0o640).open(path).or_else(|_| options().open(path))
}

fn stopped(error: io::Error) -> Stopped {
    Stopped { written: 0, error }
}

/// The options of an output, each after a space.
impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.size.map_or(Ok(()), |size| write!(f, " rotate={size}B"))?;
        self.every.map_or(Ok(()), |every| write!(f, " every={}", format_duration(every)))?;
        self.keep.map_or(Ok(()), |keep| write!(f, " keep={keep}"))?;
        f.write_str(if self.compress { " compress=yes" } else { "" })
    }
}

impl Rotation {
    fn is_due(&self, size: u64, modified: Duration, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let period = |time: Duration, every: Duration| time.as_millis() / every.as_millis().max(1);
        self.size.is_some_and(|limit| size > limit)
            || self.every.is_some_and(|every| period(modified, every) < period(now, every))
    }
}

fn modified(file: &File) -> Duration {
    let time = file.metadata().and_then(|metadata| metadata.modified());
    time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or(Duration::MAX)
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: &std::fs::Metadata, b: &std::fs::Metadata| a.dev() == b.dev() && a.ino() == b.ino();
    file.metadata().is_ok_and(|open| path.metadata().is_ok_and(|there| same(&open, &there)))
}

/// Removes a line that a killed process did not finish: all others finish theirs while they hold the lock. Returns the
/// size.
fn remove_incomplete_line(file: &File) -> io::Result<u64> {
    let size = file.metadata()?.len();
    let mut last = [0];
    if size == 0 || file.read_at(&mut last, size - 1)? == 0 || last == *b"\n" {
        return Ok(size);
    }
    let mut end = size;
    let mut buffer = [0; TAIL];
    while end > 0 {
        let start = end.saturating_sub(TAIL as u64);
        let piece = &mut buffer[..usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(piece, start)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    file.set_len(end)?;
    Ok(end)
}

/// Appends lines; if they do not all fit, those that fit.
fn append(file: &File, lines: &[u8], size: u64) -> Result<(), Stopped> {
    let Err((written, error)) = write_all(file.as_fd(), lines) else { return Ok(()) };
    let whole = whole(&lines[..written]);
    // If this fails, the next writer does it.
    let _ = file.set_len(size + whole as u64);
    Err(Stopped { written: whole, error })
}

/// The bytes of the lines that are whole.
fn whole(lines: &[u8]) -> usize {
    lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// The lock of an open file.
struct Locked<'f> {
    file: &'f File,
    is_held: bool,
}

impl<'f> Locked<'f> {
    /// Waits for the lock. Without it after a second, lines are still whole: each write appends.
    fn new(file: &'f File) -> Self {
        let mut is_held = false;
        for _ in 0..LOCK_ATTEMPTS {
            is_held = flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_held {
                break;
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        Self { file, is_held }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = flock(self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/log/file.rs"]
mod tests;

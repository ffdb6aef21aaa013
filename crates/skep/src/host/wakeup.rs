//! Wakes other processes of this machine: by a small file that they watch (inotify), so nobody polls, and no process
//! has to be there for it.
//!
//! The file says that something has happened, and never what: who is woken looks in the database.
//!
//! Start reading at [`WakeupFile::wake`].

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a slot. Each wake-up writes another number there, so that a later one does not undo an earlier one.
const SLOT: u64 = 8;

/// A file by which processes of a machine wake each other. For libraries; an example is `skep-jobs`.
///
/// ```
/// use std::sync::{Arc, mpsc};
/// use skep::wakeup::WakeupFile;
///
/// let folder = tempfile::tempdir()?;
/// // Two processes, as it were.
/// let (here, there) = (WakeupFile::new(folder.path().join("w")), WakeupFile::new(folder.path().join("w")));
/// let (sender, woken) = mpsc::channel();
/// let (watch, wakeups) = Arc::new(there).watch()?;
/// let thread = std::thread::spawn(move || wakeups.for_each(|slots| sender.send(slots).unwrap()));
/// here.wake(7)?;
/// # #[cfg(target_os = "linux")]
/// assert_eq!(woken.recv()?, [7]);
/// drop(watch);
/// thread.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WakeupFile {
    path: PathBuf,
    file: OnceLock<File>,
    next: AtomicU64,
}

impl WakeupFile {
    /// How many things a file tells apart.
    pub const SLOTS: u64 = 512;

    /// The file at this path, which is made when it is first used.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        let next = AtomicU64::new(RandomState::new().hash_one(&path));
        Self { path, file: OnceLock::new(), next }
    }

    /// Wakes who watches, in this process and in others, and names a slot: any number, of which the remainder by 512
    /// counts.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn wake(&self, slot: u64) -> io::Result<()> {
        // Forked processes count from the same number.
        let number = self.next.fetch_add(1, Ordering::Relaxed) ^ u64::from(std::process::id()) << 40;
        write_at(self.file()?, &number.to_ne_bytes(), slot % Self::SLOTS * SLOT)
    }

    /// The wake-ups from now on, which a thread of the caller's takes one after the other, until the [`Watch`] is
    /// dropped. Only Linux has some: elsewhere nobody is woken.
    ///
    /// # Errors
    /// If the file cannot be made or watched.
    pub fn watch(self: &Arc<Self>) -> io::Result<(Watch, Wakeups)> {
        let watch = Watch { file: Arc::clone(self), has_ended: Arc::default() };
        let wakeups = Wakeups::new(self, &watch.has_ended)?;
        Ok((watch, wakeups))
    }

    fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        Ok(self.file.get_or_init(|| file))
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    // Nobody watches.
    Ok(())
}

/// Somebody who watches a [`WakeupFile`], until it is dropped.
#[derive(Debug)]
#[must_use = "it watches until it is dropped"]
pub struct Watch {
    file: Arc<WakeupFile>,
    has_ended: Arc<AtomicBool>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        // For the thread to see it; without the file, it stays until the process ends.
        _ = self.file.wake(0);
    }
}

/// The slots of each wake-up: [`WakeupFile::watch`]. To ask for the next one blocks the thread.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct Wakeups {
    file: Arc<WakeupFile>,
    has_ended: Arc<AtomicBool>,
    changes: std::os::fd::OwnedFd,
    known: Vec<u8>,
}

#[cfg(target_os = "linux")]
impl Wakeups {
    fn new(file: &Arc<WakeupFile>, has_ended: &Arc<AtomicBool>) -> io::Result<Self> {
        use rustix::fs::inotify;

        let known = file.slots()?;
        let changes = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&changes, &file.path, inotify::WatchFlags::MODIFY)?;
        Ok(Self { file: Arc::clone(file), has_ended: Arc::clone(has_ended), changes, known })
    }

    fn wait(&mut self) -> io::Result<Vec<u64>> {
        rustix::io::retry_on_intr(|| rustix::io::read(&self.changes, &mut [0; 1024]))?;
        let slots = self.file.slots()?;
        let changed = changed(&self.known, &slots);
        self.known = slots;
        Ok(changed)
    }
}

#[cfg(target_os = "linux")]
impl Iterator for Wakeups {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        loop {
            let slots = self.wait();
            match slots {
                _ if self.has_ended.load(Ordering::Relaxed) => return None,
                Ok(slots) if slots.is_empty() => {}
                Ok(slots) => return Some(slots),
                Err(error) => {
                    let path = self.file.path.display();
                    tracing::warn!(target: "skep", %error, "{path} cannot be watched: other processes wake this one no more");
                    return None;
                }
            }
        }
    }
}

/// The slots of each wake-up: none.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct Wakeups(());

#[cfg(not(target_os = "linux"))]
impl Wakeups {
    fn new(_: &Arc<WakeupFile>, _: &Arc<AtomicBool>) -> io::Result<Self> {
        Ok(Self(()))
    }
}

#[cfg(not(target_os = "linux"))]
impl Iterator for Wakeups {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        None
    }
}

#[cfg(target_os = "linux")]
impl WakeupFile {
    /// What is in the slots: the file is as long as the last one that was written.
    fn slots(&self) -> io::Result<Vec<u8>> {
        use std::os::unix::fs::FileExt;

        let file = self.file()?;
        let length = file.metadata()?.len().min(Self::SLOTS * SLOT);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

/// The slots that differ.
#[cfg(target_os = "linux")]
fn changed(before: &[u8], now: &[u8]) -> Vec<u64> {
    let size = usize::try_from(SLOT).unwrap_or(8);
    let slots = (0..).zip(now.chunks(size));
    let mut before = before.chunks(size);
    let differs = |(_, now): &(u64, &[u8])| match before.next() {
        Some(before) => before != *now,
        None => now.iter().any(|byte| *byte != 0),
    };
    slots.filter(differs).map(|(slot, _)| slot).collect()
}

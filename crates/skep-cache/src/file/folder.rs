//! One folder of files, and its share of the limits.
//!
//! Writers lock the file `.lock`, which contains the usage of the folder (bytes, then entries, 8 bytes each, little
//! endian). If a writer dies before updating it, the usage is wrong by one file until the next eviction, which counts
//! again.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;

use super::format::{self, HEAD};
use crate::clock::Time;
use crate::error::{Error, Result};
use crate::slot::{Stored, ends};

/// How long a writer waits for the lock. A holder writes one file or reads one folder; only a stopped one takes longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The accuracy of a file's last read: updating it on each read would cost as much as the read.
const READ_AGAIN: Duration = Duration::from_mins(1);

/// When files of dead writers are removed.
const ABANDONED: Duration = Duration::from_hours(1);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    share: Budget,
    /// As last seen, for statistics.
    pub(super) bytes: AtomicU64,
    pub(super) entries: AtomicU64,
    pub(super) evicted: AtomicU64,
}

/// A locked folder. The lock ends on drop, and with the process.
pub(super) struct Writer<'a> {
    folder: &'a Folder,
    lock: File,
    usage: Budget,
}

impl Folder {
    pub(super) fn new(path: PathBuf, share: Budget) -> Self {
        let none = || AtomicU64::new(0);
        let folder = Self { path, share, bytes: none(), entries: none(), evicted: none() };
        if let Ok(writer) = folder.lock() {
            writer.note();
        }
        folder
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The bytes of a key, or why its file is damaged.
    pub(super) fn read(&self, name: &str, key: &[u8]) -> io::Result<Option<Result<Bytes, &'static str>>> {
        let mut file = match File::open(self.path(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let known = file.metadata()?;
        let mut bytes = Vec::with_capacity(usize::try_from(known.len()).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        let now = SystemTime::now();
        if known.modified()?.elapsed().is_ok_and(|age| age > READ_AGAIN) {
            // If this fails, the file is evicted too early.
            let _ = file.set_modified(now);
        }
        Ok(Some(format::decode(bytes.into(), key)))
    }

    pub(super) fn lock(&self) -> Result<Writer<'_>> {
        let failed = |error: io::Error| Error::unreachable("locking the folder of the cache").because(error);
        let mut options = File::options();
        let lock = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(self.path.join(".lock")).map_err(failed)?;
        let start = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if start.elapsed() > LOCK_TIMEOUT => {
                    let text = format!("another process has locked {} for {LOCK_TIMEOUT:?}", self.path.display());
                    return Err(Error::unreachable("locking the folder of the cache").because(text));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(100)),
            }
        }
        let mut usage = [0; 16];
        // The file of a new folder is empty.
        let usage = match lock.read_exact_at(&mut usage, 0) {
            Ok(()) => Budget { bytes: number(&usage[..8]), entries: number(&usage[8..]) },
            Err(_) => Budget::default(),
        };
        Ok(Writer { folder: self, lock, usage })
    }

    /// The keys of all files, and the first bytes of their entries.
    pub(super) fn heads(&self) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut heads = Vec::new();
        self.each(|path, _| {
            if let Some((key, entry)) = read_head(path).as_deref().and_then(format::head) {
                heads.push((key.to_vec(), entry.to_vec()));
            }
        })?;
        Ok(heads)
    }

    /// Calls `call` with all files except the lock. Files removed meanwhile are skipped.
    fn each(&self, mut call: impl FnMut(&PathBuf, &fs::Metadata)) -> io::Result<()> {
        for file in fs::read_dir(&self.path)? {
            let file = file?;
            if file.file_name() != ".lock"
                && let Ok(known) = file.metadata()
            {
                call(&file.path(), &known);
            }
        }
        Ok(())
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// The first bytes of a file, if it still exists.
fn read_head(path: &PathBuf) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEAD);
    File::open(path).ok()?.take(HEAD as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Writer<'_> {
    pub(super) fn write(&mut self, name: &str, key: &[u8], stored: &Stored, now: Time) -> io::Result<()> {
        let (path, bytes) = (self.folder.path(name), format::encode(key, stored));
        let mut after = self.usage_with(&path, bytes.len() as u64);
        if after.bytes > self.folder.share.bytes || after.entries > self.folder.share.entries {
            self.evict(bytes.len() as u64, now)?;
            // The old file may have been evicted.
            after = self.usage_with(&path, bytes.len() as u64);
        }
        // Under another name first, so that readers see the whole new or the whole old file.
        let new = path.with_extension("new");
        // A dead writer may have left one. `create_new` follows no link.
        let _ = fs::remove_file(&new);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        let written = file.write_all_at(&bytes, 0).and_then(|()| fs::rename(&new, &path));
        if written.is_err() {
            let _ = fs::remove_file(&new);
            return written;
        }
        self.usage = after;
        self.save()
    }

    fn usage_with(&self, path: &PathBuf, bytes: u64) -> Budget {
        let old = fs::metadata(path).ok().map(|known| known.len());
        Budget {
            bytes: self.usage.bytes.saturating_sub(old.unwrap_or(0)) + bytes,
            entries: self.usage.entries + u64::from(old.is_none()),
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> io::Result<()> {
        let path = self.folder.path(name);
        let Ok(known) = fs::metadata(&path) else { return Ok(()) };
        fs::remove_file(&path)?;
        self.usage.bytes = self.usage.bytes.saturating_sub(known.len());
        self.usage.entries = self.usage.entries.saturating_sub(1);
        self.save()
    }

    /// Removes dead and damaged files, then the least recently read, until a tenth of the share and `wanted` bytes are
    /// free: then the next writes need no eviction.
    fn evict(&mut self, wanted: u64, now: Time) -> io::Result<()> {
        let (mut files, mut gone, clock) = (Vec::new(), Vec::new(), SystemTime::now());
        self.folder.each(|path, known| {
            let read = known.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_new = path.extension().is_some();
            let abandoned = clock.duration_since(read).is_ok_and(|age| age > ABANDONED);
            let head = read_head(path);
            let end = head.as_deref().and_then(format::split).and_then(|(_, slot)| ends(slot));
            if (is_new && abandoned) || (!is_new && end.is_none_or(|end| end <= now)) {
                gone.push(path.clone());
            } else if !is_new {
                files.push((read, known.len(), path.clone()));
            }
        })?;
        for path in &gone {
            drop(fs::remove_file(path));
        }
        files.sort_unstable();
        let share = self.folder.share;
        let goal = Budget {
            bytes: (share.bytes - share.bytes / 10).min(share.bytes.saturating_sub(wanted)),
            entries: (share.entries - share.entries / 10).min(share.entries.saturating_sub(1)),
        };
        let mut usage = Budget { bytes: files.iter().map(|file| file.1).sum(), entries: files.len() as u64 };
        for (_, bytes, path) in &files {
            if usage.bytes <= goal.bytes && usage.entries <= goal.entries {
                break;
            }
            fs::remove_file(path)?;
            usage.bytes -= bytes;
            usage.entries -= 1;
            self.folder.evicted.fetch_add(1, Ordering::Relaxed);
        }
        self.usage = usage;
        self.save()
    }

    fn save(&self) -> io::Result<()> {
        self.note();
        let mut usage = [0; 16];
        usage[..8].copy_from_slice(&self.usage.bytes.to_le_bytes());
        usage[8..].copy_from_slice(&self.usage.entries.to_le_bytes());
        self.lock.write_all_at(&usage, 0)
    }

    fn note(&self) {
        self.folder.bytes.store(self.usage.bytes, Ordering::Relaxed);
        self.folder.entries.store(self.usage.entries, Ordering::Relaxed);
    }
}

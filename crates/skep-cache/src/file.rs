//! One file for each entry, for large values that should survive restarts.
//!
//! A file is written under another name and renamed, so readers see whole entries and need no lock. Writers of one
//! machine lock the folder; the system releases the lock when its holder dies. A checksum detects damaged files, which
//! are removed.
//!
//! Nothing is flushed to the disk: after a power failure an entry is complete or a miss.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::clock::{Time, Version};
use crate::driver::{Driver, Entry, EpochWrites, Ready, Record, Removal, Stamp, Usage, When};
use crate::error::{Error, Result};
use crate::setters::setters;
use crate::slot::{Change, Operation, Outcome, operations, show};

mod folder;
mod format;

use folder::{Budget, Folder};

/// Folders, by the first digit of a file's name. With more, the share of each, and so the largest value, would be
/// smaller.
const FOLDERS: usize = 16;

/// One file for each entry.
///
/// Needs no runtime: each call blocks, for about 10 µs if the file is in the page cache, and longer for large values
/// and slow disks. If that must not delay other tasks, wrap it in a `BlockingPool`. Processes of one machine may share
/// the folder, not machines (over NFS).
///
/// ```
/// use skep_cache::File;
///
/// # let folder = tempfile::tempdir()?;
/// let driver = File::builder(folder.path().join("cache")).max_bytes(1 << 30).open()?;
/// # let _ = driver;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct File {
    folders: Vec<Folder>,
    max_value: u64,
    epochs: EpochWrites,
}

/// Options of a [`File`].
#[derive(Clone, Debug)]
#[must_use]
pub struct FileBuilder {
    root: PathBuf,
    max_bytes: u64,
    max_entries: u64,
}

impl File {
    /// Stores entries in this folder, which is created if it does not exist.
    pub fn builder(root: impl Into<PathBuf>) -> FileBuilder {
        FileBuilder { root: root.into(), max_bytes: 1 << 30, max_entries: 100_000 }
    }

    fn folder(&self, name: &str) -> &Folder {
        &self.folders[usize::from_str_radix(&name[..1], 16).unwrap_or(0)]
    }

    fn apply(&self, key: &[u8], operation: Operation, now: Time) -> Result<Outcome> {
        let name = format::name(key);
        let folder = self.folder(&name);
        let mut writer = folder.lock()?;
        let old = folder.read(&name, key).map_err(failed("reading a file"))?;
        let bytes = old.as_ref().and_then(|found| found.as_ref().ok()).map_or(&[][..], |bytes| bytes);
        let (change, outcome) = operation.apply(bytes, now)?;
        match change {
            Change::Keep => {}
            Change::Drop => writer.remove(&name).map_err(failed("removing a file"))?,
            Change::Put(stored) => {
                let size = format::size(key, &stored);
                if size > self.max_value {
                    if matches!(operation, Operation::Set(_, When::Always)) {
                        // The old value is outdated.
                        writer.remove(&name).map_err(failed("removing a file"))?;
                    }
                    let number = |size| usize::try_from(size).unwrap_or(usize::MAX);
                    return Err(Error::too_large(number(size), number(self.max_value)));
                }
                let written = writer.write(&name, key, &stored, now);
                if written.is_err() && matches!(operation, Operation::Set(..) | Operation::Remove(_)) {
                    // The disk may be full. The old value is outdated.
                    writer.remove(&name).map_err(failed("removing a file"))?;
                }
                written.map_err(failed("writing a file"))?;
            }
        }
        Ok(outcome)
    }

    /// Removes a damaged file, unless it was replaced meanwhile.
    fn remove_damaged(&self, name: &str, key: &[u8], now: Time) -> Result<()> {
        let folder = self.folder(name);
        let mut writer = folder.lock()?;
        let found = folder.read(name, key).map_err(failed("reading a file"))?;
        let is_damaged = match found {
            Some(Ok(bytes)) => show(&bytes, now, |_| ()).is_err(),
            Some(Err(_)) => true,
            None => false,
        };
        if is_damaged {
            tracing::warn!(target: "skep_cache", file = %folder.path(name).display(), "removed a damaged file");
            writer.remove(name).map_err(failed("removing a file"))?;
        }
        Ok(())
    }
}

impl FileBuilder {
    setters! {
        /// Limits the bytes of all files, at least 1 MiB. Default: 1 GiB. One entry may take a sixteenth. A full folder
        /// evicts dead entries first, then the least recently read.
        pub fn max_bytes(bytes: u64) => max_bytes = bytes;

        /// Limits the number of entries, at least 16. Default: 100 000. An eviction reads a whole folder, a sixteenth
        /// of them.
        pub fn max_entries(entries: u64) => max_entries = entries;
    }

    /// Opens the driver.
    ///
    /// # Errors
    ///
    /// If a limit is too small, or the folder cannot be created.
    pub fn open(self) -> Result<File> {
        let wrong = |text: String| Error::misused("invalid options of the file driver").because(text);
        if self.max_bytes < 1 << 20 {
            return Err(wrong(format!("max_bytes is {}: expected at least {}", self.max_bytes, 1 << 20)));
        }
        if self.max_entries < FOLDERS as u64 {
            return Err(wrong(format!("max_entries is {}: expected at least {FOLDERS}", self.max_entries)));
        }
        let share = Budget { bytes: self.max_bytes / FOLDERS as u64, entries: self.max_entries / FOLDERS as u64 };
        let mut folders = Vec::with_capacity(FOLDERS);
        for number in 0..FOLDERS {
            let path = self.root.join(format!("{number:x}"));
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
            made.map_err(|error| {
                Error::unreachable("creating the folder of the cache").because(format!("{}: {error}", path.display()))
            })?;
            folders.push(Folder::new(path, share));
        }
        Ok(File { folders, max_value: share.bytes, epochs: EpochWrites::default() })
    }
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> Error {
    move |error| Error::unreachable(what).because(error)
}

impl Driver for File {
    fn name(&self) -> &'static str {
        "file"
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let name = format::name(key);
        let shown = match self.folder(&name).read(&name, key).map_err(failed("reading a file"))? {
            None => return Ok(None),
            Some(Ok(bytes)) => show(&Bytes::clone(&bytes), now, read),
            Some(Err(damage)) => Err(Error::corrupt(damage)),
        };
        if shown.is_err() {
            self.remove_damaged(&name, key, now)?;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.epochs.during(record, when);
        Ok(self.apply(key, Operation::Set(record.clone(), when), now)?.done())
    }

    operations!(apply);

    /// Opens every file: for maintenance, not for each request.
    async fn keys<F: FnMut(&[u8]) + Send>(&self, prefix: &[u8], now: Time, mut each: F) -> Result<()> {
        for folder in &self.folders {
            for (key, head) in folder.heads().map_err(failed("listing the files"))? {
                let live = Entry::parse(&head).is_ok_and(|entry| entry.is_live(now));
                if live && key.starts_with(prefix) {
                    each(&key);
                }
            }
        }
        Ok(())
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let mut keys = Vec::new();
        self.keys(prefix, now, |key| keys.push(key.to_vec())).await?;
        let gone = Operation::Remove(Removal { version: Version::ZERO, until: now });
        keys.iter().try_for_each(|key| self.apply(key, gone.clone(), now).map(drop))
    }

    fn generation(&self) -> Stamp {
        self.epochs.stamp()
    }

    /// As this process last saw each folder.
    fn usage(&self) -> Usage {
        let sum = |of: fn(&Folder) -> &AtomicU64| {
            Some(self.folders.iter().map(|folder| of(folder).load(Ordering::Relaxed)).sum())
        };
        Usage {
            entries: sum(|folder| &folder.entries),
            bytes: sum(|folder| &folder.bytes),
            evicted: sum(|folder| &folder.evicted),
        }
    }
}

impl Ready for File {}

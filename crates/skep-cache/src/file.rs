//! One file for each entry, for large values that should survive restarts.
//!
//! A file is written under another name and renamed, so a reader sees all of an entry or none of it, and needs no lock.
//! Writers of one machine take turns by a lock on their folder that the system gives back when its holder dies. A file
//! that is damaged is found by its checksum, and removed.
//!
//! Nothing is flushed to the disk: after a power failure an entry is there or it is a miss.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use bytes::Bytes;

use crate::clock::{Time, Version};
use crate::driver::{Claim, Driver, Entry, Ready, Record, Removal, Token, Usage, When};
use crate::error::{Error, Result};
use crate::slot::{Act, Change, Outcome, show};

mod folder;
mod format;

use folder::{Budget, Folder};
use format::Name;

/// Folders, by the first digit of a file's name. More would make the share of each, and so the largest value, smaller.
const FOLDERS: usize = 16;

/// One file for each entry.
///
/// Works without a runtime: each call waits in place for the file system, some 10 µs where the system has the file in
/// memory, and longer for large values and slow disks. Where that must not delay others, put it `OnPool`.
/// The folder may be shared by many processes of one machine, not by machines (over NFS).
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
    value_limit: u64,
}

/// What can be said about a [`File`] before it is opened.
#[derive(Clone, Debug)]
#[must_use]
pub struct FileBuilder {
    root: PathBuf,
    max_bytes: u64,
    max_entries: u64,
}

impl File {
    /// Entries in this folder, which is made if it is not there.
    pub fn builder(root: impl Into<PathBuf>) -> FileBuilder {
        FileBuilder { root: root.into(), max_bytes: 1 << 30, max_entries: 100_000 }
    }

    fn folder(&self, name: &Name) -> &Folder {
        &self.folders[name.folder()]
    }

    fn act(&self, key: &[u8], act: &Act, now: Time) -> Result<Outcome> {
        let name = Name::new(key);
        let folder = self.folder(&name);
        let mut turn = folder.lock()?;
        let old = folder.read(&name, key).map_err(failed("reading a file"))?;
        let bytes = old.as_ref().and_then(|found| found.as_ref().ok()).map_or(&[][..], |bytes| bytes);
        let (change, outcome) = act.apply(bytes, now)?;
        match change {
            Change::Keep => {}
            Change::Drop => turn.remove(&name).map_err(failed("removing a file"))?,
            Change::Put(stored) => {
                let size = format::size(key, &stored);
                if size > self.value_limit {
                    if matches!(act, Act::Set(_, When::Always)) {
                        // What it should have replaced is old now.
                        turn.remove(&name).map_err(failed("removing a file"))?;
                    }
                    let number = |size| usize::try_from(size).unwrap_or(usize::MAX);
                    return Err(Error::too_large(number(size), number(self.value_limit)));
                }
                let written = turn.write(&name, key, &stored, now);
                if written.is_err() && matches!(act, Act::Set(..) | Act::Remove(_)) {
                    // The disk is full, perhaps. Better nothing than what this should have replaced.
                    turn.remove(&name).map_err(failed("removing a file"))?;
                }
                written.map_err(failed("writing a file"))?;
            }
        }
        Ok(outcome)
    }

    /// Removes a file that is damaged, unless somebody has replaced it meanwhile.
    fn remove_damaged(&self, name: &Name, key: &[u8], now: Time) -> Result<()> {
        let folder = self.folder(name);
        let mut turn = folder.lock()?;
        let found = folder.read(name, key).map_err(failed("reading a file"))?;
        let is_damaged = match found {
            Some(Ok(bytes)) => show(&bytes, now, |_| ()).is_err(),
            Some(Err(_)) => true,
            None => false,
        };
        if is_damaged {
            tracing::warn!(target: "skep_cache", file = %folder.path(name).display(), "removed a damaged file");
            turn.remove(name).map_err(failed("removing a file"))?;
        }
        Ok(())
    }
}

impl FileBuilder {
    /// How much room the files may take in all, in bytes (1 GiB, if nobody says otherwise; at least 1 MiB). One entry may
    /// take a sixteenth of it. When a folder is full, what is dead goes first, then what was not read for longest.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How many entries there may be (100 000; at least 16). It bounds how long making room takes: a folder is read
    /// through for it, a sixteenth of all.
    pub fn max_entries(mut self, entries: u64) -> Self {
        self.max_entries = entries;
        self
    }

    /// The driver.
    ///
    /// # Errors
    ///
    /// If a number is too small, or the folder cannot be made.
    pub fn open(self) -> Result<File> {
        let wrong = |text: String| Error::misused("the options of the file driver are wrong").because(text);
        if self.max_bytes < 1 << 20 {
            return Err(wrong(format!("max_bytes is {}, and at least {} is possible", self.max_bytes, 1 << 20)));
        }
        if self.max_entries < FOLDERS as u64 {
            return Err(wrong(format!("max_entries is {}, and at least {FOLDERS} is possible", self.max_entries)));
        }
        let share = Budget { bytes: self.max_bytes / FOLDERS as u64, entries: self.max_entries / FOLDERS as u64 };
        let mut folders = Vec::with_capacity(FOLDERS);
        for number in 0..FOLDERS {
            let path = self.root.join(format!("{number:x}"));
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
            made.map_err(|error| {
                Error::unreachable("making the folder of the cache").because(format!("{}: {error}", path.display()))
            })?;
            folders.push(Folder::new(path, share));
        }
        Ok(File { folders, value_limit: share.bytes })
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
        let name = Name::new(key);
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
        Ok(self.act(key, &Act::Set(record.clone(), when), now)?.done())
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        Ok(self.act(key, &Act::Remove(removal), now)?.done())
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        Ok(self.act(key, &Act::Lease(claim), now)?.lease())
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.act(key, &Act::Release(token), now).map(drop)
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        Ok(self.act(key, &Act::Increment(by, fresh.clone()), now)?.sum())
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        Ok(self.act(key, &Act::Touch { fresh_until, dead_at }, now)?.done())
    }

    /// Opens every file: for a person who asks, not for each request.
    async fn keys<F>(&self, prefix: &[u8], now: Time, mut each: F) -> Result<()>
    where
        F: FnMut(&[u8]) + Send,
    {
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

    /// Opens every file, as [`keys`](Driver::keys) does.
    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let mut keys = Vec::new();
        self.keys(prefix, now, |key| keys.push(key.to_vec())).await?;
        let gone = Act::Remove(Removal { version: Version::ZERO, until: now });
        keys.iter().try_for_each(|key| self.act(key, &gone, now).map(drop))
    }

    /// What this process last saw of each folder.
    fn usage(&self) -> Usage {
        let sum = |of: fn(&Folder) -> u64| Some(self.folders.iter().map(of).sum());
        Usage { entries: sum(Folder::entries), bytes: sum(Folder::bytes), evicted: sum(Folder::evicted) }
    }
}

impl Ready for File {}

#[cfg(test)]
mod tests;

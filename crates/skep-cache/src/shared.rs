//! One file that many processes map: what one stores, all have, and it outlives them.
//!
//! A read takes no lock, makes no system call and allocates nothing. A write takes the lock of one shard for about a microsecond. No
//! process can harm the others by dying: not at any instruction. docs/cache-shared.md has the layout, the reasons and the measurements.
//!
//! The words of the file are atomics, so that all code but `sys` is safe Rust, and no number that was read from them is
//! trusted. The map itself (`map`) knows neither files nor systems, so that miri can run it.
//!
//! Start reading at `Map::get` and, for writes, at `writer`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "words are cut into their parts, and no number of a file is larger than its mapping"
)]

mod file;
mod ground;
mod hash;
mod hints;
mod layout;
mod lease;
mod lock;
mod map;
mod record;
mod ring;
mod shard;
mod slot;
mod sys;
mod words;
mod writer;

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

use self::file::Ours;
use self::layout::Geometry;
use self::map::Map;
use self::shard::Count;
use crate::clock::Time;
use crate::driver::{self, Claim, Driver, Entry, Header, Ready, Record, Removal, Token, Usage, When};
use crate::error::Result;

/// A cache in a file that many processes map; what it keeps outlives them, but not the run of the machine.
///
/// All who open a file must name the same size and largest value: who names others replaces the file by an empty one, and the
/// rest keep the old one among themselves. The best place is a `tmpfs` such as /dev/shm. All room is taken when the file is
/// made, so a disk that fills up later does no harm. The file belongs to its user alone (mode 0600); no other program may cut
/// it short while it is mapped (the system would end the processes that have it). Open one after a fork or before, as you like.
///
/// ```
/// use skep_cache::driver::{Header, Record, When, ready};
/// use skep_cache::{Clock, Driver, Shared};
///
/// let folder = tempfile::tempdir()?;
/// let (here, now) = (Shared::at(folder.path().join("pages"), 4 << 20).open()?, Clock::system().now());
/// ready(here.set(b"page:1", &Record::new(&Header::default(), &[], b"hello"), When::Always, now))?;
///
/// // In another process:
/// let there = Shared::at(folder.path().join("pages"), 4 << 20).open()?;
/// assert_eq!(ready(there.get(b"page:1", now, |entry| entry.value().len()))?, Some(5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Shared {
    map: Map<Ours>,
}

/// How a shared map is opened. See [`Shared::at`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct Options {
    /// None is a file without a name.
    path: Option<PathBuf>,
    bytes: usize,
    largest: Option<usize>,
}

/// What went wrong; each time, the log said so too (target `skep_cache`).
///
/// See [`Shared::health`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Locks of processes that died or stood still while they wrote. That write is lost, and nothing else.
    pub inherited: u64,
    /// Entries that were not what had been written. All entries became void each time.
    pub damaged: u64,
    /// Shards that made no sense and were emptied. All entries became void each time.
    pub reset: u64,
}

thread_local! {
    /// Where entries are copied to while they are read.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer larger than this is given back after its read.
const KEPT: usize = 64 << 10;

impl Options {
    /// The largest value, in bytes, with its header and tags; what is larger is refused. If nobody says otherwise, a 256th of the file,
    /// but at least 4 KiB and at most 1 MiB. The file is divided into shards that hold at least four of them, so a smaller
    /// number gives more shards (at most 256), in which more processes write at the same time.
    ///
    /// See [`Shared::at`] for an example.
    pub fn largest(mut self, bytes: usize) -> Self {
        self.largest = Some(bytes);
        self
    }

    /// Opens the file, or makes it. One of another version, size or largest value is replaced, and so is a damaged one; the log
    /// says so (target `skep_cache`).
    ///
    /// # Errors
    ///
    /// If the file is a symbolic link, belongs to somebody else, may be used by others, or is not a cache and would be lost; if
    /// there is no room for it; if the size is too small for the largest value. The text says what would be right.
    pub fn open(self) -> io::Result<Shared> {
        let largest = self.largest.unwrap_or((self.bytes / 256).clamp(4 << 10, 1 << 20));
        let name = || self.path.as_ref().map_or("a shared map".into(), |path| path.display().to_string());
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", name()));
        let geometry = Geometry::new(self.bytes, largest).map_err(invalid)?;
        let (ours, seeds) = match &self.path {
            Some(path) => file::open(path, &geometry)?,
            None => file::nameless(&geometry)?,
        };
        let is_old = ours.is_from_another_run();
        let map = Map::new(ours, geometry, seeds);
        if is_old {
            map.void();
        }
        Ok(Shared { map })
    }
}

impl Shared {
    /// A file of this name, which takes so many bytes (or a little less, as shards are alike): at least 260 KiB.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let cache = skep_cache::Shared::at(folder.path().join("pages"), 8 << 20).largest(64 << 10).open()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn at(path: impl AsRef<Path>, bytes: usize) -> Options {
        Options { path: Some(path.as_ref().to_owned()), bytes, largest: None }
    }

    /// A map for this process and those that are forked from it later. It has no name in any folder, takes memory only as it fills, and
    /// is gone with the last of them, whatever they end of: nobody has to remove it.
    ///
    /// ```
    /// # use skep_cache::driver::{Header, Record, When, ready};
    /// let (cache, now) = (skep_cache::Shared::nameless(8 << 20).open()?, skep_cache::Clock::system().now());
    /// # use skep_cache::Driver;
    /// ready(cache.set(b"page:1", &Record::new(&Header::default(), &[], b"hello"), When::Always, now))?;
    /// // A child that is forked from here on finds it.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nameless(bytes: usize) -> Options {
        Options { path: None, bytes, largest: None }
    }

    /// What went wrong, in all processes, since the file was made.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let cache = skep_cache::Shared::at(folder.path().join("pages"), 1 << 20).open()?;
    /// assert_eq!(cache.health().damaged, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn health(&self) -> Health {
        Health {
            inherited: self.map.counted(Count::Inherited),
            damaged: self.map.counted(Count::Damaged),
            reset: self.map.counted(Count::Reset),
        }
    }

    /// Copies the live entry of a key, with its header, into a buffer of the caller's, which gets its length; whether there was
    /// one. Without one, the buffer holds anything. It allocates only if the buffer is too small.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let cache = skep_cache::Shared::at(folder.path().join("pages"), 1 << 20).open()?;
    /// let mut buffer = Vec::with_capacity(1024);
    /// assert!(!cache.copy(b"page:1", skep_cache::Clock::system().now(), &mut buffer));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    pub fn copy(&self, key: &[u8], now: Time, buffer: &mut Vec<u8>) -> bool {
        self.map.get(key, now, buffer)
    }
}

impl Driver for Shared {
    fn name(&self) -> &'static str {
        "shared"
    }

    #[inline]
    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        // While the entry is read the buffer is the reader's, who may ask for another entry meanwhile.
        let mut buffer = BUFFER.take();
        let found = self.map.get(key, now, &mut buffer);
        let result = if found { Entry::parse(&buffer).map(|entry| Some(read(entry))) } else { Ok(None) };
        if buffer.capacity() <= KEPT {
            BUFFER.set(buffer);
        }
        result
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        self.map.set(key, record, when, now)
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        self.map.remove(key, removal, now)
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        self.map.lease(key, claim, now)
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.map.release(key, token, now)
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        self.map.update(key, now, |old| driver::count(old, by, fresh).map(|(next, sum, _)| (Some(next), sum)))
    }

    async fn touch(&self, key: &[u8], fresh: Time, dead: Time, now: Time) -> Result<bool> {
        let later =
            move |old: &Record| old.with_header(&Header { fresh_until: fresh, dead_at: dead, ..old.entry().header() });
        self.map.update(key, now, |old| Ok((old.map(later), old.is_some())))
    }

    async fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> Result<()>
    where
        F: FnMut(&[u8]) + Send,
    {
        self.map.keys(prefix, now, each);
        Ok(())
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        if prefix.is_empty() {
            self.map.void();
            return Ok(());
        }
        self.map.clear(prefix, now)
    }

    #[inline]
    fn generation(&self) -> Option<u64> {
        Some(self.map.epochs())
    }

    #[inline]
    fn stamp(&self, key: &[u8]) -> Option<u64> {
        Some(self.map.stamp(key))
    }

    fn usage(&self) -> Usage {
        self.map.usage()
    }
}

impl Ready for Shared {}

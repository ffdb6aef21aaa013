//! A cache in a file that many processes map. It outlives the processes.
//!
//! A read takes no lock, makes no system call and allocates nothing. A write takes the lock of one shard for about a
//! microsecond. No process can harm the others by dying: not at any instruction. shared/README.md has the layout and
//! the reasons.
//!
//! The words of the file are atomics, so all code except `sys` is safe Rust, and no number read from them is trusted.
//! The map itself (`map`) knows neither files nor systems, so that miri can run it.
//!
//! Start reading at `Map::get` and, for writes, at `writer`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "words are cut into their parts, and no number of a file is larger than its mapping"
)]

mod file;
mod hash;
mod hints;
mod layout;
mod lease;
mod lock;
mod map;
mod record;
mod ring;
mod shard;
mod sketch;
mod slot;
mod sys;
mod words;
mod writer;

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

use self::file::MappedFile;
use self::layout::Geometry;
use self::map::Map;
use self::shard::Count;
pub(crate) use self::sys::Mapping;
use crate::clock::Time;
use crate::driver::{self, Driver, Entry, Header, Ready, Record, Stamp, forward};
use crate::error::Result;

/// A cache in a file that many processes map. It outlives the processes, but not a reboot.
///
/// All processes must open a file with the same size and `max_value`; otherwise it is replaced by an empty file, and
/// processes that have the old one keep using that. Put it on a `tmpfs` such as /dev/shm. All space is allocated when
/// the file is created, so a disk that fills up later does no harm. Only its user may access the file (mode 0600); no
/// program may truncate it while it is mapped (the system would kill the processes that use it). It may be opened
/// before or after a fork.
///
/// ```
/// use skep_cache::driver::{Header, Record, When, ready};
/// use skep_cache::{Clock, Driver, Shared};
///
/// let folder = tempfile::tempdir()?;
/// let open = || Shared::at(folder.path().join("pages"), 8 << 20).max_value(64 << 10).open();
/// let (here, now) = (open()?, Clock::system().now());
/// ready(here.set(b"page:1", &Record::new(&Header::default(), &[], b"hello"), When::Always, now))?;
///
/// // In another process:
/// let (there, mut buffer) = (open()?, Vec::with_capacity(1024));
/// assert_eq!(ready(there.get(b"page:1", now, |entry| entry.value().len()))?, Some(5));
/// assert!(there.copy(b"page:1", now, &mut buffer) && there.health().damaged == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Shared {
    map: Map<MappedFile>,
}

/// How a shared map is opened. See [`Shared::at`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct Options {
    /// `None` is an anonymous file.
    path: Option<PathBuf>,
    bytes: usize,
    max_value: Option<usize>,
}

/// Counters of faults, which are also logged (target `skep_cache`).
///
/// See [`Shared::health`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Locks taken over from processes that died or hung while writing. Only that write is lost.
    pub inherited: u64,
    /// Damaged entries. Each invalidated all entries.
    pub damaged: u64,
    /// Damaged shards, which were emptied. Each invalidated all entries.
    pub reset: u64,
}

thread_local! {
    /// The buffer that entries are copied to while they are read.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A larger buffer is freed after its read.
const MAX_BUFFER: usize = 64 << 10;

impl Options {
    /// The largest value in bytes, with its header and tags. Default: a 256th of the file, between 4 KiB and 1 MiB. A
    /// shard holds at least four such values, so a smaller limit gives more shards (at most 256), which more processes
    /// can write at the same time.
    ///
    /// See [`Shared`] for an example.
    pub fn max_value(mut self, bytes: usize) -> Self {
        self.max_value = Some(bytes);
        self
    }

    /// Opens the file, or makes it. One of another version, size or maximum value size is replaced, and so is a damaged
    /// one; the log says so (target `skep_cache`).
    ///
    /// # Errors
    ///
    /// If the file is a symbolic link, belongs to another user, is accessible to others, or is not a cache; if there is
    /// no space for it; if the size is too small for `max_value`. The text says what is expected.
    pub fn open(self) -> io::Result<Shared> {
        let max_value = self.max_value.unwrap_or((self.bytes / 256).clamp(4 << 10, 1 << 20));
        let name = || self.path.as_ref().map_or("a shared map".into(), |path| path.display().to_string());
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", name()));
        let geometry = Geometry::new(self.bytes, max_value).map_err(invalid)?;
        let (ours, seeds) = match &self.path {
            Some(path) => file::open(path, &geometry)?,
            None => file::anonymous(&geometry)?,
        };
        let is_old = ours.is_from_before_reboot();
        let map = Map::new(ours, geometry, seeds);
        if is_old {
            map.invalidate_all();
        }
        Ok(Shared { map })
    }
}

impl Shared {
    /// A file with this path and size, at least 260 KiB. It may be a little smaller, since shards are equal. See
    /// [`Shared`] for an example.
    pub fn at(path: impl AsRef<Path>, bytes: usize) -> Options {
        Options { path: Some(path.as_ref().to_owned()), bytes, max_value: None }
    }

    /// A map without a file, for this process and its later forks. It takes memory as it fills, and is gone with the
    /// last process.
    ///
    /// ```
    /// # use skep_cache::driver::{Header, Record, When, ready};
    /// let (cache, now) = (skep_cache::Shared::anonymous(8 << 20).open()?, skep_cache::Clock::system().now());
    /// # use skep_cache::Driver;
    /// ready(cache.set(b"page:1", &Record::new(&Header::default(), &[], b"hello"), When::Always, now))?;
    /// // A child that is forked from here on finds it.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn anonymous(bytes: usize) -> Options {
        Options { path: None, bytes, max_value: None }
    }

    /// The counters of faults, of all processes, since the file was created. See [`Shared`] for an example.
    pub fn health(&self) -> Health {
        Health {
            inherited: self.map.counted(Count::Inherited),
            damaged: self.map.counted(Count::Damaged),
            reset: self.map.counted(Count::Reset),
        }
    }

    /// Copies the live entry of a key, with its header, into a buffer, and returns whether there was one. Without one,
    /// the contents of the buffer are unspecified. Allocates only if the buffer is too small. See [`Shared`] for an
    /// example.
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
        // Taken while in use: `read` may read another entry.
        let mut buffer = BUFFER.take();
        let found = self.map.get(key, now, &mut buffer);
        let result = if found { Entry::parse(&buffer).map(|entry| Some(read(entry))) } else { Ok(None) };
        if buffer.capacity() <= MAX_BUFFER {
            BUFFER.set(buffer);
        }
        result
    }

    forward! { { shared => shared.map, at_once } set remove lease release usage }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        self.map.update(key, now, |old| driver::count(old, by, fresh).map(|(next, sum, _)| (Some(next), sum)))
    }

    async fn touch(&self, key: &[u8], fresh: Time, dead: Time, now: Time) -> Result<bool> {
        let later =
            move |old: &Record| old.with_header(&Header { fresh_until: fresh, dead_at: dead, ..old.entry().header() });
        self.map.update(key, now, |old| Ok((old.map(later), old.is_some())))
    }

    async fn keys<F: FnMut(&[u8]) + Send>(&self, prefix: &[u8], now: Time, each: F) -> Result<()> {
        self.map.keys(prefix, now, each);
        Ok(())
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        if prefix.is_empty() {
            self.map.invalidate_all();
            return Ok(());
        }
        self.map.clear(prefix, now)
    }

    #[inline]
    fn generation(&self) -> Stamp {
        Stamp::Complete(self.map.epochs())
    }

    #[inline]
    fn stamp(&self, key: &[u8]) -> Stamp {
        Stamp::Complete(self.map.stamp(key))
    }
}

impl Ready for Shared {}

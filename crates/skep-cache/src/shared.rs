//! One file mapping that many processes and restarts share.
//!
//! ...
mod file;
mod ground;
mod hash;
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

use self::file::Ours;
use self::layout::Geometry;
use self::map::Map;
use self::shard::Count;
use crate::clock::Time;
use crate::driver::{self, Claim, Driver, Entry, Header, Ready, Record, Removal, Token, Usage, When};
use crate::error::Result;

/// A cache in a file that many processes map; what it keeps outlives them.
#[derive(Debug)]
pub struct Shared {
    map: Map<Ours>,
}

/// How a shared map is opened.
#[derive(Clone, Debug)]
pub struct Options {
    path: PathBuf,
    bytes: usize,
    largest: Option<usize>,
}

/// What went wrong; each time, the log said so too (target `skep_cache`).
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
    /// A value may be that large, with its header, in bytes.
    #[must_use]
    pub fn largest(mut self, bytes: usize) -> Self {
        self.largest = Some(bytes);
        self
    }

    /// Opens the file, or makes it.
    pub fn open(self) -> io::Result<Shared> {
        let largest = self.largest.unwrap_or((self.bytes / 256).clamp(4 << 10, 1 << 20));
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", self.path.display()));
        let geometry = Geometry::new(self.bytes, largest).map_err(invalid)?;
        let (ours, seeds) = file::open(&self.path, &geometry)?;
        let is_old = ours.is_from_another_run();
        let map = Map::new(ours, geometry, seeds);
        if is_old {
            map.void();
        }
        Ok(Shared { map })
    }
}

impl Shared {
    /// A file of this path and size.
    pub fn at(path: impl AsRef<Path>, bytes: usize) -> Options {
        Options { path: path.as_ref().to_owned(), bytes, largest: None }
    }

    /// What went wrong, in all processes, since the file was made.
    pub fn health(&self) -> Health {
        Health {
            inherited: self.map.counted(Count::Inherited),
            damaged: self.map.counted(Count::Damaged),
            reset: self.map.counted(Count::Reset),
        }
    }

    /// Copies the entry of a key into a buffer of the caller's; whether there was one.
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
    fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> impl Future<Output = Result<Option<R>>> + Send
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        async move {
            // While the entry is read the buffer is the reader's, who may ask for another entry meanwhile.
            let mut buffer = BUFFER.take();
            let found = self.map.get(key, now, &mut buffer);
            let result = if found { Entry::parse(&buffer).map(|entry| Some(read(entry))) } else { Ok(None) };
            if buffer.capacity() <= KEPT {
                BUFFER.set(buffer);
            }
            result
        }
    }

    fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> impl Future<Output = Result<bool>> + Send {
        async move { self.map.set(key, record, when, now) }
    }

    fn remove(&self, key: &[u8], removal: Removal, now: Time) -> impl Future<Output = Result<bool>> + Send {
        async move { self.map.remove(key, removal, now) }
    }

    fn lease(&self, key: &[u8], claim: Claim, now: Time) -> impl Future<Output = Result<Option<Token>>> + Send {
        async move { self.map.lease(key, claim, now) }
    }

    fn release(&self, key: &[u8], token: Token, now: Time) -> impl Future<Output = Result<()>> + Send {
        async move { self.map.release(key, token, now) }
    }

    fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> impl Future<Output = Result<i64>> + Send {
        async move { self.map.update(key, now, |old| driver::count(old, by, fresh).map(|(next, sum, _)| (Some(next), sum))) }
    }

    fn touch(&self, key: &[u8], fresh: Time, dead: Time, now: Time) -> impl Future<Output = Result<bool>> + Send {
        let later =
            move |old: &Record| old.with_header(&Header { fresh_until: fresh, dead_at: dead, ..old.entry().header() });
        async move { self.map.update(key, now, |old| Ok((old.map(later), old.is_some()))) }
    }

    fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> impl Future<Output = Result<()>> + Send
    where
        F: FnMut(&[u8]) + Send,
    {
        async move {
            self.map.keys(prefix, now, each);
            Ok(())
        }
    }

    fn clear(&self, prefix: &[u8], now: Time) -> impl Future<Output = Result<()>> + Send {
        async move {
            if prefix.is_empty() {
                self.map.void();
                return Ok(());
            }
            self.map.clear(prefix, now)
        }
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

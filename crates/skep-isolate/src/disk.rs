//! The compile cache on disk: a second start compiles nothing.
//!
//! The name of a file is the hash of the component and of everything that affects its code (version and settings of the
//! engine, processor). It is machine code that this process will run, so it is used only if nobody else could have
//! written it. wasmtime has a cache, too; it does not check that, and its code is not mapped: memory of a component
//! that nobody uses would stay in use.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use wasmtime::Engine;

use crate::error::Error;
use crate::hash::{Hash, SUM};
use crate::random::seed;

/// A folder of compiled code.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
}

/// An open file that nobody but this user or root could have written.
#[derive(Debug)]
pub(crate) struct Trusted(File);

const OTHERS_WRITE: u32 = 0o022;

/// Bytes of the secret that seeds are derived from.
const SECRET: usize = 32;

/// The prefix of files that are being written.
const PART: &str = ".part-";

/// Code that was not used for this long is removed.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// The most bytes of all code, without the file that was written last.
const KEPT: u64 = 1 << 30;

impl Disk {
    /// Opens a folder, and makes it if it does not exist.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let wrong = |text: String| Error::Invalid(format!("the cache of compiled code {} {text}", folder.display()));
        if !folder.exists() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| wrong(format!("cannot be made: {error}")))?;
        }
        let about = fs::metadata(folder).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if !about.is_dir() {
            return Err(wrong("is not a directory".into()));
        }
        belongs_to_us(&about).map_err(|why| wrong(format!("is not used: {why}")))?;
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)
            .map_err(|error| wrong(format!("cannot be written: {error}")))?;
        let disk = Self { folder: folder.to_owned() };
        disk.tidy(SystemTime::now(), KEPT);
        Ok(disk)
    }

    /// Removes code that was not used for long, unfinished files, and, beyond `most` bytes, what was used longest ago.
    /// Processes that run it have it mapped.
    fn tidy(&self, now: SystemTime, most: u64) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        let is_ours = |name: &[u8]| name.ends_with(b".cwasm") || name.starts_with(PART.as_bytes());
        let ours = files.filter_map(Result::ok).filter(|file| is_ours(file.file_name().as_encoded_bytes()));
        let mut all: Vec<(SystemTime, u64, PathBuf)> = ours
            .filter_map(|file| {
                let about = file.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), file.path()))
            })
            .collect();
        all.sort_unstable_by_key(|(used, ..)| Reverse(*used));
        let mut together = 0_u64;
        for (used, length, path) in all {
            if together >= most || now.duration_since(used).is_ok_and(|since| since > KEPT_FOR) {
                let _ = fs::remove_file(path);
            }
            together = together.saturating_add(length);
        }
    }

    /// The default: the user's folder for caches.
    pub(crate) fn usual() -> Option<PathBuf> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        Some(cache.or_else(|| Some(home()?.join(".cache")))?.join("skep"))
    }

    /// The code of this component for this engine.
    pub(crate) fn find(&self, engine: &Engine, content: &Hash) -> Option<Trusted> {
        let path = self.path(engine, content);
        match Trusted::open(&path).and_then(|file| is_whole(file.file()).map(|()| file)) {
            Ok(file) => {
                // The time of its last use.
                let _ = file.file().set_modified(SystemTime::now());
                Some(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(target: "skep::isolate", file = %path.display(), "compiled code is not used: {error}");
                None
            }
        }
    }

    /// True if there is a file for this component and this engine. It may be damaged.
    pub(crate) fn has(&self, engine: &Engine, content: &Hash) -> bool {
        self.path(engine, content).exists()
    }

    /// Stores code, replacing an older file in one step. It is not synced, which would take as long as the rest of a
    /// small swap: its checksum shows whether it is whole.
    pub(crate) fn store(&self, engine: &Engine, content: &Hash, code: &[u8]) -> io::Result<Trusted> {
        let (sum, path) = (Sha256::digest(code), self.path(engine, content));
        let written = write_beside(&path, &[code, &sum])?;
        self.tidy(SystemTime::now(), KEPT);
        written.persist(&path)?;
        Trusted::open(&path)
    }

    /// A secret number for what start-up code seeds. It is the same at each start, or each start would make another
    /// image and compile it.
    pub(crate) fn seed(&self, content: &Hash) -> Option<u128> {
        let path = self.folder.join("seed");
        let read = || {
            let mut secret = [0; SECRET];
            Trusted::open(&path).and_then(|file| file.file().read_exact(&mut secret)).map(|()| secret)
        };
        let secret = read().or_else(|_| {
            let words = [seed(), seed()];
            let bytes: Vec<u8> = words.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()).collect();
            write_whole(&path, &[&bytes]).and_then(|()| read())
        });
        let sum = Sha256::new().chain_update(secret.ok()?).chain_update(content.long()).finalize();
        Some(u128::from_le_bytes(std::array::from_fn(|nth| sum[nth])))
    }

    /// Removes code that cannot be used.
    pub(crate) fn remove(&self, engine: &Engine, content: &Hash) {
        let _ = fs::remove_file(self.path(engine, content));
    }

    fn path(&self, engine: &Engine, content: &Hash) -> PathBuf {
        let mut settings = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut settings);
        self.folder.join(format!("{}-{:016x}.cwasm", content.long(), settings.finish()))
    }
}

/// Writes a temporary file and renames it: the file is there whole or not at all. Only its user may read it.
pub(crate) fn write_whole(path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
    let file = write_beside(path, pieces)?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

fn write_beside(path: &Path, pieces: &[&[u8]]) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(PART).tempfile_in(folder)?;
    pieces.iter().try_for_each(|piece| file.write_all(piece))?;
    Ok(file)
}

/// Checks the SHA-256 at the end of a file: a disk that was full or lost power may have damaged it.
fn is_whole(mut file: &File) -> io::Result<()> {
    let code = file.metadata()?.len().checked_sub(SUM as u64).ok_or_else(|| io::Error::other("it is not complete"))?;
    let mut sum = Sha256::new();
    let mut left = code;
    let mut piece = vec![0; 64 << 10];
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        let read = file.read(&mut piece[..most])?;
        if read == 0 {
            return Err(io::Error::other("it is not complete"));
        }
        sum.update(&piece[..read]);
        left -= read as u64;
    }
    let mut expected = [0; SUM];
    file.read_exact(&mut expected)?;
    if sum.finalize()[..] == expected { Ok(()) } else { Err(io::Error::other("its checksum is wrong")) }
}

impl Trusted {
    /// Opens a file. Fails if it is writable by other users.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::of(File::open(path)?)
    }

    /// The same for a file that is open already.
    pub(crate) fn of(file: File) -> io::Result<Self> {
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        belongs_to_us(&about).map_err(io::Error::other)?;
        Ok(Self(file))
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

fn belongs_to_us(about: &fs::Metadata) -> Result<(), String> {
    let us = rustix::process::geteuid().as_raw();
    if about.uid() != us && about.uid() != 0 {
        return Err(format!("it belongs to user {}, and this server is user {us}", about.uid()));
    }
    if about.mode() & OTHERS_WRITE != 0 {
        return Err(format!("others may write it (mode {:o}); chmod go-w", about.mode() & 0o7777));
    }
    Ok(())
}

#[cfg(test)]
#[path = "../tests/unit/disk.rs"]
mod tests;

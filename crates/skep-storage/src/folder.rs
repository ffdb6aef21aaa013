//! Files in a folder of this machine.
//!
//! A file is written beside its place, made durable, and renamed: it is there whole, or not at all. Symbolic links are
//! not followed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use skep::Body;
use skep::body::FileSlice;
use skep::offload::{Offload, offload};

use crate::bytes::{Written, next};
use crate::error::{Outcome, Problem, lost};
use crate::key::{Key, hex};

#[derive(Clone, Debug)]
pub(crate) struct Folder(Arc<Path>);

impl Folder {
    /// Makes the folder, if it is not there, for nobody else of this machine.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path.join(Key::NOTES))?;
        sync(&path)?;
        Ok(Self(path.into()))
    }

    /// Writes a file piece by piece, of which one is in memory.
    pub(crate) async fn write(&self, key: &Key, mut body: Body, pool: &dyn Offload) -> Outcome<Written> {
        let (folder, key) = (self.clone(), key.clone());
        let mut incoming = offload(pool, move || folder.begin(&key)).await.map_err(lost)??;
        while let Some(bytes) = next(&mut body, pool).await? {
            let step = offload(pool, move || incoming.push(&bytes).map(|()| incoming));
            incoming = step.await.map_err(lost)??;
        }
        Ok(offload(pool, move || incoming.finish()).await.map_err(lost)??)
    }

    fn begin(&self, key: &Key) -> io::Result<Incoming> {
        // A note that a power failure takes would leave a file that no sweep finds.
        File::create(self.0.join(key.note()))?.sync_all()?;
        sync(&self.0.join(Key::NOTES))?;
        let target = self.0.join(key.path());
        self.make_shard(target.parent().unwrap_or(&self.0))?;
        let temporary = Temporary(part(&target));
        let file = File::options().write(true).create_new(true).open(&temporary.0)?;
        Ok(Incoming { file, temporary, target, hash: Sha256::new(), size: 0 })
    }

    fn make_shard(&self, shard: &Path) -> io::Result<()> {
        match fs::create_dir(shard) {
            Ok(()) => sync(&self.0),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A part of a file that has this size.
    pub(crate) async fn read(&self, key: &Key, size: u64, part: Range<u64>, pool: &dyn Offload) -> Outcome<Body> {
        let path = self.0.join(key.path());
        let file = offload(pool, move || open(&path, size)).await.map_err(lost)??;
        Ok(Body::file(FileSlice { file: Arc::new(file), start: part.start, len: part.end - part.start }))
    }

    pub(crate) async fn has(&self, key: &Key, pool: &dyn Offload) -> Outcome<bool> {
        let path = self.0.join(key.path());
        offload(pool, move || fs::symlink_metadata(path).is_ok_and(|found| found.is_file())).await.map_err(lost)
    }

    /// Removes a file, what is left of an attempt at it, and its note.
    pub(crate) fn remove(&self, key: &Key) -> io::Result<()> {
        let target = self.0.join(key.path());
        for path in [part(&target), target] {
            remove(&path)?;
        }
        self.remove_note(key)
    }

    pub(crate) fn remove_note(&self, key: &Key) -> io::Result<()> {
        remove(&self.0.join(key.note()))
    }

    pub(crate) fn is_noted(&self, key: &Key) -> io::Result<bool> {
        fs::exists(self.0.join(key.note()))
    }

    /// The keys of notes, and since when they are there.
    pub(crate) fn notes(&self) -> io::Result<Vec<(Key, SystemTime)>> {
        let mut notes = Vec::new();
        for entry in fs::read_dir(self.0.join(Key::NOTES))? {
            let entry = entry?;
            let key = entry.file_name().to_str().and_then(Key::parse);
            notes.extend(key.zip(entry.metadata().and_then(|note| note.modified()).ok()));
        }
        Ok(notes)
    }
}

/// Opens a file of this size.
fn open(path: &Path, size: u64) -> Outcome<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(Problem::Missing(format!("{} is no file", path.display()).into()));
    }
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    if found == size {
        Ok(file)
    } else {
        Err(Problem::Broken(format!("{} has {found} bytes instead of {size}", path.display()).into()))
    }
}

/// Makes the names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Where a file is while it is written.
fn part(target: &Path) -> PathBuf {
    target.with_extension("part")
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A file that is being written.
struct Incoming {
    file: File,
    temporary: Temporary,
    target: PathBuf,
    hash: Sha256,
    size: u64,
}

/// A file that goes away, unless it is renamed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Where it is renamed, it is not there; what cannot be removed, the sweep removes.
        let _ = fs::remove_file(&self.0);
    }
}

impl Incoming {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn finish(self) -> io::Result<Written> {
        self.file.sync_all()?;
        fs::rename(&self.temporary.0, &self.target)?;
        self.target.parent().map_or(Ok(()), sync)?;
        Ok(Written { size: self.size, sha256: hex(&self.hash.finalize()) })
    }
}

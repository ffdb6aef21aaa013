//! Compiled code, kept on disk: a second start compiles nothing.
//!
//! A file's name is the hash of the component's content and of all that decides about the code (version of the engine, its settings,
//! the processor). It is machine code that this process will run, so it counts only if nobody else could have written it.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use wasmtime::Engine;

use crate::error::Wrong;
use crate::source::Hash;

/// A folder of compiled code.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
}

/// An open file that nobody but this user, or root, could have written.
#[derive(Debug)]
pub(crate) struct Trusted(File);

const OTHERS_WRITE: u32 = 0o022;

impl Disk {
    /// Takes a folder, and makes it if it is not there.
    pub(crate) fn open(folder: &Path) -> Result<Self, Wrong> {
        let wrong = |text: String| Wrong(format!("the cache of compiled code {} {text}", folder.display()));
        if !folder.exists() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| wrong(format!("cannot be made: {error}")))?;
        }
        let about = fs::metadata(folder).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if !about.is_dir() {
            return Err(wrong("is no folder".into()));
        }
        belongs_to_us(&about).map_err(|why| wrong(format!("is not used: {why}")))?;
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)
            .map_err(|error| wrong(format!("cannot be written: {error}")))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where it is, if nobody says otherwise: the user's folder for caches.
    pub(crate) fn usual() -> Option<PathBuf> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        Some(cache.or_else(|| Some(home()?.join(".cache")))?.join("skep"))
    }

    /// The code of this content, for this engine.
    pub(crate) fn find(&self, engine: &Engine, content: &Hash) -> Option<Trusted> {
        let path = self.path(engine, content);
        match Trusted::open(&path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(target: "skep::isolate", file = %path.display(), "compiled code is not used: {error}");
                None
            }
        }
    }

    /// Keeps code. What is there under its name is replaced in one step.
    pub(crate) fn keep(&self, engine: &Engine, content: &Hash, code: &[u8]) -> io::Result<()> {
        write_whole(&self.path(engine, content), code)
    }

    /// Forgets code that turned out to be of no use.
    pub(crate) fn forget(&self, engine: &Engine, content: &Hash) {
        let _ = fs::remove_file(self.path(engine, content));
    }

    fn path(&self, engine: &Engine, content: &Hash) -> PathBuf {
        let mut settings = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut settings);
        self.folder.join(format!("{}-{:016x}.cwasm", content.long(), settings.finish()))
    }
}

/// Writes beside it and renames: a file is there whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&part, path)
    };
    // Left by one that was killed, of the same number.
    let _ = fs::remove_file(&part);
    write().inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}

impl Trusted {
    /// Opens a file. One that others may write is an error that says so.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no file"));
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
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn allow(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_may_write_is_not_trusted() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("code");
        write_whole(&file, b"code").unwrap();
        assert!(Trusted::open(&file).is_ok());
        for mode in [0o620, 0o602, 0o666] {
            allow(&file, mode);
            assert!(Trusted::open(&file).unwrap_err().to_string().contains("others may write it"));
        }
        assert!(Trusted::open(temp.path()).is_err());
    }

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("a/b");
        assert!(Disk::open(&folder).is_ok());
        allow(&folder, 0o777);
        assert!(Disk::open(&folder).unwrap_err().0.contains("is not used: others may write it (mode 777)"));
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Disk::open(&file).unwrap_err().0.ends_with("is no folder"));
        assert!(Disk::open(&file.join("below")).unwrap_err().0.contains("cannot be made"));
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("code");
        write_whole(&file, b"one").unwrap();
        write_whole(&file, b"two").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}

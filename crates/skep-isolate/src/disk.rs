//! Compiled code, kept on disk: a second start compiles nothing.
//!
//! A file's name is the hash of the component's content and of all that decides about the code (version of the engine, its settings,
//! the processor). It is machine code that this process will run, so it counts only if nobody else could have written it.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
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

/// Bytes of the number that seeds are made of.
const SECRET: usize = 32;

/// Bytes of SHA-256.
const SUM: usize = 32;

/// How the names of files begin that are being written.
const PART: &str = ".part-";

/// Code that no start has asked for so long is of a version that is gone.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// All code together takes no more than this, beside what was kept last: bytes.
const KEPT: u64 = 1 << 30;

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
        let disk = Self { folder: folder.to_owned() };
        disk.tidy(SystemTime::now(), KEPT);
        Ok(disk)
    }

    /// Removes code that was of no use for long, what was never finished, and, of what is more than `most` bytes together, what was of use
    /// longest ago. Who runs it has it still.
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

    /// Where it is, if nobody says otherwise: the user's folder for caches.
    pub(crate) fn usual() -> Option<PathBuf> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        Some(cache.or_else(|| Some(home()?.join(".cache")))?.join("skep"))
    }

    /// The code of this content, for this engine.
    pub(crate) fn find(&self, engine: &Engine, content: &Hash) -> Option<Trusted> {
        let path = self.path(engine, content);
        match Trusted::open(&path).and_then(|file| is_whole(file.file()).map(|()| file)) {
            Ok(file) => {
                // When it was last of use: what is of none goes in the end.
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

    /// True if there is code of this content, for this engine. That it is whole is not sure.
    pub(crate) fn has(&self, engine: &Engine, content: &Hash) -> bool {
        self.path(engine, content).exists()
    }

    /// Keeps code, and gives its file. What is there under its name is replaced in one step. Nobody waits for the disk, which takes as long as
    /// all else of a small swap: whether it is whole, its sum says.
    pub(crate) fn keep(&self, engine: &Engine, content: &Hash, code: &[u8]) -> io::Result<Trusted> {
        let (sum, path) = (Sha256::digest(code), self.path(engine, content));
        let written = write_beside(&path, &[code, &sum])?;
        self.tidy(SystemTime::now(), KEPT);
        written.persist(&path)?;
        Trusted::open(&path)
    }

    /// A number for what the start-up code of this content seeds, which nobody can foretell. It is the same at each start, or the image would be
    /// another one each time, and compiled anew.
    pub(crate) fn seed(&self, content: &Hash) -> Option<u128> {
        let path = self.folder.join("seed");
        let read = || {
            let mut secret = [0; SECRET];
            Trusted::open(&path).and_then(|file| file.file().read_exact(&mut secret)).map(|()| secret)
        };
        let secret = read().or_else(|_| {
            let words = [crate::services::seed(), crate::services::seed()];
            let bytes: Vec<u8> = words.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()).collect();
            write_whole(&path, &[&bytes]).and_then(|()| read())
        });
        let sum = Sha256::new().chain_update(secret.ok()?).chain_update(content.long()).finalize();
        Some(u128::from_le_bytes(std::array::from_fn(|nth| sum[nth])))
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

/// Writes beside it, under a name that nobody else has, and renames: a file is there whole or not at all. Only its user may read it.
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

/// Whether a file is as it was kept: behind the code is its SHA-256. A disk that was full, or lost its power, has other contents.
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
    let mut said = [0; SUM];
    file.read_exact(&mut said)?;
    if sum.finalize()[..] == said { Ok(()) } else { Err(io::Error::other("it is not what was written")) }
}

impl Trusted {
    /// Opens a file. One that others may write is an error that says so.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::of(File::open(path)?)
    }

    /// The same for a file that is open already.
    pub(crate) fn of(file: File) -> io::Result<Self> {
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

    /// The code in it, if [`Disk::find`] has given it.
    pub(crate) fn code(&self) -> io::Result<Vec<u8>> {
        let mut code = vec![0; usize::try_from(self.0.metadata()?.len()).unwrap_or(0).saturating_sub(SUM)];
        self.0.read_exact_at(&mut code, 0)?;
        Ok(code)
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
        write_whole(&file, &[b"code"]).unwrap();
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
    fn what_is_not_as_it_was_written_is_not_used() {
        let temp = tempfile::tempdir().unwrap();
        let disk = Disk::open(temp.path()).unwrap();
        let (engine, content) = (Engine::default(), Hash::of(b"a"));
        disk.keep(&engine, &content, b"machine code").unwrap();
        assert!(disk.find(&engine, &content).is_some());
        let path = disk.path(&engine, &content);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            fs::write(&path, &broken).unwrap();
            assert!(disk.find(&engine, &content).is_none(), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(disk.find(&engine, &content).is_none(), "{at} bytes");
        }
    }

    #[test]
    fn a_seed_is_the_same_at_each_start_and_nowhere_else() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let seed = |folder: &Path, content: &[u8]| Disk::open(folder).unwrap().seed(&Hash::of(content)).unwrap();
        assert_eq!(seed(one.path(), b"a"), seed(one.path(), b"a"));
        assert_ne!(seed(one.path(), b"a"), seed(one.path(), b"b"), "another version");
        assert_ne!(seed(one.path(), b"a"), seed(other.path(), b"a"), "another machine");
    }

    #[test]
    fn what_is_of_no_use_goes() {
        let temp = tempfile::tempdir().unwrap();
        let disk = Disk::open(temp.path()).unwrap();
        let names = ["a.cwasm", ".part-x", "notes.txt"];
        for name in names {
            fs::write(temp.path().join(name), "").unwrap();
        }
        let there = || names.map(|name| temp.path().join(name).exists());
        disk.tidy(SystemTime::now() + KEPT_FOR / 2, KEPT);
        assert_eq!(there(), [true, true, true]);
        disk.tidy(SystemTime::now() + KEPT_FOR * 2, KEPT);
        assert_eq!(there(), [false, false, true], "and nothing that is not ours");
    }

    #[test]
    fn what_was_of_use_longest_ago_makes_room() {
        let temp = tempfile::tempdir().unwrap();
        let (disk, now) = (Disk::open(temp.path()).unwrap(), SystemTime::now());
        let names = ["a.cwasm", "b.cwasm", "c.cwasm"];
        for (name, age) in names.into_iter().zip([5, 9, 7]) {
            fs::write(temp.path().join(name), [0; 100]).unwrap();
            let file = File::options().write(true).open(temp.path().join(name)).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        let there = || names.map(|name| temp.path().join(name).exists());
        disk.tidy(now, 300);
        assert_eq!(there(), [true, true, true]);
        disk.tidy(now, 200);
        assert_eq!(there(), [true, false, true]);
        disk.tidy(now, 1);
        assert_eq!(there(), [true, false, false], "what was kept last stays, whatever it takes");
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("code");
        write_whole(&file, &[b"one"]).unwrap();
        write_whole(&file, &[b"tw", b"o"]).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}

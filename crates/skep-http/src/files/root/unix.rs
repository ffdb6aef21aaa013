//! Paths resolved relative to an open directory: by `openat2` where the kernel has it, and step by step elsewhere.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::{Entry, Kind, Opened, Stamp, is_listed};

/// The name of a file below the root, ready for the kernel.
pub(in crate::files) type RootPath = CString;

/// `NONBLOCK`: a pipe nobody writes to must not stop the thread. `NOCTTY`: nor may a terminal become ours.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// For the directories on the way, which may be searchable without being readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEP: OFlags = READ.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// An open directory, and all that is below it.
#[derive(Debug)]
pub(in crate::files) struct Root {
    dir: OwnedFd,
    real: PathBuf,
    resolver: Resolver,
}

#[derive(Clone, Copy, Debug)]
enum Resolver {
    /// The kernel resolves and keeps within (Linux 5.6).
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Kernel,
    /// Each step is opened on its own and follows no symlink.
    Steps,
}

impl Root {
    /// Opens the directory. It stays this one, also if another takes its name later.
    pub(in crate::files) fn open(path: &Path) -> io::Result<Self> {
        let real = fs::canonicalize(path)?;
        let dir = rustix::fs::open(&real, READ | OFlags::DIRECTORY, Mode::empty())?;
        let resolver = Resolver::best(&dir);
        Ok(Self { dir, real, resolver })
    }

    /// Opens what `path` names; [`io::ErrorKind::NotFound`] also where it leads out.
    pub(in crate::files) fn find(&self, path: &str) -> io::Result<Opened> {
        let path = path.trim_end_matches('/');
        let path = Path::new(if path.is_empty() { "." } else { path });
        let found = match self.resolver.open(&self.dir, path) {
            Err(Errno::XDEV) => self.find_resolved(path),
            found => found.map_err(io::Error::from),
        };
        let found = found.map_err(|error| match Errno::from_io_error(&error) {
            // A circle of symlinks leads nowhere, and a socket cannot be opened at all.
            Some(Errno::LOOP | Errno::NXIO) => io::ErrorKind::NotFound.into(),
            _ => error,
        })?;
        let stat = fstat(&found)?;
        Ok(Opened { kind: kind(&stat), stamp: stamp(&stat), file: File::from(found) })
    }

    /// A symlink that is absolute, or that leaves and comes back, may still end inside: so says its end, and the end
    /// itself is opened as strictly as everything else.
    fn find_resolved(&self, path: &Path) -> io::Result<OwnedFd> {
        let real = fs::canonicalize(self.real.join(path))?;
        let inside = real.strip_prefix(&self.real).map_err(|_| io::ErrorKind::NotFound)?;
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        self.resolver.open(&self.dir, inside).map_err(|errno| match errno {
            Errno::XDEV => io::ErrorKind::NotFound.into(),
            errno => errno.into(),
        })
    }

    /// The stamp of what is at `place` now. Follows symlinks, also out: the caller compares the stamp with one of a
    /// file that it opened, and the same file is the same file wherever a name for it stands.
    pub(in crate::files) fn stamp(&self, place: &CStr) -> Option<Stamp> {
        statat(&self.dir, place, AtFlags::empty()).ok().map(|stat| stamp(&stat))
    }

    /// The name of `path` for [`stamp`](Self::stamp).
    pub(in crate::files) fn place(path: &str) -> Option<RootPath> {
        CString::new(path).ok()
    }

    /// What may be shown of the open directory at `path`: at most `limit` entries, and whether there are more.
    pub(in crate::files) fn list(&self, path: &str, dir: &File, limit: usize) -> io::Result<(Vec<Entry>, bool)> {
        let mut entries = Vec::new();
        for item in Dir::read_from(dir)? {
            let item = item?;
            let Ok(name) = item.file_name().to_str() else { continue };
            if !is_listed(name) {
                continue;
            }
            if entries.len() == limit {
                return Ok((entries, true));
            }
            entries.extend(self.entry(path, dir, name));
        }
        Ok((entries, false))
    }

    /// `None` for what would not be served: gone by now, or a symlink that leads out.
    fn entry(&self, path: &str, dir: &File, name: &str) -> Option<Entry> {
        let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let (kind, stamp) = if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            let target = self.find(&format!("{path}{name}")).ok()?;
            (target.kind, target.stamp)
        } else {
            (kind(&stat), stamp(&stat))
        };
        (kind != Kind::Other).then(|| Entry { name: name.to_owned(), kind, stamp })
    }
}

impl Resolver {
    /// `openat2` is missing from old kernels, and containers often forbid it: asked once.
    fn best(dir: &OwnedFd) -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if Self::Kernel.open(dir, Path::new(".")).is_ok() {
            return Self::Kernel;
        }
        let _ = dir;
        Self::Steps
    }

    /// [`Errno::XDEV`] where a symlink needs a closer look.
    fn open(self, dir: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
        match self {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Self::Kernel => open_beneath(dir, path),
            Self::Steps => open_by_steps(dir, path),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_beneath(dir: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};

    let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // AGAIN: something on the way was renamed meanwhile, and the kernel could not be sure. Rare, and over soon.
    for _ in 0..8 {
        match openat2(dir, path, READ, Mode::empty(), within) {
            Err(Errno::AGAIN) => {}
            found => return found,
        }
    }
    Err(Errno::AGAIN)
}

fn open_by_steps(dir: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut steps = path.components().peekable();
    let mut at: Option<OwnedFd> = None;
    while let Some(step) = steps.next() {
        let here = at.as_ref().unwrap_or(dir).as_fd();
        let Component::Normal(name) = step else { return openat(here, ".", READ, Mode::empty()) };
        let flags = if steps.peek().is_some() { STEP } else { READ | OFlags::NOFOLLOW };
        let next = openat(here, name, flags, Mode::empty()).map_err(|errno| {
            let is_symlink = statat(here, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            if is_symlink { Errno::XDEV } else { errno }
        });
        at = Some(next?);
    }
    at.ok_or(Errno::NOENT)
}

fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::Regular,
        FileType::Directory => Kind::Directory,
        _ => Kind::Other,
    }
}

/// The types of these fields differ from platform to platform; `i128` takes them all.
fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds = |seconds: i128, fraction: i128| seconds * 1_000_000_000 + fraction;
    Stamp {
        identity: (i128::from(stat.st_dev), i128::from(stat.st_ino)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: nanoseconds(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
        changed: nanoseconds(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
    }
}

#[cfg(test)]
impl Root {
    /// As where the kernel does not help.
    pub(super) fn by_steps(self) -> Self {
        Self { resolver: Resolver::Steps, ..self }
    }
}

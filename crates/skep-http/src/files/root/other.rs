//! Paths resolved by the standard library alone, for systems without directory handles.
//!
//! Each step is looked at before the file is opened. A process that can replace a directory by a symlink between the
//! two could lead out of the root; the strict way is the unix one. A component has the sandbox of its host around it
//! besides.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::super::stamp::nanoseconds;
use super::{Entry, Kind, Opened, Stamp, is_listed};

/// The name of a file below the root.
pub(in crate::files) type RootPath = PathBuf;

/// A directory, and all that is below it.
#[derive(Debug)]
pub(in crate::files) struct Root {
    path: PathBuf,
}

impl Root {
    /// Notes the directory, which must exist.
    pub(in crate::files) fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Opens what `path` names; [`io::ErrorKind::NotFound`] also where it leads out.
    pub(in crate::files) fn find(&self, path: &str) -> io::Result<Opened> {
        let whole = self.path.join(path.trim_end_matches('/'));
        if self.has_symlink(path)? && !self.is_inside(&whole) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let known = fs::metadata(&whole)?;
        if kind(&known) == Kind::Other {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = File::open(&whole)?;
        let metadata = file.metadata()?;
        Ok(Opened { kind: kind(&metadata), stamp: stamp(&metadata), file })
    }

    fn has_symlink(&self, path: &str) -> io::Result<bool> {
        let mut at = self.path.clone();
        for step in path.split('/').filter(|step| !step.is_empty()) {
            at.push(step);
            if fs::symlink_metadata(&at)?.is_symlink() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// False also where the system cannot tell, as under WASI.
    fn is_inside(&self, path: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        real(&self.path).zip(real(path)).is_some_and(|(root, path)| path.starts_with(root))
    }

    /// Nothing: without a time of change that no program can set, equal stamps prove nothing, and nothing is held.
    #[expect(clippy::unused_self, reason = "the root of a unix system asks the disk")]
    pub(in crate::files) fn stamp(&self, _: &RootPath) -> Option<Stamp> {
        None
    }

    /// `None`: see [`stamp`](Self::stamp).
    pub(in crate::files) fn place(_: &str) -> Option<RootPath> {
        None
    }

    /// What may be shown of the directory at `path`: at most `limit` entries, and whether there are more.
    pub(in crate::files) fn list(&self, path: &str, _: &File, limit: usize) -> io::Result<(Vec<Entry>, bool)> {
        let mut entries = Vec::new();
        for item in fs::read_dir(self.path.join(path.trim_end_matches('/')))? {
            let Ok(name) = item?.file_name().into_string() else { continue };
            if !is_listed(&name) {
                continue;
            }
            if entries.len() == limit {
                return Ok((entries, true));
            }
            let found = self.find(&format!("{path}{name}")).ok();
            entries.extend(found.map(|opened| Entry { name, kind: opened.kind, stamp: opened.stamp }));
        }
        Ok((entries, false))
    }
}

fn kind(metadata: &Metadata) -> Kind {
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Kind::Regular,
        (_, true) => Kind::Directory,
        _ => Kind::Other,
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let modified = nanoseconds(metadata.modified().unwrap_or(UNIX_EPOCH));
    Stamp { identity: (0, 0), size: metadata.len(), modified, changed: modified }
}

//! Which file a path names.

use std::io;
use std::path::Path;

/// Which file a path names, to notice that one was removed or replaced while it is open: what is written to it then is
/// lost.
///
/// ```
/// use skep_cache::FileId;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("database");
/// std::fs::write(&path, "first")?;
/// let id = FileId::of(&path)?;
/// assert!(id.is_still(&path));
/// std::fs::rename(&path, folder.path().join("moved"))?;
/// std::fs::write(&path, "second")?;
/// assert!(!id.is_still(&path));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that the path names now. Where a system has no such numbers, all files are the same.
    ///
    /// # Errors
    ///
    /// If the file does not exist, or the system does not identify it. See [`FileId`] for an example.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        #[cfg(unix)]
        let (device, inode) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let (device, inode) = (0, u64::from(metadata.is_dir()));
        Ok(Self { device, inode })
    }

    /// True if the path names the same file. See [`FileId`] for an example.
    #[must_use]
    pub fn is_still(self, path: &Path) -> bool {
        Self::of(path).is_ok_and(|now| now == self)
    }
}

//! What shows that a file has changed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    inode: u64,
    size: u64,
    seconds: i64,
    nanos: i64,
}

impl FileStamp {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        Some(Self { inode: about.ino(), size: about.len(), seconds: about.mtime(), nanos: about.mtime_nsec() })
    }

    /// True if the file was last written longer than `period` ago: one that was renamed into its place often was. With
    /// a wrong clock half a file may be read, which fails, and then the whole.
    pub(crate) fn is_older_than(self, period: Duration, now: SystemTime) -> bool {
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(self.seconds), u32::try_from(self.nanos)) else { return false };
        let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
        now.duration_since(changed).is_ok_and(|since| since > period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_as_old_as_its_modification_time() {
        let period = Duration::from_millis(50);
        let changed = Duration::new(1000, 999_999_999);
        let stamp = FileStamp { inode: 1, size: 2, seconds: 1000, nanos: 999_999_999 };
        let after = |since: Duration| stamp.is_older_than(period, UNIX_EPOCH + changed + since);
        assert!(after(period * 2) && after(period + Duration::from_nanos(1)));
        assert!(!after(period) && !after(Duration::ZERO));
        assert!(!stamp.is_older_than(period, UNIX_EPOCH), "it comes from the future");
        assert!(!FileStamp { seconds: -5, ..stamp }.is_older_than(period, UNIX_EPOCH + changed), "or from before 1970");
    }
}

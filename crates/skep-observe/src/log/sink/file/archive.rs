//! Old log files: `blog.log.20261121T073000.123`, or with `.gz`. Their names sort by age.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Locked, Rotation, is_at};
use crate::log::text::{date_and_time, write_padded};

/// The old files of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Archive<'a> {
    pub(super) path: &'a Path,
    pub(super) rotation: &'a Rotation,
}

/// `20261121T073000.123`
const STAMP: usize = 19;

/// A thread of this process compresses.
static COMPRESSING: AtomicBool = AtomicBool::new(false);

impl Archive<'_> {
    /// Renames the file, removes old ones, and lets the rest be compressed. The caller holds the file's lock.
    pub(super) fn rotate(&self, in_background: bool) -> io::Result<()> {
        let old = self.files()?;
        fs::rename(self.path, with_suffix(self.path, &next_stamp(&old, self.path, now())))?;
        if let Some(keep) = self.rotation.keep {
            let many = (old.len() + 1).saturating_sub(keep);
            // One that cannot be removed now is removed with the next.
            old.iter().take(many).for_each(|file| drop(fs::remove_file(file)));
        }
        if self.rotation.compress && in_background {
            self.compress_in_background();
        }
        Ok(())
    }

    /// All old files, the oldest first.
    pub(super) fn files(&self) -> io::Result<Vec<PathBuf>> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let names = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| folder.join(entry.file_name()));
        let mut files: Vec<PathBuf> = names.filter(|file| !stamp_of(self.path, file).is_empty()).collect();
        files.sort_by(|a, b| stamp_of(self.path, a).cmp(stamp_of(self.path, b)));
        Ok(files)
    }

    fn compress_in_background(&self) {
        if COMPRESSING.swap(true, Ordering::AcqRel) {
            return;
        }
        let (path, rotation) = (self.path.to_owned(), self.rotation.clone());
        let work = move || {
            let archive = Archive { path: &path, rotation: &rotation };
            if let Err(error) = archive.compress() {
                tracing::warn!(target: "skep::log", path = %path.display(), "an old log file is not compressed: {error}");
            }
            COMPRESSING.store(false, Ordering::Release);
        };
        if std::thread::Builder::new().name("log-compress".into()).spawn(work).is_err() {
            COMPRESSING.store(false, Ordering::Release);
        }
    }

    /// Compresses all old files that are not, and that no other process works on.
    pub(super) fn compress(&self) -> io::Result<()> {
        for file in self.files()? {
            if file.extension().is_none_or(|extension| extension != "gz") {
                compress(&file)?;
            }
        }
        Ok(())
    }
}

fn compress(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let lock = Locked::new(&file);
    // Another process compresses it, or has done so.
    if !lock.is_held || !is_at(&file, path) {
        return Ok(());
    }
    let (partial, complete) = (with_suffix(path, "gz.part"), with_suffix(path, "gz"));
    let target = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o640).open(&partial)?;
    let mut encoder = GzEncoder::new(target, Compression::default());
    io::copy(&mut &file, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::rename(&partial, &complete)?;
    fs::remove_file(path)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// The time in the name of an old file; empty for other files.
fn stamp_of<'f>(path: &Path, file: &'f Path) -> &'f str {
    let name = |path: &'f Path| path.file_name().and_then(|name| name.to_str());
    let own = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let rest = name(file).and_then(|name| name.strip_prefix(own)?.strip_prefix('.')).unwrap_or_default();
    let stamp = rest.strip_suffix(".gz").unwrap_or(rest);
    let is_stamp = stamp.len() == STAMP
        && stamp.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'T',
            15 => byte == b'.',
            _ => byte.is_ascii_digit(),
        });
    if is_stamp { stamp } else { "" }
}

/// A time after that of the newest old file: there may have been a rotation in this millisecond. If the clock was set
/// back further, the order of old files is wrong, but none is replaced.
pub(super) fn next_stamp(old: &[PathBuf], path: &Path, start: u64) -> String {
    let newest = old.last().map_or("", |file| stamp_of(path, file));
    let candidates = || (start..start + 1000).map(stamp);
    let is_free = |stamp: &String| old.iter().all(|file| stamp_of(path, file) != stamp);
    let later = candidates().find(|stamp| stamp.as_str() > newest);
    later.or_else(|| candidates().find(is_free)).unwrap_or_else(|| stamp(start))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn stamp(millis: u64) -> String {
    let [year, month, day, hour, minute, second] = date_and_time(millis / 1000);
    let mut out = Vec::with_capacity(STAMP);
    for (number, width) in [(year, 4), (month, 2), (day, 2)] {
        write_padded(&mut out, number, width);
    }
    out.push(b'T');
    for number in [hour, minute, second] {
        write_padded(&mut out, number, 2);
    }
    out.push(b'.');
    write_padded(&mut out, millis % 1000, 3);
    String::from_utf8(out).unwrap_or_default()
}

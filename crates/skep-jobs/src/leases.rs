//! Which other runners live.
//!
//! While a runner has jobs, its lease changes. It is dead if its lease has stayed the same for as long as that lasts,
//! by the clock of who looks that nobody sets: so a time of day that is set, here or on another machine, ends no lease
//! that is kept, and lets none go on that is not.
//!
//! Of its own machine, a runner knows more: each has a file of the data directory locked, from before its first lease
//! until its process ends, in whatever way. So what a killed process has left is given back at once by the next one of
//! the machine, and no process has to live for as long as a lease lasts. The folder of the files has the id of the
//! kernel's start as its name, since another kernel may not see the locks: a copy of the data directory, or one that
//! machines share, says nothing of other machines. Of those, and where files cannot be locked, leases tell.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The leases of others, and since when they are as they are.
#[derive(Debug, Default)]
pub(crate) struct Leases(HashMap<i64, Lease>);

#[derive(Clone, Copy, Debug)]
struct Lease {
    until: i64,
    since: Instant,
    lasts: Duration,
    /// Its process is known to have ended.
    has_ended: bool,
}

impl Leases {
    /// Notes what the database has, and of whom the process has ended.
    pub(crate) fn note(&mut self, rows: Vec<(i64, i64, i64)>, has_ended: impl Fn(i64) -> bool, now: Instant) {
        let known = std::mem::take(&mut self.0);
        self.0.extend(rows.into_iter().map(|(id, until, lasts)| {
            let since = known.get(&id).filter(|known| known.until == until).map_or(now, |known| known.since);
            let lasts = Duration::from_millis(lasts.max(0).cast_unsigned());
            (id, Lease { until, since, lasts, has_ended: has_ended(id) })
        }));
    }

    /// Those of the dead.
    pub(crate) fn dead(&self, now: Instant) -> Vec<(i64, i64)> {
        let dead = self.0.iter().filter(|(_, lease)| lease.rest(now).is_zero());
        dead.map(|(id, lease)| (*id, lease.until)).collect()
    }

    /// How long it takes until the next one is dead, unless it lives; or until it may have been renewed, so that one
    /// which is not any more is dead soon after it has ended.
    pub(crate) fn next(&self, now: Instant) -> Option<Duration> {
        self.0.values().map(|lease| lease.rest(now).min(lease.lasts / 3)).min()
    }
}

impl Lease {
    /// How long it lasts if it stays the same.
    fn rest(&self, now: Instant) -> Duration {
        if self.has_ended { Duration::ZERO } else { (self.since + self.lasts).saturating_duration_since(now) }
    }
}

/// The file of a runner, which has the runner's number as its name.
#[derive(Debug)]
pub(crate) struct Alive {
    folder: PathBuf,
    id: i64,
    _locked: File,
}

impl Alive {
    /// In this folder, which has nothing else.
    pub(crate) fn new(folders: &Path, id: i64) -> io::Result<Self> {
        // See random(4).
        let start = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let folder = folders.join(start.trim());
        fs::create_dir_all(&folder)?;
        for other in fs::read_dir(folders)?.flatten().filter(|other| other.path() != folder) {
            // Of this machine before it was started again. If it is another machine's, leases tell of that one.
            _ = fs::remove_dir_all(other.path());
        }
        let file = File::create(folder.join(id.to_string()))?;
        // Who tidies up may have it for a moment. If it is removed then, the lease of this runner tells of it.
        file.lock()?;
        Ok(Self { folder, id, _locked: file })
    }

    /// True if this runner was one of this machine, and its process has ended.
    pub(crate) fn has_ended(&self, id: i64) -> bool {
        File::open(self.folder.join(id.to_string())).is_ok_and(|file| file.try_lock().is_ok())
    }

    /// Removes the files of processes that have ended, but those that have left a lease.
    pub(crate) fn tidy(&self, has_lease: impl Fn(i64) -> bool) {
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let id = file.file_name().to_str().and_then(|name| name.parse().ok());
            if id.is_some_and(|id| !has_lease(id) && self.has_ended(id)) {
                _ = fs::remove_file(file.path());
            }
        }
    }

    /// Of a runner that has left nothing. What remains otherwise, another one removes.
    pub(crate) fn end(self) {
        _ = fs::remove_file(self.folder.join(self.id.to_string()));
    }
}

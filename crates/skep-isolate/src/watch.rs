//! Takes up what changes on disk while the server runs.
//!
//! A file counts when it has not changed for a moment: while somebody still writes it, it is no version. What then does not compile, or does not
//! answer, is said once in the log, and the version before goes on.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{io, thread};

use crate::application::Application;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Wrong;
use crate::source::Source;
use crate::table::Table;

/// How often files are looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// Idle instances are looked at every so many periods.
const TIDY: u32 = 20;

/// What shows that a file changed: the file it is, its size and its time.
pub(crate) type Look = (u64, u64, i64, i64);

/// Starts the thread that watches. It ends with the table.
pub(crate) fn start(table: &Arc<Table>, host: Host, disk: Option<Disk>) -> io::Result<()> {
    let watched = |application: &Arc<Application>| Watched {
        // What changed while the applications started is not missed.
        seen: *application.looked.lock().unwrap_or_else(PoisonError::into_inner),
        coming: None,
        taking: None,
    };
    let mut watched: Vec<Watched> = table.applications().iter().map(watched).collect();
    let table: Weak<Table> = Arc::downgrade(table);
    let run = move || {
        for turn in 0u32.. {
            thread::sleep(PERIOD);
            let Some(table) = table.upgrade() else { return };
            for (application, watched) in table.applications().iter().zip(&mut watched) {
                if application.options.watch && watched.is_ready(application) {
                    let (application, host, disk) = (Arc::clone(application), host.clone(), disk.clone());
                    let take_up = move || guarded(&application, &host, disk.as_ref());
                    // Each in a thread of its own: one that compiles for long keeps no other waiting.
                    match thread::Builder::new().name("take up".into()).spawn(take_up) {
                        Ok(thread) => watched.taking = Some(thread),
                        Err(error) => {
                            watched.seen = None;
                            tracing::error!(target: "skep::isolate", "no thread to take up a file: {error}");
                        }
                    }
                }
            }
            if turn % TIDY == 0 {
                table.applications().iter().filter_map(|one| one.current()).for_each(|ready| ready.tidy());
            }
        }
    };
    thread::Builder::new().name("watch".into()).spawn(run).map(drop)
}

/// What is known of the file of an application.
struct Watched {
    seen: Option<Look>,
    /// How it looked a moment ago, if it has changed.
    coming: Option<Look>,
    taking: Option<JoinHandle<()>>,
}

impl Watched {
    /// True if the file has changed and now stands still, or is due once more; and none is being taken up.
    fn is_ready(&mut self, application: &Application) -> bool {
        if self.taking.as_ref().is_some_and(|taking| !taking.is_finished()) {
            return false;
        }
        self.taking = None;
        // A file that is away is no version; it is likely being replaced.
        let Some(now) = look(&application.options.file) else { return false };
        if self.seen == Some(now) {
            return application.is_due();
        }
        let is_at_rest = self.coming.replace(now) == Some(now) || stands_still(now, SystemTime::now());
        if !is_at_rest {
            return false;
        }
        (self.seen, self.coming) = (Some(now), None);
        true
    }
}

/// True if its own time says that a file has not changed for a moment: one that was renamed into its place was often written before that. A
/// clock that goes wrong says nothing, if it is ahead; if it is behind, half a file may be read, which is none, and then the whole.
fn stands_still((_, _, seconds, nanos): Look, now: SystemTime) -> bool {
    let (Ok(seconds), Ok(nanos)) = (u64::try_from(seconds), u32::try_from(nanos)) else { return false };
    let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
    now.duration_since(changed).is_ok_and(|since| since > PERIOD)
}

pub(crate) fn look(path: &Path) -> Option<Look> {
    let about = fs::metadata(path).ok()?;
    Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}

/// A compiler that panics fails this file, and watching goes on.
fn guarded(application: &Arc<Application>, host: &Host, disk: Option<&Disk>) {
    if catch_unwind(AssertUnwindSafe(|| take_up(application, host, disk))).is_err() {
        let wrong = Wrong::with("made the compiler panic").of(&application.options.file);
        application.note(&wrong);
        tracing::error!(target: "skep::isolate", app = application.options.name, "not swapped: {wrong}");
    }
}

fn take_up(application: &Arc<Application>, host: &Host, disk: Option<&Disk>) {
    let name = &application.options.name;
    let source = match Source::read(&application.options.file) {
        Ok(source) => source,
        Err(wrong) => {
            application.note(&wrong);
            return tracing::error!(target: "skep::isolate", app = name, "not swapped: {wrong}");
        }
    };
    match application.take_up(host, disk, &source) {
        Some(Ok(ready)) => {
            let ms = u64::try_from(ready.made.in_time.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(target: "skep::isolate", app = name, version = %ready.hash, ms, "swapped");
            application.optimise(ready, host, disk);
        }
        Some(Err(wrong)) => tracing::error!(target: "skep::isolate", app = name, "not swapped: {wrong}"),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_still_when_its_time_is_past() {
        let changed = Duration::new(1000, 999_999_999);
        let look = (1, 2, 1000, 999_999_999);
        let after = |since: Duration| stands_still(look, UNIX_EPOCH + changed + since);
        assert!(after(PERIOD * 2) && after(PERIOD + Duration::from_nanos(1)));
        assert!(!after(PERIOD) && !after(Duration::ZERO));
        assert!(!stands_still(look, UNIX_EPOCH), "it comes from the future");
        assert!(!stands_still((1, 2, -5, 0), UNIX_EPOCH + changed), "or from before all time");
    }
}

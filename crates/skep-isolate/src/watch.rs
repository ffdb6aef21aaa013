//! Reloads components when their files change.
//!
//! A file is read when it has not changed for a moment: one that is still being written is no version. A file that does
//! not compile or fails its probe is logged once, and the version before it goes on serving.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use std::{io, thread};

use crate::application::Application;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Error;
use crate::file_stamp::FileStamp;
use crate::source::ComponentFile;
use crate::table::Table;

/// The pause between two looks at the files.
const PERIOD: Duration = Duration::from_millis(50);

/// Idle instances are dropped once in this many periods.
const TIDY: u32 = 20;

/// A file that is missing for this many periods is not being replaced.
const GONE: u32 = 20;

/// Starts the thread that watches. It ends with the table.
pub(crate) fn start(table: &Arc<Table>, host: Host, disk: Option<Disk>) -> io::Result<()> {
    let watched = |application: &Arc<Application>| Watched {
        // What changed while the applications started is not missed.
        seen: *skep_units::lock(&application.stamp),
        changed: None,
        loading: None,
        missing: 0,
    };
    let mut watched: Vec<Watched> = table.applications.iter().map(watched).collect();
    let table: Weak<Table> = Arc::downgrade(table);
    let run = move || {
        for turn in 0u32.. {
            thread::sleep(PERIOD);
            let Some(table) = table.upgrade() else { return };
            for (application, watched) in table.applications.iter().zip(&mut watched) {
                if application.options.watch && watched.is_ready(application) {
                    let (application, host, disk) = (Arc::clone(application), host.clone(), disk.clone());
                    let reload = move || guarded(&application, &host, disk.as_ref());
                    // A thread for each: one that compiles for long delays no other.
                    match thread::Builder::new().name("reload".into()).spawn(reload) {
                        Ok(thread) => watched.loading = Some(thread),
                        Err(error) => {
                            watched.seen = None;
                            tracing::error!(target: "skep::isolate", "not reloaded: no thread: {error}");
                        }
                    }
                }
            }
            if turn % TIDY == 0 {
                host.tidy();
                table.applications.iter().filter_map(|one| one.current()).for_each(|version| version.tidy());
            }
        }
    };
    thread::Builder::new().name("watch".into()).spawn(run).map(drop)
}

/// What is known of the file of an application.
struct Watched {
    seen: Option<FileStamp>,
    /// Its stamp a period ago, if it has changed.
    changed: Option<FileStamp>,
    loading: Option<JoinHandle<()>>,
    /// Periods since the file is missing.
    missing: u32,
}

impl Watched {
    /// True if the file has changed and is complete, or is due for another try, and none is being loaded.
    fn is_ready(&mut self, application: &Application) -> bool {
        if self.loading.as_ref().is_some_and(|loading| !loading.is_finished()) {
            return false;
        }
        self.loading = None;
        let Some(now) = FileStamp::of(&application.options.file) else {
            // Likely it is being replaced, for a moment.
            self.missing = self.missing.saturating_add(1);
            if self.missing == GONE {
                let (app, file) = (&application.options.name, application.options.file.display());
                let text = "the file is gone; its last version goes on serving";
                tracing::warn!(target: "skep::isolate", app, %file, "{text}");
            }
            return false;
        };
        self.missing = 0;
        if self.seen == Some(now) {
            return application.is_retry_due();
        }
        if self.changed.replace(now) != Some(now) && !now.is_older_than(PERIOD, SystemTime::now()) {
            return false;
        }
        (self.seen, self.changed) = (Some(now), None);
        true
    }
}

/// A compiler that panics fails this file only.
fn guarded(application: &Arc<Application>, host: &Host, disk: Option<&Disk>) {
    if catch_unwind(AssertUnwindSafe(|| reload(application, host, disk))).is_err() {
        let error = application.note(Error::invalid("made the compiler panic").in_file(&application.options.file));
        tracing::error!(target: "skep::isolate", app = application.options.name, "not swapped: {error}");
    }
}

fn reload(application: &Arc<Application>, host: &Host, disk: Option<&Disk>) {
    let name = &application.options.name;
    let source = match ComponentFile::read(&application.options.file) {
        Ok(source) => source,
        Err(error) => {
            let error = application.note(error);
            return tracing::error!(target: "skep::isolate", app = name, "not swapped: {error}");
        }
    };
    match application.load(host, disk, &source) {
        Some(Ok(version)) => {
            let ms = u64::try_from(version.made.in_time.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(target: "skep::isolate", app = name, version = %version.hash, ms, "swapped");
            application.optimise(version, host, disk);
        }
        Some(Err(error)) => tracing::error!(target: "skep::isolate", app = name, "not swapped: {error}"),
        None => {}
    }
}

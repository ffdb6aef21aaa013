//! Takes up what changes on disk while the server runs.
//!
//! A file counts when it has not changed for a moment: while somebody still writes it, it is no version. What then does not compile, or does not
//! answer, is said once in the log, and the version before goes on.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;
use std::{io, thread};

use crate::application::Application;
use crate::disk::Disk;
use crate::engine::Host;
use crate::source::Source;
use crate::table::Table;

/// How often files are looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// Idle instances are looked at every so many periods.
const TIDY: u32 = 20;

/// What shows that a file changed: the file it is, its size and its time.
type Look = (u64, u64, i64, i64);

/// Starts the thread that watches. It ends with the table.
pub(crate) fn start(table: &Arc<Table>, host: Host, disk: Option<Disk>) -> io::Result<()> {
    let mut seen: HashMap<usize, Look> = HashMap::new();
    for (index, application) in table.applications().iter().enumerate() {
        seen.extend(look(&application.options.file).map(|look| (index, look)));
    }
    let table: Weak<Table> = Arc::downgrade(table);
    let run = move || {
        let mut coming: HashMap<usize, Look> = HashMap::new();
        for turn in 0u32.. {
            thread::sleep(PERIOD);
            let Some(table) = table.upgrade() else { return };
            for (index, application) in table.applications().iter().enumerate().filter(|(_, one)| one.options.watch) {
                let now = look(&application.options.file);
                match now {
                    // A file that is away is no version; it is likely being replaced.
                    None => {}
                    Some(now) if seen.get(&index) == Some(&now) => {}
                    Some(now) if coming.get(&index) != Some(&now) => drop(coming.insert(index, now)),
                    Some(now) => {
                        coming.remove(&index);
                        seen.insert(index, now);
                        take_up(application, &host, disk.as_ref());
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

fn look(path: &Path) -> Option<Look> {
    let about = fs::metadata(path).ok()?;
    Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}

fn take_up(application: &Application, host: &Host, disk: Option<&Disk>) {
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
        }
        Some(Err(wrong)) => tracing::error!(target: "skep::isolate", app = name, "not swapped: {wrong}"),
        None => {}
    }
}

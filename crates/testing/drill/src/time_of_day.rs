//! A time of day that is set.
//!
//! The clock of the machine is not ours to set, so a server runs with libfaketime, which gives each process of it
//! another time of day. The monotonic clock goes on, as it does when an administrator or NTP sets the time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;

/// Debian: libfaketime.
const LIBRARY: &str = "faketime/libfaketime.so.1";

/// The time of day of processes that have it.
#[derive(Clone, Debug)]
pub struct TimeOfDay {
    library: PathBuf,
    file: PathBuf,
}

impl TimeOfDay {
    /// One that is right for now, by a file in this folder; none if libfaketime is missing.
    pub fn new(folder: &Path) -> Result<Option<Self>> {
        let Some(library) = library() else { return Ok(None) };
        let time = Self { library, file: folder.join("clock") };
        time.set("+0")?;
        Ok(Some(time))
    }

    /// Has a command, and what it starts, use it.
    pub fn give(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_TIMESTAMP_FILE", &self.file);
        command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("NO_FAKE_STAT", "1");
    }

    /// Sets it to this much from that of the machine: `+1h`, `-365d`, `+0`.
    pub fn set(&self, step: &str) -> Result<()> {
        // Whole in one step: it is read while it is written.
        fs::write(self.file.with_extension("new"), format!("{step}\n"))?;
        Ok(fs::rename(self.file.with_extension("new"), &self.file)?)
    }
}

/// In the folder of the machine's architecture.
fn library() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.filter_map(std::result::Result::ok);
    folders.map(|folder| folder.path().join(LIBRARY)).find(|library| library.exists())
}

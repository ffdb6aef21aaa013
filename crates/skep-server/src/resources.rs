//! What the configuration takes from the machine: threads, file descriptors, the data directory, standard output.

use std::fmt;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::config::Config;
use crate::error::StartError;
use crate::worker::MAX_REJECTIONS;

/// File descriptors reserved for everything but connections and their rejections: listeners, files, databases.
const RESERVED_FILES: u64 = 64;

/// The number of threads, or of processes to start with.
pub(crate) fn worker_count(config: &Config) -> usize {
    match config.workers {
        0 => thread::available_parallelism().map_or(1, Into::into),
        workers => workers,
    }
}

/// The setting `limits.connections`, or fewer if the process may not open that many files. Raises the soft limit first.
pub(crate) fn max_connections(config: &Config) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // If that is refused, the server runs with the lower limit.
        let _ = setrlimit(Resource::Nofile, limit);
        limit = getrlimit(Resource::Nofile);
    }
    let files = limit.current.unwrap_or(u64::MAX).saturating_sub(RESERVED_FILES + MAX_REJECTIONS as u64).max(1);
    let wanted = config.limits.connections;
    let possible = usize::try_from(files).unwrap_or(usize::MAX);
    if possible < wanted {
        tracing::debug!(wanted, possible, "the limit on open files (ulimit -n) lowers limits.connections");
    }
    wanted.min(possible)
}

/// Creates the data directory if it is missing, and checks that it is writable.
pub(crate) fn create_data_dir(config: &Config) -> Result<(), StartError> {
    let path = &config.data;
    let failed = |what: &str, error: &dyn fmt::Display| {
        StartError::new(format!("the data directory {} {what}: {error}; choose another with --data", path.display()))
    };
    if path.exists() && !path.is_dir() {
        return Err(StartError::new(format!(
            "{} is not a directory; choose another data directory with --data",
            path.display()
        )));
    }
    if !path.exists() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(path).map_err(|error| failed("cannot be created", &error))?;
    }
    let mode = std::fs::metadata(path).map_err(|error| failed("cannot be read", &error))?.mode();
    if mode & 0o002 != 0 {
        let path = path.display();
        return Err(StartError::new(format!(
            "every user may write to the data directory {path}: chmod o-w {path}, or choose a directory inside it with --data"
        )));
    }
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).map_err(|error| failed("is not writable", &error))
}

/// Prints the addresses of a server, with its number of threads or processes.
pub(crate) fn announce(name: &str, urls: &[String], count: usize, [one, many]: [&str; 2]) {
    let noun = if count == 1 { one } else { many };
    let _ = print(&format!("{name} listens on {} ({count} {noun})\n", urls.join(" and ")));
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<ExitCode, StartError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    Ok(ExitCode::SUCCESS)
}

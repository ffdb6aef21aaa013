//! What the configuration takes from the machine: threads, file descriptors, the data directory, standard output.

use std::fmt;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, getrlimit, setrlimit};
use skep_units::format_size;

use crate::config::{Config, Model};
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

/// File descriptors that a thread has for itself: its runtime, its sockets, connections to databases that are open at
/// once.
const FILES_OF_THREAD: u64 = 8;

/// Connections without which a server is of no use.
const LEAST_CONNECTIONS: u64 = 16;

/// Addresses of memory that a process needs, and each of its threads: stacks, caches, and what the allocator reserves.
const ADDRESSES: u64 = 256 << 20;
const ADDRESSES_OF_THREAD: u64 = 80 << 20;

/// What the limits of this process are too small for: open files (`ulimit -n`) and addresses (`ulimit -v`).
pub(crate) fn check_limits(config: &Config) -> Result<(), String> {
    let threads = if config.mpm == Model::Prefork { 1 } else { worker_count(config) as u64 };
    // The limit that the server raises its own to.
    let files = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let needed = RESERVED_FILES + MAX_REJECTIONS as u64 + threads * FILES_OF_THREAD + LEAST_CONNECTIONS;
    if files < needed {
        return Err(format!(
            "this process may open {files} files (ulimit -Hn), and needs {needed} with {threads} threads (workers) and a few connections; \
             for limits.connections = {} it needs {} more",
            config.limits.connections, config.limits.connections
        ));
    }
    let have = getrlimit(Resource::As).current.unwrap_or(u64::MAX);
    let needed = ADDRESSES + threads * ADDRESSES_OF_THREAD;
    if have < needed {
        return Err(format!(
            "this process may use {} of addresses (ulimit -v), and a worker needs {} with {threads} threads (workers): allow more; \
             limits.bodies, limits.unsent and max_memory limit the memory that is used",
            format_size(have),
            format_size(needed)
        ));
    }
    Ok(())
}

/// Creates the data directory if it is missing, and checks that it is writable.
pub(crate) fn create_data_dir(config: &Config) -> Result<(), StartError> {
    let path = &config.app.data;
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

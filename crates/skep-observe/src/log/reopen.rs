//! Reopening log files after rotation.
//!
//! The server logs to standard output and standard error. Where these are files, it can open them again by the paths
//! that they had at start. It never waits: a path may lead to a FIFO by now, and then it is written only if some
//! process reads it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The files behind standard output and standard error, if they are files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFiles {
    output: Option<PathBuf>,
    error: Option<PathBuf>,
}

impl StreamFiles {
    /// The files of this process.
    pub fn of_process() -> Self {
        Self { output: file(std::io::stdout()), error: file(std::io::stderr()) }
    }

    /// Opens the files again. One that cannot be opened is still the one that it was, and does not keep the other one
    /// from being opened.
    pub fn reopen(&self) -> io::Result<()> {
        let to = |path: &Option<PathBuf>, replace: fn(File) -> rustix::io::Result<()>| match path {
            Some(path) => open(path)
                .and_then(|file| Ok(replace(file)?))
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
            None => Ok(()),
        };
        let output = to(&self.output, rustix::stdio::dup2_stdout);
        to(&self.error, rustix::stdio::dup2_stderr).and(output)
    }

    /// A line for the channel; [`parse`](Self::parse) reads it.
    pub fn to_line(&self) -> String {
        let text = |path: &Option<PathBuf>| path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
        format!("{}\t{}", text(&self.output), text(&self.error))
    }

    /// Reads what [`to_line`](Self::to_line) wrote.
    pub fn parse(text: &str) -> Self {
        let (output, error) = text.split_once('\t').unwrap_or_default();
        let path = |text: &str| Some(PathBuf::from(text)).filter(|path| !path.as_os_str().is_empty());
        Self { output: path(output), error: path(error) }
    }
}

/// Opening a FIFO would wait for a reader, and with this process its whole server.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    // What prints to it expects to wait for a slow reader.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

fn file(stream: impl AsFd) -> Option<PathBuf> {
    let status = rustix::fs::fstat(&stream).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::RegularFile;
    let number = std::os::fd::AsRawFd::as_raw_fd(&stream.as_fd());
    std::fs::read_link(format!("/proc/self/fd/{number}")).ok().filter(|_| is_file)
}

#[cfg(test)]
#[path = "../../tests/unit/log/reopen.rs"]
mod tests;

//! Reopening log files after rotation.
//!
//! The server logs to standard output and standard error. Where these are files, it can open them again by the paths that they had at
//! start.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The files behind standard output and standard error, if they are files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    output: Option<PathBuf>,
    error: Option<PathBuf>,
}

impl Files {
    /// The files of this process.
    pub(crate) fn of_process() -> Self {
        Self { output: file(std::io::stdout()), error: file(std::io::stderr()) }
    }

    /// Opens the files again.
    pub(crate) fn reopen(&self) -> io::Result<()> {
        let open = |path: &Path| OpenOptions::new().append(true).create(true).open(path);
        if let Some(path) = &self.output {
            rustix::stdio::dup2_stdout(open(path)?)?;
        }
        if let Some(path) = &self.error {
            rustix::stdio::dup2_stderr(open(path)?)?;
        }
        Ok(())
    }

    /// A line for the channel; [`parse`](Self::parse) reads it.
    pub(crate) fn to_line(&self) -> String {
        let text = |path: &Option<PathBuf>| path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
        format!("{}\t{}", text(&self.output), text(&self.error))
    }

    /// Reads what [`to_line`](Self::to_line) wrote.
    pub(crate) fn parse(text: &str) -> Self {
        let (output, error) = text.split_once('\t').unwrap_or_default();
        let path = |text: &str| Some(PathBuf::from(text)).filter(|path| !path.as_os_str().is_empty());
        Self { output: path(output), error: path(error) }
    }
}

fn file(stream: impl AsFd) -> Option<PathBuf> {
    let status = rustix::fs::fstat(&stream).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::RegularFile;
    let number = std::os::fd::AsRawFd::as_raw_fd(&stream.as_fd());
    std::fs::read_link(format!("/proc/self/fd/{number}")).ok().filter(|_| is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_travel_as_words() {
        let files = Files { output: Some("/var/log/a b".into()), error: None };
        assert_eq!(Files::parse(&files.to_line()), files);
    }
}

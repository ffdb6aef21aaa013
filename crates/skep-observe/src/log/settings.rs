//! The settings `log.*`.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::access::AccessOutput;
use super::buffer::Capacity;
use super::last_lines::LastLines;
use super::output::EventOutput;

/// The settings `log.*`. Each field is a setting of the same name.
#[expect(missing_docs, reason = "the table of settings has their help")]
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub access: bool,
    pub access_outputs: Vec<AccessOutput>,
    pub buffer: usize,
    pub level: String,
    pub levels: CategoryLevels,
    pub line: usize,
    pub mask: Names,
    pub outputs: Vec<EventOutput>,
    pub recorder: usize,
    pub repeats: u32,
    pub reserve: usize,
    pub slow: Option<Duration>,
}

/// Elements of `log.levels`: `CATEGORY=LEVEL`.
#[derive(Clone, Debug, Default)]
pub struct CategoryLevels(pub(super) Vec<String>);

/// Elements of `log.mask`.
#[derive(Clone, Debug, Default)]
pub struct Names(pub Vec<String>);

impl Settings {
    /// Lays out the memory for the last lines of this number of processes with this number of threads each, which is
    /// still empty.
    ///
    /// # Errors
    /// The system does not give as much.
    pub fn last_lines(&self, file: OwnedFd, processes: usize, threads: usize) -> io::Result<Arc<LastLines>> {
        LastLines::new(file, processes, self.buffers(threads), self.capacity().all())
    }

    /// Of each buffer.
    pub(super) fn capacity(&self) -> Capacity {
        Capacity { usual: self.buffer, reserve: self.reserve }
    }

    /// How many buffers a process of this number of threads has: one for each output, and each thread's for the access
    /// log.
    fn buffers(&self, threads: usize) -> usize {
        let of_threads = if self.access { self.access_outputs.len() * threads } else { 0 };
        self.outputs.len() + of_threads
    }
}

impl CategoryLevels {
    /// Checks the elements.
    ///
    /// # Errors
    /// The first that is none.
    pub fn parse(list: &[String]) -> Result<Self, String> {
        super::levels::Levels::new("info", list)?;
        Ok(Self(list.to_vec()))
    }
}

//! The settings `log.*`.

use std::time::Duration;

use super::access::AccessOutput;
use super::buffer::Capacity;
use super::output::EventOutput;

/// The settings `log.*`. Each field is a setting of the same name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) access: bool,
    pub(crate) access_outputs: Vec<AccessOutput>,
    pub(crate) buffer: usize,
    pub(crate) level: String,
    pub(crate) levels: CategoryLevels,
    pub(crate) line: usize,
    pub(crate) mask: Names,
    pub(crate) outputs: Vec<EventOutput>,
    pub(crate) recorder: usize,
    pub(crate) repeats: u32,
    pub(crate) reserve: usize,
    pub(crate) slow: Option<Duration>,
}

/// Elements of `log.levels`: `CATEGORY=LEVEL`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CategoryLevels(pub(super) Vec<String>);

/// Elements of `log.mask`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl Settings {
    /// Of each buffer.
    pub(crate) fn capacity(&self) -> Capacity {
        Capacity { usual: self.buffer, reserve: self.reserve }
    }

    /// How many buffers a process of this number of threads has: one for each output, and each thread's for the access
    /// log.
    pub(crate) fn buffers(&self, threads: usize) -> usize {
        let of_threads = if self.access { self.access_outputs.len() * threads } else { 0 };
        self.outputs.len() + of_threads
    }
}

impl CategoryLevels {
    pub(crate) fn parse(list: &[String]) -> Result<Self, String> {
        super::levels::Levels::new("info", list)?;
        Ok(Self(list.to_vec()))
    }
}

//! The server's log: events to standard error, a line for each request to standard output.
//!
//! Logging never blocks a request. Each thread formats lines into a buffer of its own, and one thread per process writes the buffers. Beyond the limit
//! of a buffer (`log.buffer`), lines are dropped; their number is logged in their place.

mod access;
mod buffer;
mod events;
mod reopen;
mod text;

pub(crate) use access::{AccessLog, Line};
use buffer::Writer;
use events::Events;
pub(crate) use events::change_level;

use std::io;
use std::sync::Arc;

use crate::config::Log;
pub(crate) use reopen::Files;

/// The writing thread and its buffers.
#[derive(Debug)]
pub(crate) struct Logs {
    writer: Arc<Writer>,
    access: bool,
    buffer: usize,
}

impl Logs {
    /// Starts the writing thread.
    pub(crate) fn start(settings: &Log) -> io::Result<Self> {
        let logs = Self::direct(settings);
        logs.writer.use_thread();
        logs.writer.begin()?;
        Ok(logs)
    }

    /// Without a thread: each line is written at once. Installs the subscriber for events, which only has an effect once.
    pub(crate) fn direct(settings: &Log) -> Self {
        let writer = Arc::<Writer>::default();
        let events = writer.buffer(buffer::Stream::Error, settings.buffer);
        if let Ok(level) = settings.level.parse() {
            // A subscriber of the program or of a test stays installed.
            let _ = tracing::subscriber::set_global_default(Events::new(events, level));
        }
        Self { writer, access: settings.access, buffer: settings.buffer }
    }

    /// Starts the writing thread with the next line.
    pub(crate) fn use_thread(&self) {
        self.writer.use_thread();
    }

    /// The access log of one thread, if it is enabled.
    pub(crate) fn access(&self) -> Option<AccessLog> {
        self.access.then(|| AccessLog::new(self.writer.buffer(buffer::Stream::Output, self.buffer)))
    }

    /// Writes all buffers, and ends the thread.
    pub(crate) fn finish(&self) {
        self.writer.finish();
    }
}

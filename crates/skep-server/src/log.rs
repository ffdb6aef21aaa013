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
use buffer::{LogBuffer, Writer};
pub(crate) use events::Events;

use std::io;
use std::sync::Arc;

pub(crate) use reopen::Files;

/// The writing thread and its buffers.
#[derive(Debug)]
pub(crate) struct Logs {
    writer: Writer,
    events: Arc<LogBuffer>,
    access: bool,
    buffer: usize,
}

impl Logs {
    /// Starts the writing thread. `buffer` is the limit of each buffer in bytes.
    pub(crate) fn start(access: bool, buffer: usize) -> io::Result<Self> {
        Ok(Self::with(Writer::start()?, access, buffer))
    }

    /// Without a thread: each line is written at once.
    pub(crate) fn direct(access: bool, buffer: usize) -> Self {
        Self::with(Writer::direct(), access, buffer)
    }

    /// Starts the writing thread with the next line.
    pub(crate) fn use_thread(&self) {
        self.writer.use_thread();
    }

    fn with(writer: Writer, access: bool, buffer: usize) -> Self {
        let events = writer.buffer(buffer::Stream::Error, buffer);
        Self { writer, events, access, buffer }
    }

    /// Installs the subscriber for events, from `level` up. Only the first call has an effect.
    pub(crate) fn install(&self, level: tracing::Level) {
        // A subscriber of the program or of a test stays installed.
        let _ = tracing::subscriber::set_global_default(Events::new(Arc::clone(&self.events), level));
    }

    /// Changes the log level.
    pub(crate) fn change_level(level: tracing::Level) {
        events::change_level(level);
    }

    /// The access log of one thread, if it is enabled.
    pub(crate) fn access(&self) -> Option<AccessLog> {
        self.access.then(|| AccessLog::new(self.writer.buffer(buffer::Stream::Output, self.buffer)))
    }

    /// Writes all buffers, and ends the thread.
    pub(crate) fn finish(&mut self) {
        self.writer.finish();
    }
}

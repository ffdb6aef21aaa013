//! What the server writes about itself: events to stderr, and a line for each request to stdout.
//!
//! Writing never keeps a request waiting. A line is formatted by hand into a buffer of its thread, and one thread for
//! the whole process writes the buffers out. A buffer has a limit (`log.buffer`): beyond it lines are dropped and
//! counted, and the count is written where they would have been.

mod access;
mod events;
mod lane;
mod measured;
mod reopen;
mod text;

pub(crate) use access::{AccessLog, Line};
pub(crate) use events::Events;
use lane::{Lane, Writer};
pub use measured::MeasuredLog;

use std::io;
use std::sync::Arc;

pub(crate) use reopen::Files;

/// The writing thread, and what it needs to be asked to stop.
#[derive(Debug)]
pub(crate) struct Logs {
    writer: Writer,
    events: Arc<Lane>,
    access: bool,
    buffer: usize,
}

impl Logs {
    /// Starts the writing thread. `buffer` is the most bytes that may wait, for each thread that writes.
    pub(crate) fn start(access: bool, buffer: usize) -> io::Result<Self> {
        Ok(Self::with(Writer::start()?, access, buffer))
    }

    /// Without a thread: whoever has a line writes it at once.
    pub(crate) fn direct(access: bool, buffer: usize) -> Self {
        Self::with(Writer::direct(), access, buffer)
    }

    /// From now on a thread writes, which begins with the first line.
    pub(crate) fn use_thread(&self) {
        self.writer.use_thread();
    }

    fn with(writer: Writer, access: bool, buffer: usize) -> Self {
        let events = writer.lane(lane::Stream::Error, buffer);
        Self { writer, events, access, buffer }
    }

    /// Sends the process's events here, from `level` up. The first call counts.
    pub(crate) fn install(&self, level: tracing::Level) {
        // A program, or a test, that has a subscriber of its own keeps it.
        let _ = tracing::subscriber::set_global_default(Events::new(Arc::clone(&self.events), level));
    }

    /// From now on events from `level` up are written.
    pub(crate) fn change_level(level: tracing::Level) {
        events::change_level(level);
    }

    /// The access log of one thread, unless there is to be none.
    pub(crate) fn access(&self) -> Option<AccessLog> {
        self.access.then(|| AccessLog::new(self.writer.lane(lane::Stream::Output, self.buffer)))
    }

    /// Writes all that waits, and ends the thread.
    pub(crate) fn finish(&mut self) {
        self.writer.finish();
    }
}

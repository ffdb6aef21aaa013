//! What the server writes about itself: events to stderr, and a line for each request to stdout.
//!
//! Writing never keeps a request waiting. A line is formatted by hand into a buffer of its thread, and one thread for
//! the whole process writes the buffers out. A buffer has a limit (`log.buffer`): beyond it lines are dropped and
//! counted, and the count is written where they would have been.

mod access;
mod events;
mod lane;
mod text;

pub(crate) use access::{AccessLog, Line};
pub(crate) use events::Events;
use lane::{Lane, Writer};

use std::io;
use std::sync::Arc;

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
        let writer = Writer::start()?;
        let events = writer.lane(lane::Stream::Error, buffer);
        Ok(Self { writer, events, access, buffer })
    }

    /// Sends the process's events here, from `level` up. The first call counts.
    pub(crate) fn install(&self, level: tracing::Level) {
        // A program, or a test, that has a subscriber of its own keeps it.
        let _ = tracing::subscriber::set_global_default(Events::new(Arc::clone(&self.events), level));
    }

    /// The access log of one thread, unless there is to be none.
    pub(crate) fn access(&self) -> Option<AccessLog> {
        self.access.then(|| AccessLog::new(self.writer.lane(lane::Stream::Output, self.buffer)))
    }

    /// Writes all that waits, and ends the thread.
    pub(crate) fn finish(self) {
        self.writer.finish();
    }
}

//! The log by itself, without a server, for `skep bench log`: lines take the way that they take in a server, and end in /dev/null.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::lane::{Lane, Stream, Writer};
use super::{AccessLog, Events, Line};

/// The most bytes that may wait: more than ever do between two calls of [`MeasuredLog::write`].
const BUFFER: usize = 4 << 20;

/// A log that is measured. Who has said some lines has them [written](MeasuredLog::write), so that the measured time has the writing in it.
///
/// ```
/// let mut log = skep_server::MeasuredLog::start()?;
/// tracing::dispatcher::with_default(&log.events(), || tracing::info!(number = 1, "answered"));
/// log.access("/writings/bees?page=2");
/// assert!(log.write() > 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MeasuredLog {
    writer: Writer,
    lane: Arc<Lane>,
    access: AccessLog,
    spare: Vec<u8>,
}

impl MeasuredLog {
    /// Starts the writing thread, as a server does. See [`MeasuredLog`].
    pub fn start() -> io::Result<Self> {
        let writer = Writer::start()?;
        let lane = writer.lane(Stream::Null, BUFFER);
        Ok(Self { writer, access: AccessLog::new(Arc::clone(&lane)), lane, spare: Vec::new() })
    }

    /// Who writes the events of a server, from the level `info` up. See [`MeasuredLog`].
    #[must_use]
    pub fn events(&self) -> tracing::Dispatch {
        tracing::Dispatch::new(Events::new(Arc::clone(&self.lane), tracing::Level::INFO))
    }

    /// A line of the access log. See [`MeasuredLog`].
    pub fn access(&self, target: &str) {
        let (status, time) = (Some(StatusCode::OK), Duration::from_micros(85));
        self.access.write(&Line { peer: "127.0.0.1", method: "GET", target, status, bytes: 5120, time });
    }

    /// Writes what waits, on this thread. How many bytes that were. See [`MeasuredLog`].
    pub fn write(&mut self) -> usize {
        self.lane.write(&mut self.spare)
    }
}

impl Drop for MeasuredLog {
    fn drop(&mut self) {
        self.writer.finish();
    }
}

//! The server's log: events of `tracing`, and a line for each request.
//!
//! Logging never blocks a request for long. Each thread formats its lines into buffers, and one thread per process
//! writes the buffers to files, streams and sockets (`buffer`). What waits for it survives the process
//! (`last_lines`). Events go to the outputs that take them (`events`, `output`), each in its layout.
//!
//! It knows nothing of connections and processes.

mod access;
mod buffer;
mod events;
mod last_lines;
mod layout;
mod levels;
mod mask;
mod output;
mod own;
mod raises;
mod record;
mod reopen;
mod repeats;
mod settings;
mod sink;
mod text;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use access::{AccessLine, AccessLog, AccessOutput};
use buffer::{Capacity, Destination, LogBuffer, Writer};
use events::{Events, Output};
pub use last_lines::LastLines;
use last_lines::{Area, Areas, Progress};
pub(crate) use layout::LONGEST as LONGEST_RECORD;
#[cfg(any(test, feature = "otlp"))]
pub(crate) use layout::LogRecord;
use layout::write_json;
pub use levels::{LevelChange, Levels};
use mask::Mask;
pub(crate) use mask::masked;
pub use output::EventOutput;
use output::Target;
pub use own::OwnSubscriber;
pub use raises::Raise;
pub use reopen::StreamFiles;
pub use settings::{CategoryLevels, Names, Settings};
use sink::{Sink, Stopped};
use skep::log::Recorder;

/// How long outputs are waited for that take the last lines of others: a supervisor has more to do.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The writing thread, its buffers, and what they are written to.
#[derive(Debug)]
pub struct Logs {
    writer: Arc<Writer>,
    /// Of the access log, if it is enabled.
    access: Vec<AccessOutput>,
    capacity: Capacity,
    /// Each file is open once.
    sinks: Mutex<HashMap<String, Arc<Sink>>>,
    own: Option<OwnSubscriber>,
}

impl Logs {
    /// Starts the writing thread. `areas`: for lines that wait, if somebody writes the last ones of this process.
    pub fn start(settings: &Settings, own: Option<OwnSubscriber>, areas: Option<Areas>) -> io::Result<Self> {
        let logs = Self::direct(settings, own);
        logs.writer.use_thread(areas);
        logs.writer.begin()?;
        logs.start_own();
        Ok(logs)
    }

    /// Without a thread: each line is written at once. Installs the subscriber for events, which only has an effect
    /// once. The program's own one begins with [`start_own`](Self::start_own).
    pub fn direct(settings: &Settings, own: Option<OwnSubscriber>) -> Self {
        let access = if settings.access { settings.access_outputs.clone() } else { Vec::new() };
        let mut logs =
            Self { writer: Arc::default(), access, capacity: settings.capacity(), sinks: Mutex::default(), own };
        let output = |EventOutput { target, layout, filter }: EventOutput| {
            let buffer = logs.buffer(&target, layout.end());
            Output { filter, layout, buffer }
        };
        let outputs = settings.outputs.iter().cloned().map(output).collect();
        if let Ok(levels) = Levels::new(&settings.level, &settings.levels.0) {
            levels.install();
        }
        let mask = Mask::new(&settings.mask.0);
        mask.install();
        let events = Events::new(outputs, mask, settings.repeats, settings.recorder > 0, settings.line);
        let recorder = Recorder { limit: settings.recorder, slow: settings.slow, write: |_| () };
        if !events.install(recorder, logs.own.as_ref()) && logs.own.take().is_some() {
            tracing::warn!(target: "skep::log", "Server::subscriber has no effect: main has installed a subscriber");
        }
        logs
    }

    fn buffer(&self, target: &Target, end: u8) -> Arc<LogBuffer> {
        let (name, description, sink) = (target.name(), target.describe(), self.sink(target));
        self.writer.buffer(Destination { name, description, sink, end }, self.capacity)
    }

    fn sink(&self, target: &Target) -> Arc<Sink> {
        let mut sinks = skep_units::lock(&self.sinks);
        Arc::clone(sinks.entry(target.name()).or_insert_with(|| Arc::new(target.open())))
    }

    /// Starts the writing thread with the next line.
    pub fn use_thread(&self, areas: Option<Areas>) {
        self.writer.use_thread(areas);
    }

    /// Makes the program's own subscriber, if it has one, in this process.
    pub fn start_own(&self) {
        self.own.iter().for_each(OwnSubscriber::start);
    }

    /// Writes what processes left behind that are no more.
    pub fn write_last_lines(&self, areas: &Areas, is_gone: impl Fn(u32) -> bool) {
        let deadline = Instant::now() + LAST_LINES;
        while let Some(area) = areas.next() {
            let process = area.owner();
            if process != 0 && is_gone(process) {
                self.write_rest(process, &area, deadline.saturating_duration_since(Instant::now()));
                area.release();
            }
        }
    }

    fn write_rest(&self, process: u32, area: &Area, patience: Duration) {
        let rest = area.rest();
        if rest.lines.is_empty() && rest.missed == 0 {
            return;
        }
        let Ok(target) = Target::of_description(&rest.output) else { return };
        let (output, sink) = (target.name(), self.sink(&target));
        let taken = match (&*sink, rest.begun) {
            (Sink::File(file), Some(begun)) => file.has_taken(begun, &rest.lines),
            _ => 0,
        };
        let left = &rest.lines[taken..];
        if left.is_empty() && rest.missed == 0 {
            return;
        }
        let count = |lines: &[u8]| memchr::memchr_iter(rest.end, lines).count();
        let (lines, missed) = (count(left), rest.missed);
        tracing::warn!(target: "skep::log", process, output, lines, missed, "the last lines of a process that has ended");
        if let Err(Stopped { written, error }) = sink.write(left, rest.end, patience, Progress::NONE) {
            let lost = count(&left[written..]);
            tracing::error!(target: "skep::log", process, output, lost, %error, "not all of them can be written");
        }
    }

    /// The access log of one thread, if it is enabled.
    pub fn access(&self) -> Option<AccessLog> {
        let output = |output: &AccessOutput| (output.clone(), self.buffer(&output.target, b'\n'));
        (!self.access.is_empty()).then(|| AccessLog::new(self.access.iter().map(output).collect()))
    }

    /// Writes all buffers, and ends the thread.
    pub fn finish(&self) {
        self.own.iter().for_each(OwnSubscriber::finish);
        self.writer.finish();
    }
}

/// Records of outputs `otlp` go there from now on; false means that there is no room. The first queue stays.
pub fn install_queue(push: impl Fn(&[u8]) -> bool + Send + Sync + 'static) {
    sink::install_queue(Box::new(push));
}

/// The last warnings and errors of this process: what an output `ring` has.
pub fn recent() -> Vec<String> {
    sink::recent()
}

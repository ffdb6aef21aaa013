//! The server's log: events of [`tracing`], and a line for each request.
//!
//! Logging never blocks a request for long. Each thread formats its lines into buffers, and one thread per process writes the buffers to
//! files, streams and sockets ([`buffer`]). Events go to the outputs that take them ([`events`], [`output`]), each in its layout.
//!
//! It knows nothing of connections and processes.

mod access;
mod buffer;
mod events;
mod layout;
mod levels;
mod mask;
mod output;
mod raises;
mod record;
mod reopen;
mod repeats;
mod settings;
mod sink;
mod text;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use access::{AccessLog, AccessOutput, Line};
use buffer::{Destination, LogBuffer, Writer};
use events::{Events, Output};
use layout::write_json;
pub(crate) use levels::{LevelChange, Levels};
use mask::Mask;
pub(crate) use mask::masked;
pub(crate) use output::EventOutput;
use output::Place;
pub(crate) use raises::Raise;
pub(crate) use reopen::Files;
pub(crate) use settings::{CategoryLevels, Names, Settings};
use sink::Sink;
use skep::log::Recorder;

/// The writing thread, its buffers, and what they are written to.
#[derive(Debug)]
pub(crate) struct Logs {
    writer: Arc<Writer>,
    /// Of the access log, if it is enabled.
    access: Vec<AccessOutput>,
    buffer: usize,
    /// Each file is open once.
    sinks: Mutex<HashMap<String, Arc<Sink>>>,
}

impl Logs {
    /// Starts the writing thread.
    pub(crate) fn start(settings: &Settings) -> io::Result<Self> {
        let logs = Self::direct(settings);
        logs.writer.use_thread();
        logs.writer.begin()?;
        Ok(logs)
    }

    /// Without a thread: each line is written at once. Installs the subscriber for events, which only has an effect once.
    pub(crate) fn direct(settings: &Settings) -> Self {
        let access = if settings.access { settings.access_outputs.clone() } else { Vec::new() };
        let logs = Self { writer: Arc::default(), access, buffer: settings.buffer, sinks: Mutex::default() };
        let output = |EventOutput { place, layout, filter }: EventOutput| {
            let buffer = logs.buffer(&place, layout.end());
            Output { filter, layout, buffer }
        };
        let outputs = settings.outputs.iter().cloned().map(output).collect();
        if let Ok(levels) = Levels::new(&settings.level, &settings.levels.0) {
            levels.install();
        }
        let mask = Mask::new(&settings.mask.0);
        mask.install();
        let events = Events::new(outputs, mask, settings.repeats, settings.recorder > 0, settings.line);
        events.install(Recorder { limit: settings.recorder, slow: settings.slow, write: |_| () });
        logs
    }

    fn buffer(&self, place: &Place, end: u8) -> Arc<LogBuffer> {
        let name = place.name();
        let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        let sink = Arc::clone(sinks.entry(name.clone()).or_insert_with(|| Arc::new(place.open())));
        self.writer.buffer(Destination { name, sink, end }, self.buffer)
    }

    /// Starts the writing thread with the next line.
    pub(crate) fn use_thread(&self) {
        self.writer.use_thread();
    }

    /// The access log of one thread, if it is enabled.
    pub(crate) fn access(&self) -> Option<AccessLog> {
        let output = |output: &AccessOutput| (output.clone(), self.buffer(&output.place, b'\n'));
        (!self.access.is_empty()).then(|| AccessLog::new(self.access.iter().map(output).collect()))
    }

    /// Writes all buffers, and ends the thread.
    pub(crate) fn finish(&self) {
        self.writer.finish();
    }
}

/// The last warnings and errors of this process: what an output `ring` has.
pub(crate) fn recent() -> Vec<String> {
    sink::recent()
}

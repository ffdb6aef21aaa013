//! The subscriber: takes events of [`tracing`] apart, and hands them to the outputs.
//!
//! A callsite whose level is off costs one relaxed load, unless the flight recorder keeps its lines, or a request that
//! is in progress has raised its level: then it asks whose request it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use skep::log::{CategoryLine, Recorder, RequestLog, raised_level, with_request};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record as SpanRecord};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use super::buffer::LogBuffer;
use super::layout::Layout;
use super::levels;
use super::mask::Mask;
use super::output::Filter;
use super::own::OwnSubscriber;
use super::record::{Record, Scratch, Visitor};
use super::repeats::{Folded, Repeats, Verdict};
use crate::sys::tee::Tee;

/// Writes events. It wants no spans.
#[derive(Clone, Debug)]
pub(crate) struct Events(Arc<EventLog>);

#[derive(Debug)]
struct EventLog {
    outputs: Vec<Output>,
    /// Some outputs take what they take from all others.
    has_exclusive: bool,
    mask: Mask,
    repeats: Mutex<Repeats>,
    is_recording: bool,
    /// The most bytes of a message and its fields.
    longest: usize,
}

/// An output that is open.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) filter: Filter,
    pub(super) layout: Layout,
    pub(super) buffer: Arc<LogBuffer>,
}

/// Those that the process has installed, for the flight recorder and the writing thread.
static INSTALLED: OnceLock<Events> = OnceLock::new();

/// There are repeated lines that were not reported.
static REPEATS: AtomicBool = AtomicBool::new(false);

impl Events {
    pub(super) fn new(outputs: Vec<Output>, mask: Mask, repeats: u32, is_recording: bool, longest: usize) -> Self {
        let has_exclusive = outputs.iter().any(|output| output.filter.is_exclusive);
        let repeats = Mutex::new(Repeats::new(repeats));
        Self(Arc::new(EventLog { outputs, has_exclusive, mask, repeats, is_recording, longest }))
    }

    /// Makes these the events of the process. False if a subscriber of the program or of a test stays installed.
    /// `recorder`: the bytes kept of each request, and when a request is slow. `own`: of the program, beside these.
    pub(super) fn install(self, mut recorder: Recorder, own: Option<&OwnSubscriber>) -> bool {
        let result = match own {
            Some(own) => set_global_default(Tee::new(self.clone(), own.cell())),
            None => set_global_default(self.clone()),
        };
        if result.is_err() {
            return false;
        }
        skep::log::install_line_writer(take_line);
        let is_recording = self.0.is_recording;
        if INSTALLED.set(self).is_ok() && is_recording {
            recorder.write = write_recorded;
            skep::log::install_recorder(recorder);
        }
        true
    }
}

/// Writes a line of a category, if events of this subscriber are ours.
pub(super) fn take_line(subscriber: &Dispatch, line: &CategoryLine<'_>) -> bool {
    let Some(Events(shared)) = subscriber.downcast_ref() else { return false };
    with_request(|request| shared.event(line.metadata, request, |visitor| visitor.add_line(line)));
    true
}

/// True if `report_repeats` has something to report.
pub(super) fn has_repeats() -> bool {
    REPEATS.load(Ordering::Relaxed)
}

/// Reports how often the last line was repeated.
pub(super) fn report_repeats() {
    if !REPEATS.swap(false, Ordering::Relaxed) {
        return;
    }
    let Some(Events(shared)) = INSTALLED.get() else { return };
    let folded = skep_units::lock(&shared.repeats).take();
    tell_repeats(folded);
}

fn tell_repeats(folded: Option<Folded>) {
    if let Some(Folded { count, category }) = folded {
        tracing::warn!(target: "skep::log", count, category, "the last line of this category was repeated");
    }
}

/// Keeps an event for the page of an error in development.
fn show(record: &Record<'_>, line: &mut Vec<u8>) {
    if let Some(request) = record.request.filter(|request| request.shows_lines()) {
        line.clear();
        Layout::Text { colour: false }.write(line, record);
        request.show(line);
    }
}

/// Writes what [`EventLog::record`] has kept: the number of the output, and the line.
fn write_recorded(entry: &[u8]) {
    let (Some(Events(shared)), Some((number, line))) = (INSTALLED.get(), entry.split_first()) else { return };
    if let Some(output) = shared.outputs.get(usize::from(*number)) {
        output.buffer.push(false, |out| out.extend_from_slice(line));
    }
}

impl Subscriber for Events {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if !metadata.is_event() {
            return Interest::never();
        }
        if levels::enabled(metadata) {
            return Interest::always();
        }
        let raised = raised_level().is_some_and(|level| *metadata.level() <= level);
        if raised || self.0.records(*metadata.level()) { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && (levels::enabled(metadata)
                || with_request(|request| self.0.wants(*metadata.level(), request) != Interested::Not))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let recorded = if self.0.is_recording { LevelFilter::DEBUG } else { LevelFilter::OFF };
        let raised = raised_level().map_or(LevelFilter::OFF, LevelFilter::from_level);
        Some(levels::highest().max(recorded).max(raised))
    }

    fn event(&self, event: &Event<'_>) {
        with_request(|request| self.0.event(event.metadata(), request, |visitor| event.record(visitor)));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &SpanRecord<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What is done with an event whose level is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interested {
    Not,
    /// It is kept in case the request fails.
    Keep,
    /// The request has raised its level.
    Write,
}

impl EventLog {
    fn records(&self, level: Level) -> bool {
        self.is_recording && level <= Level::DEBUG
    }

    fn wants(&self, level: Level, request: Option<&RequestLog>) -> Interested {
        let Some(request) = request else { return Interested::Not };
        if request.raised().is_some_and(|raised| level <= raised) {
            Interested::Write
        } else if self.records(level) && request.is_recorded() {
            Interested::Keep
        } else {
            Interested::Not
        }
    }

    /// `fill` adds message and fields.
    fn event(&self, metadata: &Metadata<'_>, request: Option<&RequestLog>, fill: impl FnOnce(&mut Visitor<'_>)) {
        // Without a recorder and raised requests, only what is on comes here.
        let is_on = !self.is_recording && raised_level().is_none() || levels::enabled(metadata);
        let wanted = if is_on { Interested::Write } else { self.wants(*metadata.level(), request) };
        if wanted == Interested::Not {
            return;
        }
        Scratch::with(|scratch| {
            scratch.fill((&self.mask, self.longest), fill);
            scratch.record(metadata, request, |record, line| match wanted {
                Interested::Keep => self.record(record, line),
                _ => self.write(record, line),
            });
        });
    }

    /// Keeps an event with its request.
    fn record(&self, record: &Record<'_>, line: &mut Vec<u8>) {
        let Some(request) = record.request else { return };
        show(record, line);
        for (number, output) in (0..u8::MAX).zip(&self.outputs) {
            if self.takes(output, record) {
                line.clear();
                line.push(number);
                output.layout.write(line, record);
                request.record(line);
            }
        }
    }

    /// Writes an event, unless it repeats the one before it.
    fn write(&self, record: &Record<'_>, line: &mut Vec<u8>) {
        match self.judge(record) {
            Verdict::Fold => return REPEATS.store(true, Ordering::Relaxed),
            Verdict::Write(folded) => tell_repeats(folded),
        }
        show(record, line);
        let severe = record.level <= Level::WARN;
        if let Some(request) = record.request.filter(|_| self.is_recording && record.level == Level::ERROR) {
            // What led to it comes first.
            request.write_recorded();
        }
        for output in self.outputs.iter().filter(|output| self.takes(output, record)) {
            line.clear();
            output.layout.write(line, record);
            output.buffer.push(severe, |out| out.extend_from_slice(line));
        }
    }

    fn judge(&self, record: &Record<'_>) -> Verdict {
        // Reports of the log itself come from its own thread.
        if record.category == "skep::log" {
            return Verdict::Write(None);
        }
        skep_units::lock(&self.repeats).judge(record)
    }

    fn takes(&self, output: &Output, record: &Record<'_>) -> bool {
        if !output.filter.takes(record) {
            return false;
        }
        let is_taken = |other: &Output| other.filter.is_exclusive && other.filter.names(record.category);
        !self.has_exclusive || output.filter.names(record.category) || !self.outputs.iter().any(is_taken)
    }
}

//! What an event costs at the place that says it: when nobody listens, when its level is off, when somebody listens and
//! throws it away, and when it is written out as a line.
//!
//! The facade is `tracing`, which Skep and its applications use. The sinks here are this file's own, as plain as can be; whoever
//! has others hands them in as [`LogSink`]s, as the command `skep` does with Skep's own log.

use std::fmt::{self, Write};
use std::hint::black_box;
use std::sync::Mutex;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, dispatcher};

use super::{Play, Work, play};
use crate::compare::Rounds;

/// Room that a written line has before it is thrown away.
const ROOM: usize = 64 << 10;

/// Somebody who writes lines, to be measured by `skep bench log` beside what it knows itself.
///
/// ```
/// use skep_bench::LogSink;
///
/// // It is told how many lines, and how one event for each is said: with a message and two fields.
/// let sink = LogSink::new("nobody", |lines, say| say(lines));
/// assert_eq!(sink.name(), "nobody");
/// ```
pub struct LogSink {
    name: String,
    write: Box<Lines>,
}

/// Says so many lines, by this means or its own, and writes them.
type Lines = dyn FnMut(u64, fn(u64));

impl LogSink {
    /// `write` says so many lines and sees to it that they are written before it returns. See [`LogSink`].
    pub fn new(name: impl Into<String>, write: impl FnMut(u64, fn(u64)) + 'static) -> Self {
        Self { name: name.into(), write: Box::new(write) }
    }

    /// As it is shown. See [`LogSink`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogSink").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One matrix.
pub(crate) fn run(sinks: Vec<LogSink>, how: Play) -> Result<Rounds, String> {
    // Each variant is under a subscriber of its own, which is entered for the length of a batch.
    let dispatches = [
        ("nobody listens", dispatcher::Dispatch::none()),
        ("level off", dispatcher::Dispatch::new(Sink { level: Level::WARN, text: None })),
        ("thrown away", dispatcher::Dispatch::new(Sink { level: Level::INFO, text: None })),
        ("written", dispatcher::Dispatch::new(Sink { level: Level::INFO, text: Some(Mutex::default()) })),
    ];
    let mut works: Vec<(String, Work<'_>)> = vec![("format! alone".to_owned(), Box::new(format_alone))];
    for (name, dispatch) in dispatches {
        let work = move |count: u64| {
            dispatcher::with_default(&dispatch, || events(count));
            Ok(0)
        };
        works.push((name.to_owned(), Box::new(work)));
    }
    for LogSink { name, mut write } in sinks {
        let work = move |count: u64| {
            write(count, events);
            Ok(0)
        };
        works.push((name, Box::new(work)));
    }
    play("an event with a message and two fields", &mut works, how)
}

fn events(count: u64) {
    for number in 0..count {
        tracing::info!(number, path = "/writings/bees", "answered");
    }
}

/// The same text without a log: what is left is the text.
#[expect(clippy::unnecessary_wraps, reason = "it is one of several kinds of work, others of which fail")]
fn format_alone(count: u64) -> Result<u64, String> {
    let mut line = String::with_capacity(256);
    for number in 0..count {
        line.clear();
        let _ = writeln!(line, "INFO answered number={number} path=\"{}\"", black_box("/writings/bees"));
        black_box(&line);
    }
    Ok(0)
}

/// Listens from a level up; writes lines into memory, if it has a place for them.
struct Sink {
    level: Level,
    text: Option<Mutex<String>>,
}

impl Subscriber for Sink {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::from_level(self.level))
    }

    fn event(&self, event: &Event<'_>) {
        let Some(text) = &self.text else {
            black_box(event);
            return;
        };
        let Ok(mut text) = text.lock() else { return };
        if text.len() > ROOM {
            text.clear();
        }
        let _ = write!(text, "{}", event.metadata().level());
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_the_event() {
        let sink = std::sync::Arc::new(Sink { level: Level::INFO, text: Some(Mutex::default()) });
        tracing::subscriber::with_default(std::sync::Arc::clone(&sink), || events(2));
        let text = sink.text.as_ref().unwrap().lock().unwrap().clone();
        let line = |number| format!("INFO answered number={number} path=\"/writings/bees\"\n");
        assert_eq!(text, line(0) + &line(1));
    }
}

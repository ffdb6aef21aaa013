//! Writes events of `tracing` to the component's standard error, for the host: `wit/skep.wit` says how a line looks.
//!
//! The stream is asked for with each event and given back: a handle that stayed would be copied into every instance.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use wasip2::cli::stderr::get_stderr;

/// Most bytes of one call: `wasi:io/streams` says so.
const PIECE: usize = 4096;

/// Writes events from a level up. Spans cost nothing and say nothing.
struct Events {
    level: Level,
}

/// Sends all events from now on to the host.
pub(crate) fn install(level: Level) {
    // An application that has a subscriber of its own keeps it.
    let _ = tracing::subscriber::set_global_default(Events { level });
}

/// A handler panicked, and this instance is at its end: there is no unwinding in it.
pub(crate) fn panicked(text: &str) {
    write(3, &format!("skep::request: panicked {text}"));
}

impl Subscriber for Events {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level.into())
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let mut text = format!("{}:", metadata.target());
        if !fields.message.is_empty() {
            text.push(' ');
            text.push_str(&fields.message);
        }
        text.push_str(&fields.others);
        write(severity(*metadata.level()), &text);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Of syslog (RFC 5424, 6.2.1).
fn severity(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

/// Writes an event. Nobody hears of one that cannot be written.
pub(crate) fn write(severity: u8, text: &str) {
    let mut lines = String::with_capacity(text.len() + 8);
    for line in text.lines() {
        let _ = writeln!(lines, "<{severity}>{line}");
    }
    let stream = get_stderr();
    for piece in lines.as_bytes().chunks(PIECE) {
        if stream.blocking_write_and_flush(piece).is_err() {
            return;
        }
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let _ = write!(self.message, "{value:?}");
            return;
        }
        let value = format!("{value:?}");
        let quoted = value.is_empty() || value.contains(|letter: char| letter.is_whitespace() || letter == '"');
        let _ = if quoted {
            write!(self.others, " {}={value:?}", field.name())
        } else {
            write!(self.others, " {}={value}", field.name())
        };
    }
}

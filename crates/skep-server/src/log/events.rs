//! Events of [`tracing`], one line each: `2026-11-21T07:30:00.123Z WARN target: message key=value`.

use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::buffer::LogBuffer;
use super::text::{write_escaped, write_time};

/// Writes events. Spans are ignored.
#[derive(Debug)]
pub(crate) struct Events {
    buffer: Arc<LogBuffer>,
}

/// The log level of the process, as [`number`] counts.
static LEVEL: AtomicU8 = AtomicU8::new(3);

const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

impl Events {
    pub(crate) fn new(buffer: Arc<LogBuffer>, level: Level) -> Self {
        LEVEL.store(number(level), Ordering::Relaxed);
        Self { buffer }
    }
}

fn number(level: Level) -> u8 {
    LEVELS.iter().zip(1..).find(|(known, _)| **known == level).map_or(0, |(_, number)| number)
}

/// Changes the log level.
pub(crate) fn change_level(level: Level) {
    LEVEL.store(number(level), Ordering::Relaxed);
    // Each callsite caches whether it is enabled.
    tracing::callsite::rebuild_interest_cache();
}

impl Subscriber for Events {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && number(*metadata.level()) <= LEVEL.load(Ordering::Relaxed)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        LEVELS.get(usize::from(LEVEL.load(Ordering::Relaxed)).wrapping_sub(1)).map(|level| (*level).into())
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.buffer.push(|out| write_event(out, SystemTime::now(), event.metadata(), &fields));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn write_event(out: &mut Vec<u8>, now: SystemTime, metadata: &Metadata<'_>, fields: &Fields) {
    write_time(out, now);
    for part in [" ", metadata.level().as_str(), " ", metadata.target(), ":"] {
        out.extend_from_slice(part.as_bytes());
    }
    if !fields.message.is_empty() {
        out.push(b' ');
        write_escaped(out, &fields.message);
    }
    for (name, value) in &fields.others {
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        write_value(out, value);
    }
    out.push(b'\n');
}

/// Quotes a value that contains white space or quotes.
fn write_value(out: &mut Vec<u8>, value: &str) {
    let quoted = value.is_empty() || value.contains(|character: char| character.is_whitespace() || character == '"');
    if quoted {
        out.push(b'"');
    }
    write_escaped(out, value);
    if quoted {
        out.push(b'"');
    }
}

#[derive(Debug, Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, String)>,
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
        } else {
            self.others.push((field.name(), format!("{value:?}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_pass_for_another_field() {
        let mut out = Vec::new();
        write_value(&mut out, "x admin=\"true\"\n");
        assert_eq!(out, b"\"x admin=\\\"true\\\"\\u{a}\"");
    }
}

//! Lines for people, and logfmt.

use tracing::Level;

use super::level_in_lower_case;
use crate::log::record::Record;
use crate::log::text::write_escaped;

const DIM: &[u8] = b"\x1b[2m";
const RESET: &[u8] = b"\x1b[0m";

pub(super) fn write_text(out: &mut Vec<u8>, record: &Record<'_>, colour: bool) {
    let paint = |out: &mut Vec<u8>, code: &[u8]| {
        if colour {
            out.extend_from_slice(code);
        }
    };
    paint(out, DIM);
    out.extend_from_slice(record.time.as_bytes());
    paint(out, RESET);
    out.push(b' ');
    paint(out, colour_of(record.level));
    out.extend_from_slice(record.level.as_str().as_bytes());
    paint(out, RESET);
    out.push(b' ');
    paint(out, DIM);
    write_escaped(out, record.category);
    out.push(b':');
    paint(out, RESET);
    write_message(out, record);
    write_request(out, record);
    out.push(b'\n');
}

fn colour_of(level: Level) -> &'static [u8] {
    match level {
        Level::ERROR => b"\x1b[31m",
        Level::WARN => b"\x1b[33m",
        Level::INFO => b"\x1b[32m",
        Level::DEBUG => b"\x1b[34m",
        Level::TRACE => b"\x1b[35m",
    }
}

/// ` message key=value`
pub(super) fn write_message(out: &mut Vec<u8>, record: &Record<'_>) {
    if !record.fields.message().is_empty() {
        out.push(b' ');
        write_escaped(out, record.fields.message());
    }
    for (name, value, _) in record.fields.iter() {
        write_pair(out, name, value);
    }
}

/// ` request=... trace=... user=...`
pub(super) fn write_request(out: &mut Vec<u8>, record: &Record<'_>) {
    if let Some(id) = record.request_id() {
        out.extend_from_slice(b" request=");
        out.extend_from_slice(&id);
    }
    for (name, value) in [("trace", record.trace()), ("user", record.user())] {
        if let Some(value) = value {
            write_pair(out, name, value);
        }
    }
}

pub(super) fn write_logfmt(out: &mut Vec<u8>, record: &Record<'_>) {
    for (name, value) in
        [("time=", record.time), (" level=", level_in_lower_case(record.level)), (" category=", record.category)]
    {
        out.extend_from_slice(name.as_bytes());
        write_value(out, value);
    }
    if !record.fields.message().is_empty() {
        write_pair(out, "msg", record.fields.message());
    }
    for (name, value, _) in record.fields.iter() {
        write_pair(out, name, value);
    }
    write_request(out, record);
    out.push(b'\n');
}

fn write_pair(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.push(b'=');
    write_value(out, value);
}

/// Quotes a value that contains white space or quotes.
pub(super) fn write_value(out: &mut Vec<u8>, value: &str) {
    let needs_quotes = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '=');
    let quoted = value.is_empty() || value.contains(needs_quotes);
    if quoted {
        out.push(b'"');
    }
    write_escaped(out, value);
    if quoted {
        out.push(b'"');
    }
}

//! JSON, and the Elastic Common Schema.

use skep_units::is_unprintable;

use super::level_in_lower_case;
use crate::log::record::{Kind, Record};
use crate::log::text::{is_plain, write_padded};

const ECS_VERSION: &str = "8.11.0";

pub(super) fn write(out: &mut Vec<u8>, record: &Record<'_>) {
    // The time, the level and names of fields in the program's text need no escapes; a category may be an application's
    // own.
    for part in ["{\"time\":\"", record.time, "\",\"level\":\"", level_in_lower_case(record.level), "\""] {
        out.extend_from_slice(part.as_bytes());
    }
    write_member(out, ",\"category\":", record.category);
    write_member(out, ",\"message\":", record.fields.message());
    write_request(out, record, [",\"request\":", ",\"trace\":", ",\"user\":"]);
    write_fields(out, record, ",\"fields\":{");
    out.extend_from_slice(b"}\n");
}

pub(super) fn write_ecs(out: &mut Vec<u8>, record: &Record<'_>) {
    for part in ["{\"@timestamp\":\"", record.time, "\",\"log.level\":\"", level_in_lower_case(record.level), "\""] {
        out.extend_from_slice(part.as_bytes());
    }
    write_member(out, ",\"message\":", record.fields.message());
    write_member(out, ",\"ecs.version\":", ECS_VERSION);
    write_member(out, ",\"log.logger\":", record.category);
    out.extend_from_slice(b",\"process.pid\":");
    write_padded(out, u64::from(std::process::id()), 1);
    if let (Some(file), Some(line)) = (record.file, record.line) {
        write_member(out, ",\"log.origin.file.name\":", file);
        out.extend_from_slice(b",\"log.origin.file.line\":");
        write_padded(out, u64::from(line), 1);
    }
    write_request(out, record, [",\"http.request.id\":", ",\"trace.id\":", ",\"user.name\":"]);
    write_fields(out, record, ",\"labels\":{");
    out.extend_from_slice(b"}\n");
}

fn write_request(out: &mut Vec<u8>, record: &Record<'_>, [id, trace, user]: [&str; 3]) {
    if let Some(number) = record.request_id() {
        write_member(out, id, std::str::from_utf8(&number).unwrap_or_default());
    }
    if let Some(text) = record.trace() {
        write_member(out, trace, text);
    }
    if let Some(text) = record.user() {
        write_member(out, user, text);
    }
}

fn write_fields(out: &mut Vec<u8>, record: &Record<'_>, begin: &str) {
    let mut next = begin;
    for (name, value, kind) in record.fields.iter() {
        out.extend_from_slice(next.as_bytes());
        next = ",";
        write_string(out, name);
        out.push(b':');
        match kind {
            Kind::Bare => out.extend_from_slice(value.as_bytes()),
            Kind::Text => write_string(out, value),
        }
    }
    if next == "," {
        out.push(b'}');
    }
}

fn write_member(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    write_string(out, value);
}

/// Writes a string with its quotes. What a reader would not see, or see elsewhere, is escaped as well.
pub(in crate::log) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if is_plain(text) {
        out.extend_from_slice(text.as_bytes());
    } else {
        text.chars().for_each(|letter| write_char(out, letter));
    }
    out.push(b'"');
}

fn write_char(out: &mut Vec<u8>, letter: char) {
    match letter {
        '"' | '\\' => out.extend([b'\\', letter as u8]),
        '\n' => out.extend_from_slice(b"\\n"),
        '\t' => out.extend_from_slice(b"\\t"),
        _ if is_unprintable(letter) => {
            for code in letter.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                out.extend([12, 8, 4, 0].map(|shift| b"0123456789abcdef"[usize::from(*code >> shift) & 15]));
            }
        }
        _ => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

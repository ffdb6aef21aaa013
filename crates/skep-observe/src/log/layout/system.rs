//! Messages for syslog (RFC 5424) and journald.

use tracing::Level;

use super::plain::{write_message, write_request};
use crate::log::record::Record;
use crate::log::text::{write_escaped, write_padded};

/// A facility of syslog (RFC 5424, 6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::log) struct Facility(u8);

/// Who logs.
#[derive(Clone, Debug)]
pub(in crate::log) struct Identity {
    host: String,
    program: String,
}

const FACILITIES: [(&str, u8); 13] = [
    ("user", 1),
    ("mail", 2),
    ("daemon", 3),
    ("auth", 4),
    ("syslog", 5),
    ("local0", 16),
    ("local1", 17),
    ("local2", 18),
    ("local3", 19),
    ("local4", 20),
    ("local5", 21),
    ("local6", 22),
    ("local7", 23),
];

impl Facility {
    pub(in crate::log) const DAEMON: Self = Self(3);

    pub(in crate::log) fn parse(name: &str) -> Result<Self, String> {
        let known = FACILITIES.iter().find(|(known, _)| *known == name);
        let names = || FACILITIES.map(|(name, _)| name).join(", ");
        known.map(|(_, number)| Self(*number)).ok_or_else(|| format!("facility={name}: expected one of {}", names()))
    }
}

impl Identity {
    pub(in crate::log) fn of_process() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let program = std::env::current_exe().ok();
        let program =
            program.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
        Self { host: word(&host, 255), program: word(program.as_deref().unwrap_or("skep"), 48) }
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

/// Visible ASCII without spaces, as header fields of syslog are.
fn word(text: &str, most: usize) -> String {
    let word: String = text.chars().filter(char::is_ascii_graphic).take(most).collect();
    if word.is_empty() { "-".into() } else { word }
}

fn severity(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        Level::DEBUG | Level::TRACE => 7,
    }
}

pub(super) fn write_syslog(out: &mut Vec<u8>, record: &Record<'_>, facility: Facility, identity: &Identity) {
    out.push(b'<');
    write_padded(out, u64::from(facility.0) * 8 + u64::from(severity(record.level)), 1);
    out.extend_from_slice(b">1 ");
    for part in [record.time, " ", &identity.host, " ", &identity.program, " "] {
        out.extend_from_slice(part.as_bytes());
    }
    write_padded(out, u64::from(std::process::id()), 1);
    // No id of the message, no structured data: an element of our own would need a number of an enterprise.
    out.extend_from_slice(b" - - ");
    write_escaped(out, record.category);
    out.push(b':');
    write_message(out, record);
    write_request(out, record);
    out.push(b'\n');
}

pub(super) fn write_journald(out: &mut Vec<u8>, record: &Record<'_>, identity: &Identity) {
    out.extend_from_slice(b"PRIORITY=");
    write_padded(out, u64::from(severity(record.level)), 1);
    write_line(out, "\nSYSLOG_IDENTIFIER=", &identity.program);
    write_line(out, "\nSKEP_CATEGORY=", record.category);
    if let (Some(file), Some(line)) = (record.file, record.line) {
        write_line(out, "\nCODE_FILE=", file);
        out.extend_from_slice(b"\nCODE_LINE=");
        write_padded(out, u64::from(line), 1);
    }
    if let Some(id) = record.request_id() {
        write_line(out, "\nSKEP_REQUEST=", std::str::from_utf8(&id).unwrap_or_default());
    }
    for (name, value) in [("\nSKEP_TRACE=", record.trace()), ("\nSKEP_USER=", record.user())] {
        if let Some(value) = value {
            write_line(out, name, value);
        }
    }
    for (name, value, _) in record.fields.iter() {
        out.extend_from_slice(b"\nF_");
        out.extend(
            name.bytes().map(|byte| if byte.is_ascii_alphanumeric() { byte.to_ascii_uppercase() } else { b'_' }),
        );
        write_line(out, "=", value);
    }
    write_line(out, "\nMESSAGE=", record.fields.message());
    out.extend_from_slice(b"\n\0");
}

fn write_line(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    write_escaped(out, value);
}

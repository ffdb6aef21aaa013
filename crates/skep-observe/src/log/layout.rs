//! How a line looks. No layout lets a value end its line: control characters are escaped everywhere.

mod json;
mod otlp;
mod pattern;
mod plain;
mod system;

use tracing::Level;

use super::record::Record;
pub(super) use json::write_string as write_json;
pub(crate) use otlp::LONGEST;
#[cfg(any(test, feature = "otlp"))]
pub(crate) use otlp::LogRecord;
pub(super) use pattern::Pattern;
pub(super) use system::{Facility, Identity};

/// The layout of an output.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// `2026-11-21T07:30:00.123Z WARN blog::search: message key=value request=...`
    Text {
        /// With colours for a terminal.
        colour: bool,
    },
    /// `time=... level=warn category=blog::search msg="message" key=value`
    Logfmt,
    /// An object a line.
    Json,
    /// Elastic Common Schema, an object a line.
    Ecs,
    /// A pattern in the letters of Log4perl.
    Pattern(Pattern),
    /// RFC 5424.
    Syslog(Facility, Identity),
    /// The native protocol of journald.
    Journald(Identity),
    /// A record for the process that exports.
    Otlp,
}

impl Layout {
    /// A layout by the name that settings use.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        Ok(match name {
            "text" => Self::Text { colour: false },
            "colour" | "color" => Self::Text { colour: true },
            "logfmt" => Self::Logfmt,
            "json" => Self::Json,
            "ecs" => Self::Ecs,
            _ => return Err(format!("layout={name}: expected text, colour, json, ecs or logfmt, or pattern=\"...\"")),
        })
    }

    /// Appends the line of an event, its end included.
    pub(super) fn write(&self, out: &mut Vec<u8>, record: &Record<'_>) {
        match self {
            Self::Text { colour } => plain::write_text(out, record, *colour),
            Self::Logfmt => plain::write_logfmt(out, record),
            Self::Json => json::write(out, record),
            Self::Ecs => json::write_ecs(out, record),
            Self::Pattern(pattern) => pattern.write(out, record),
            Self::Syslog(facility, identity) => system::write_syslog(out, record, *facility, identity),
            Self::Journald(identity) => system::write_journald(out, record, identity),
            Self::Otlp => otlp::write(out, record),
        }
    }

    /// What ends a line.
    pub(super) fn end(&self) -> u8 {
        // A message for journald has lines of its own.
        if matches!(self, Self::Journald(_)) { 0 } else { b'\n' }
    }
}

fn level_in_lower_case(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

#[cfg(test)]
#[path = "../../tests/unit/log/layout.rs"]
mod tests;

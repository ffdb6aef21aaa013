//! Records for OpenTelemetry: JSON that the process that exports reads, and makes messages of OTLP of.

use std::borrow::Cow;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use skep_units::escape_unprintable;

use crate::log::record::{Kind, Record};

/// The longest record, in bytes, without its end: one place in the queue to the process that exports.
pub(crate) const LONGEST: usize = 4080;

/// One event.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogRecord<'r> {
    /// Nanoseconds since 1970.
    pub(crate) time: u64,
    pub(crate) level: Cow<'r, str>,
    pub(crate) category: Cow<'r, str>,
    pub(crate) message: Cow<'r, str>,
    pub(crate) process: u32,
    /// File and line in the program's text.
    pub(crate) source: Option<(Cow<'r, str>, u32)>,
    pub(crate) request: Option<u64>,
    /// 32 hexadecimal digits.
    pub(crate) trace: Option<Cow<'r, str>>,
    pub(crate) user: Option<Cow<'r, str>>,
    /// Names, values, and whether a value is a number, true or false.
    pub(crate) fields: Vec<(Cow<'r, str>, Cow<'r, str>, bool)>,
    /// Texts were cut off.
    pub(crate) is_cut: bool,
}

/// Texts of a record that is too long are cut to half of this, and so on.
const LONGEST_TEXT: usize = 2 * LONGEST;

pub(super) fn write(out: &mut Vec<u8>, record: &Record<'_>) {
    let start = out.len();
    let mut most = LONGEST_TEXT;
    loop {
        out.truncate(start);
        // A buffer takes all there is.
        let _ = serde_json::to_writer(&mut *out, &log_record(record, most));
        if out.len() - start <= LONGEST || most == 0 {
            break;
        }
        most /= 2;
    }
    out.push(b'\n');
}

/// With texts of at most this length; without fields if it is 0.
fn log_record<'r>(record: &'r Record<'_>, most: usize) -> LogRecord<'r> {
    let since = record.now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let cut = |text: &'r str| escape_unprintable(&text[..text.floor_char_boundary(most)]);
    let fields = record.fields.iter().filter(|_| most > 0);
    LogRecord {
        time: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
        level: record.level.as_str().into(),
        category: cut(record.category),
        message: cut(record.fields.message()),
        process: std::process::id(),
        source: record.file.zip(record.line).map(|(file, line)| (cut(file), line)),
        request: record.request.map(skep::log::RequestLog::id),
        trace: record.trace().map(Cow::Borrowed),
        user: record.user().map(cut),
        fields: fields.map(|(name, value, kind)| (cut(name), cut(value), kind == Kind::Bare)).collect(),
        is_cut: most < LONGEST_TEXT,
    }
}

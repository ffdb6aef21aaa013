//! One event, taken apart: what layouts write.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::ops::Range;
use std::time::SystemTime;

use skep::log::{CategoryLine, RequestLog, Value};
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

use super::mask::Mask;
use super::text::Stamp;

/// An event, ready to be written.
pub(super) struct Record<'r> {
    pub(super) level: Level,
    pub(super) category: &'r str,
    pub(super) file: Option<&'r str>,
    pub(super) line: Option<u32>,
    pub(super) module: Option<&'r str>,
    pub(super) now: SystemTime,
    /// `2026-11-21T07:30:00.123Z`
    pub(super) time: &'r str,
    pub(super) fields: &'r Fields,
    pub(super) request: Option<&'r RequestLog>,
}

/// The message and the fields of an event, in one text.
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: String,
    message: Range<usize>,
    list: Vec<(&'static str, Range<usize>, Kind)>,
}

/// How a value looks in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A number, true or false.
    Bare,
}

/// What a thread uses again for each event.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) fields: Fields,
    pub(super) line: Vec<u8>,
    stamp: Stamp,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// The field of an event that is its message.
const MESSAGE: &str = "message";

/// The memory that a scratch may hold between events.
const KEEP: usize = 64 << 10;

impl Scratch {
    /// Lends this thread's scratch. An event that is logged while another one is formatted has one of its own.
    pub(super) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let mut scratch = SCRATCH.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let result = work(&mut scratch);
        scratch.line.clear();
        scratch.line.shrink_to(KEEP);
        scratch.fields.text.shrink_to(KEEP);
        let _ = SCRATCH.try_with(|place| place.set(Some(scratch)));
        result
    }

    /// Takes message and fields of an event. `longest`: their bytes.
    pub(super) fn fill(&mut self, (mask, longest): (&Mask, usize), fill: impl FnOnce(&mut Visitor<'_>)) {
        self.fields.clear();
        fill(&mut Visitor { fields: &mut self.fields, mask, longest });
    }

    /// Hands the event over, with an empty buffer for a line.
    pub(super) fn record(
        &mut self,
        metadata: &Metadata<'_>,
        request: Option<&RequestLog>,
        take: impl FnOnce(&Record<'_>, &mut Vec<u8>),
    ) {
        let now = SystemTime::now();
        let record = Record {
            level: *metadata.level(),
            category: metadata.target(),
            file: metadata.file(),
            line: metadata.line(),
            module: metadata.module_path(),
            now,
            time: std::str::from_utf8(self.stamp.text(now)).unwrap_or_default(),
            fields: &self.fields,
            request,
        };
        take(&record, &mut self.line);
    }
}

impl Fields {
    fn clear(&mut self) {
        self.text.clear();
        self.message = 0..0;
        self.list.clear();
    }

    pub(super) fn message(&self) -> &str {
        &self.text[self.message.clone()]
    }

    /// Names, values, and what the values are.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str, Kind)> {
        self.list.iter().map(|(name, range, kind)| (*name, &self.text[range.clone()], *kind))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| value)
    }

    /// All of it, to be compared with the next event.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

impl Record<'_> {
    /// The id of the request as 16 digits, unless the event has it as a field of its own.
    pub(super) fn request_id(&self) -> Option<[u8; 16]> {
        let id = hex(self.request?.id());
        let is_id = |(_, value, _): (&str, &str, Kind)| value.as_bytes() == id;
        (!self.fields.iter().any(is_id)).then_some(id)
    }

    /// The trace id that the client sent.
    pub(super) fn trace(&self) -> Option<&str> {
        self.request?.trace()
    }

    /// The user of the request, unless the event has a field for it.
    pub(super) fn user(&self) -> Option<&str> {
        self.request?.user().filter(|_| self.fields.get("user").is_none())
    }
}

/// 16 hexadecimal digits.
pub(super) fn hex(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(number.to_be_bytes()) {
        *pair = PAIRS[usize::from(byte)];
    }
    digits
}

/// The digits of each byte.
static PAIRS: [[u8; 2]; 256] = {
    let (digits, mut pairs) = (b"0123456789abcdef", [[0; 2]; 256]);
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Adds message and fields.
pub(super) struct Visitor<'v> {
    fields: &'v mut Fields,
    mask: &'v Mask,
    longest: usize,
}

impl Visitor<'_> {
    /// Those of a category's line.
    pub(super) fn add_line(&mut self, line: &CategoryLine<'_>) {
        self.add(MESSAGE, Kind::Text, |text| write!(text, "{}", line.text));
        for (name, value) in line.fields {
            match value {
                Value::Signed(number) => self.add(name, Kind::Bare, |text| push_whole(text, *number)),
                Value::Unsigned(number) => self.add(name, Kind::Bare, |text| push_whole(text, *number)),
                Value::Float(number) => self.add_float(name, *number),
                Value::Bool(on) => {
                    self.add(name, Kind::Bare, |text| text.write_str(if *on { "true" } else { "false" }));
                }
                Value::Text(value) => self.add(name, Kind::Text, |text| text.write_str(value)),
                Value::Owned(value) => self.add(name, Kind::Text, |text| text.write_str(value)),
                Value::Display(value) => self.add(name, Kind::Text, |text| write!(text, "{value}")),
                Value::Debug(value) => self.add(name, Kind::Text, |text| write!(text, "{value:?}")),
                // Without a value.
                _ => {}
            }
        }
    }

    fn add_float(&mut self, name: &'static str, number: f64) {
        let kind = if number.is_finite() { Kind::Bare } else { Kind::Text };
        self.add(name, kind, |text| write!(text, "{number}"));
    }

    fn add(&mut self, name: &'static str, kind: Kind, write: impl FnOnce(&mut String) -> fmt::Result) {
        let text = &mut self.fields.text;
        let start = text.len();
        let is_masked = name != MESSAGE && self.mask.hides(name);
        // A value that fails to format itself is as far as it got.
        let _ = if is_masked { text.write_str("***") } else { write(text) };
        if kind == Kind::Text && !is_masked {
            self.mask.apply(text, start);
            cut(text, start.max(self.longest));
        }
        let range = start..text.len();
        if name == MESSAGE {
            self.fields.message = range;
        } else {
            self.fields.list.push((name, range, if is_masked { Kind::Text } else { kind }));
        }
    }
}

/// Without what `write!` goes through.
fn push_whole(text: &mut String, number: impl itoa::Integer) -> fmt::Result {
    text.write_str(itoa::Buffer::new().format(number))
}

/// Cuts off what is longer.
fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let end = text.floor_char_boundary(longest);
        let bytes = text.len() - end;
        text.truncate(end);
        let _ = write!(text, "... ({bytes} bytes cut off: log.line)");
    }
}

impl Visit for Visitor<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add_float(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), Kind::Bare, |text| push_whole(text, value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), Kind::Bare, |text| push_whole(text, value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), Kind::Bare, |text| write!(text, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), Kind::Text, |text| text.write_str(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.add(field.name(), Kind::Text, |text| write!(text, "{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field.name(), Kind::Text, |text| write!(text, "{value:?}"));
    }
}

//! The settings of a component, in a section of its file: its host knows them without running it.
//!
//! A record has seven fields: name, kind, default, `required` or nothing, `secret` or nothing, help, and an end.

use std::borrow::Cow;

use super::declared::Field;
use super::kind::Kind;
use super::table::Row;

/// The name of the section.
pub const NAME: &str = "skep:settings";

const FIELD: u8 = 0x1f;
const RECORD: u8 = 0x1e;

/// A text that is computed while compiling. What does not fit in the buffer is only measured.
struct Writer<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Writer<N> {
    const fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.byte(bytes[at]);
            at += 1;
        }
    }

    const fn byte(&mut self, byte: u8) {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn fields(&mut self, path: &[&str], fields: &[Field]) {
        let mut at = 0;
        while at < fields.len() {
            let field = &fields[at];
            at += 1;
            if !field.nested.is_empty() {
                assert!(path.len() < DEPTH, "settings are nested at most four deep");
                let mut inner = [""; DEPTH];
                let mut part = 0;
                while part < path.len() {
                    inner[part] = path[part];
                    part += 1;
                }
                inner[part] = field.name;
                self.fields(inner.split_at(part + 1).0, field.nested);
                continue;
            }
            let mut part = 0;
            while part < path.len() {
                self.push(path[part]);
                self.byte(b'.');
                part += 1;
            }
            self.push(field.name);
            self.byte(FIELD);
            self.push(word(&field.kind));
            self.byte(FIELD);
            self.push(field.default);
            self.byte(FIELD);
            self.push(if field.is_required { "required" } else { "" });
            self.byte(FIELD);
            self.push(if field.is_secret { "secret" } else { "" });
            self.byte(FIELD);
            self.push(field.help);
            self.byte(RECORD);
        }
    }
}

const DEPTH: usize = 4;

/// The size of the section for a table.
#[must_use]
pub const fn size(table: &str, fields: &[Field]) -> usize {
    let mut writer = Writer { bytes: [], length: 0 };
    writer.fields(&[table], fields);
    writer.length
}

/// The section for a table.
#[must_use]
pub const fn bytes<const N: usize>(table: &str, fields: &[Field]) -> [u8; N] {
    let mut writer = Writer { bytes: [0; N], length: 0 };
    writer.fields(&[table], fields);
    writer.bytes
}

/// The kind of a setting, as far as a host judges it: the component checks the rest when it starts.
const fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Duration(_) => "duration",
        Kind::Size(_) => "size",
        Kind::Number(_) => "number",
        Kind::Addresses | Kind::Tiers | Kind::List(_) => "list",
        _ => "text",
    }
}

/// The rows in a section, as far as it can be read.
#[must_use]
pub fn rows(section: &[u8]) -> Vec<Row> {
    let records = section.split(|byte| *byte == RECORD).filter_map(|record| std::str::from_utf8(record).ok());
    records.filter_map(row).collect()
}

fn row(record: &str) -> Option<Row> {
    let mut fields = record.split(char::from(FIELD));
    let name = fields.next().filter(|name| name.contains('.'))?.to_owned();
    let kind = match fields.next()? {
        "bool" => Kind::Bool,
        "duration" => Kind::Duration(0..=u64::MAX),
        "size" => Kind::Size(0..=u64::MAX),
        "number" => Kind::Number(0..=u64::MAX),
        "list" => Kind::List("a list"),
        _ => Kind::Text,
    };
    let default = fields.next()?.to_owned();
    let (is_required, is_secret) = (fields.next()? == "required", fields.next()? == "secret");
    let help = fields.next()?.to_owned();
    Some(Row {
        name: Cow::Owned(name),
        kind,
        default: default.into(),
        is_required,
        is_secret,
        flag: None,
        help: help.into(),
    })
}

//! How settings reach a component: in a variable of its environment.

use super::table::{RawSetting, RawValue, Source};

/// The environment variable.
pub const VARIABLE: &str = "SKEP_SETTINGS";

const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';

/// Writes settings: name, source, `text` or `list`, and the elements.
#[must_use]
pub fn encode(settings: &[RawSetting]) -> String {
    settings.iter().fold(String::new(), |mut text, raw| {
        let (kind, elements) = match &raw.value {
            RawValue::Text(value) => ("text", std::slice::from_ref(value)),
            RawValue::List(list) => ("list", list.as_slice()),
        };
        let fields = [&raw.name, &raw.source.to_string(), kind];
        for field in fields.into_iter().chain(elements.iter().map(String::as_str)) {
            text.push_str(field);
            text.push(FIELD);
        }
        text.push(RECORD);
        text
    })
}

/// Reads what [`encode`] has written.
#[must_use]
pub fn decode(text: &str) -> Vec<RawSetting> {
    text.split_terminator(RECORD).filter_map(record).collect()
}

fn record(record: &str) -> Option<RawSetting> {
    let mut fields = record.split_terminator(FIELD);
    let (name, source, kind) = (fields.next()?, fields.next()?, fields.next()?);
    let value = match kind {
        "list" => RawValue::List(fields.map(ToOwned::to_owned).collect()),
        _ => RawValue::Text(fields.next()?.to_owned()),
    };
    // Only its text matters there: all of these are stronger than a default.
    Some(RawSetting { name: name.to_owned(), value, source: Source::Flag(source.to_owned()) })
}

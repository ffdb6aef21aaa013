//! Hides the values of names that usually are secret: of fields, and of `name=value` and `"name": "value"` within
//! texts.

use std::sync::OnceLock;

use memchr::memchr2;

/// Names whose values are hidden.
#[derive(Clone, Debug, Default)]
pub(super) struct Mask {
    /// In lower case, with `_` for `-`.
    names: Vec<String>,
    /// A bit for each length that a name has: most other names have none of these.
    lengths: u64,
}

/// What the process hides outside of its log, too.
static INSTALLED: OnceLock<Mask> = OnceLock::new();

/// This text with secret values as the log hides them.
pub(crate) fn masked(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(mask) = INSTALLED.get() {
        mask.apply(&mut text, 0);
    }
    text
}

impl Mask {
    /// The first one stays.
    pub(super) fn install(&self) {
        INSTALLED.get_or_init(|| self.clone());
    }

    pub(super) fn new(names: &[String]) -> Self {
        let names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase().replace('-', "_")).collect();
        let lengths = names.iter().fold(0, |lengths, name| lengths | length_bit(name.len()));
        Self { names, lengths }
    }

    /// True for such a name, or one that ends with it after a dot.
    pub(super) fn hides(&self, name: &str) -> bool {
        let name = name.as_bytes();
        let name = &name[name.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1)..];
        if self.lengths & length_bit(name.len()) == 0 {
            return false;
        }
        let same = |(known, byte): (u8, &u8)| known == if *byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
        self.names.iter().any(|known| known.len() == name.len() && known.bytes().zip(name).all(same))
    }

    /// Replaces secret values in the text from here on by `***`.
    pub(super) fn apply(&self, text: &mut String, start: usize) {
        let (mut masked, mut copied, mut at) = (String::new(), start, start);
        while let Some(mark) = memchr2(b'=', b':', &text.as_bytes()[at..]).map(|found| at + found) {
            at = mark + 1;
            if self.hides(name_before(&text[start..mark])) {
                let value = value_after(&text[at..]);
                masked.push_str(&text[copied..at + value.start]);
                masked.push_str("***");
                at += value.end;
                copied = at;
            }
        }
        if copied > start {
            masked.push_str(&text[copied..]);
            text.truncate(start);
            text.push_str(&masked);
        }
    }
}

/// Longer ones share a bit.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// The word at the end, in front of a quote and spaces.
fn name_before(text: &str) -> &str {
    let text = text.trim_end().trim_end_matches(['"', '\'', '\\', '`']);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let start =
        text.rfind(|letter| !is_part(letter)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

/// The value at the beginning, without quotes: to the closing quote, or to what ends a word.
fn value_after(text: &str) -> std::ops::Range<usize> {
    let mut start = text.len() - text.trim_start().len();
    // Quotes in a text that was itself quoted.
    let escaped = text[start..].starts_with("\\\"");
    start += usize::from(escaped);
    if let Some(quote) = text[start..].chars().next().filter(|letter| matches!(letter, '"' | '\'')) {
        let inner = start + 1;
        return inner..closing(&text[inner..], quote, escaped).map_or(text.len(), |end| inner + end);
    }
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '&' | ')' | '}' | ']');
    let word = |from: usize| text[from..].find(ends).map_or(text.len(), |end| from + end);
    let mut end = word(start);
    // `Authorization: Bearer TOKEN`
    let is_scheme = ["bearer", "basic", "digest"].iter().any(|scheme| text[start..end].eq_ignore_ascii_case(scheme));
    if let Some(space) = text[end..].chars().next().filter(|_| is_scheme) {
        end = word(end + space.len_utf8());
    }
    start..end
}

fn closing(text: &str, quote: char, escaped: bool) -> Option<usize> {
    if escaped {
        return text.find("\\\"");
    }
    let mut before = ' ';
    text.char_indices().find_map(|(at, letter)| {
        let ends = letter == quote && before != '\\';
        before = if before == '\\' { ' ' } else { letter };
        ends.then_some(at)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/log/mask.rs"]
mod tests;

//! The parameters behind the value of a header field: `; name="x"; filename="my \"best\" day.jpg"`.
//!
//! Two ways of writing quotes are in use. Programs follow the grammar of quoted strings (RFC 9110, 5.6.4): a backslash
//! stands before a quote and before a backslash. Browsers send backslashes as they are, whole paths of Windows at
//! times, and percent signs for quotes and line breaks (HTML, 4.10.22.8). Both are understood.

use std::borrow::Cow;

use super::charset::Charset;

/// All of them, in any order, each with its text between the quotes.
pub(super) fn parameters(value: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest);
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches([' ', '\t', ';']);
            let end = rest.find(['=', ';'])?;
            let name = rest[..end].trim_end();
            if rest[end..].starts_with(';') {
                rest = &rest[end..];
                continue;
            }
            let behind = rest[end + 1..].trim_start_matches([' ', '\t']);
            let (text, next) = match behind.strip_prefix('"') {
                Some(quoted) => {
                    let end = closing_quote(quoted)?;
                    (&quoted[..end], &quoted[end + 1..])
                }
                None => behind.split_at(behind.find(';').unwrap_or(behind.len())),
            };
            rest = next;
            let text = if behind.starts_with('"') { text } else { text.trim_end() };
            return Some((name, text));
        }
    })
}

/// The text of one, between its quotes.
pub(super) fn parameter<'v>(value: &'v str, wanted: &str) -> Option<&'v str> {
    parameters(value).find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, text)| text)
}

/// The position of the quote that ends a quoted string. Nothing but the next parameter follows it, so one in the middle
/// of a name, which should have been escaped, is a part of it. One behind a backslash ends it only where no other does:
/// a folder, `C:\`.
fn closing_quote(text: &str) -> Option<usize> {
    let ends = |at: usize| matches!(text[at + 1..].trim_start_matches([' ', '\t']).bytes().next(), None | Some(b';'));
    let (mut is_escaped, mut behind_backslash) = (false, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' => is_escaped = !is_escaped,
            b'"' if !ends(at) => is_escaped = false,
            b'"' if !is_escaped => return Some(at),
            b'"' => {
                behind_backslash = behind_backslash.or(Some(at));
                is_escaped = false;
            }
            _ => is_escaped = false,
        }
    }
    behind_backslash
}

/// The text that is meant by a quoted string, in which a backslash may stand before anything.
pub(super) fn unquoted(text: &str) -> String {
    unescaped(text, |_| true)
}

/// The name that is meant, of a field or a file.
pub(super) fn unquoted_name(text: &str) -> String {
    let name = unescaped(text, |next| matches!(next, '"' | '\\'));
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

fn unescaped(text: &str, is_escape: impl Fn(char) -> bool) -> String {
    let mut letters = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(&next) if letter == '\\' && is_escape(next) => {
                out.push(next);
                letters.next();
            }
            _ => out.push(letter),
        }
    }
    out
}

/// A name that says its encoding: `UTF-8'en'%e2%82%ac.txt` (RFC 8187). `None` if it is malformed.
pub(super) fn extended(text: &str) -> Option<String> {
    let mut parts = text.splitn(3, '\'');
    let charset = Charset::of(parts.next()?)?;
    let _language = parts.next()?;
    let text = parts.next()?;
    if !crate::base::percent::is_encoded(text) {
        return None;
    }
    charset.decode(percent_encoding::percent_decode_str(text).collect())
}

/// The text of a part's head. Programs that send no UTF-8 send their own names of files in what Windows calls Latin-1.
pub(super) fn head_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(Charset::Windows1252.decode(bytes.to_vec()).unwrap_or_default()),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/form/parameters.rs"]
mod tests;

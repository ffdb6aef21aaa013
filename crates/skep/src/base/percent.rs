//! Percent-encoding (RFC 3986, 2.1), in both directions and with limits on what is accepted.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Where a text is put into a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EncodeSet {
    /// One segment of the path.
    Segment,
    /// The rest of the path: the slashes in it stay.
    Tail,
    /// A name or value of a query or form.
    Form,
}

/// Stands before a segment that a URL cannot have: an empty one, and `.` and `..`, which every browser takes out of a
/// path however they are escaped (WHATWG URL, 4.4). What looks like such a marked segment is marked once more.
const MARK: char = '~';

/// What a path segment cannot hold as it is: everything but RFC 3986's `pchar`, and `%` itself.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// As [`SEGMENT`], but the slashes between segments stay.
const TAIL: &AsciiSet = &SEGMENT.remove(b'/');

/// What `application/x-www-form-urlencoded` encodes (WHATWG URL, 5.2). A space becomes `+`.
const FORM: &AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

/// Appends what `write` writes, encoded. Most values need no encoding, and then nothing is copied.
pub(crate) fn encode_written(out: &mut String, place: EncodeSet, write: impl FnOnce(&mut String)) {
    let start = out.len();
    write(out);
    if out.as_bytes()[start..].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
        if out.len() == start && matches!(place, EncodeSet::Segment | EncodeSet::Tail) {
            out.push(MARK);
        }
        return;
    }
    let text = out.split_off(start);
    match place {
        EncodeSet::Segment => {
            out.extend(is_marked(&text).then_some(MARK));
            out.extend(utf8_percent_encode(&text, SEGMENT));
        }
        EncodeSet::Tail => encode_tail(out, &text),
        EncodeSet::Form => {
            for (position, word) in text.split(' ').enumerate() {
                if position > 0 {
                    out.push('+');
                }
                out.extend(utf8_percent_encode(word, FORM));
            }
        }
    }
}

fn encode_tail(out: &mut String, text: &str) {
    for (position, segment) in text.split('/').enumerate() {
        if position > 0 {
            out.push('/');
        }
        // "a//b" is a path; but "//b" would be another host where the rest is all there is.
        let is_marked = is_marked(segment) && (position == 0 || !segment.is_empty());
        out.extend(is_marked.then_some(MARK));
        out.extend(utf8_percent_encode(segment, TAIL));
    }
}

/// True for the segments that a URL cannot have, marked or not.
fn is_marked(segment: &str) -> bool {
    matches!(segment.trim_start_matches(MARK), "" | "." | "..")
}

fn unmarked(text: Cow<'_, str>) -> Cow<'_, str> {
    if !is_marked(&text) {
        return text;
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix(MARK).unwrap_or(text)),
        Cow::Owned(text) => Cow::Owned(text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text)),
    }
}

/// A path segment as text, or `None` where its bytes are not UTF-8.
pub(crate) fn decode_segment(raw: &str) -> Option<Cow<'_, str>> {
    decode(raw).map(unmarked)
}

/// The rest of a path as text, or `None` where its bytes are not UTF-8.
pub(crate) fn decode_tail(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains(MARK) {
        return decode(raw);
    }
    let segments: Option<Vec<_>> = raw.split('/').map(decode_segment).collect();
    Some(Cow::Owned(segments?.join("/")))
}

fn decode(raw: &str) -> Option<Cow<'_, str>> {
    // The library looks at one byte after another; most texts have nothing to decode, which is seen sooner.
    if raw.contains('%') { percent_decode_str(raw).decode_utf8().ok() } else { Some(Cow::Borrowed(raw)) }
}

/// A name or value of a query or form as text, or `None` where its bytes are not UTF-8.
pub(crate) fn decode_form(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains('+') {
        return decode(raw);
    }
    let spaced = raw.replace('+', " ");
    let is_decoded = !spaced.contains('%');
    if is_decoded { Some(Cow::Owned(spaced)) } else { decode(&spaced).map(|text| Cow::Owned(text.into_owned())) }
}

/// True if each `%` has two hexadecimal digits after it (RFC 3986, 2.1).
pub(crate) fn is_encoded(path: &str) -> bool {
    // As bytes, and so without the searcher for characters: most paths have none.
    if !path.as_bytes().contains(&b'%') {
        return true;
    }
    let mut parts = path.split('%').skip(1);
    parts.all(|part| part.get(..2).is_some_and(|digits| hexadecimal(digits).is_some()))
}

/// The same path with escapes of characters that need none undone (RFC 3986, 6.2.2.2): `/%61bout` is `/about`.
pub(crate) fn normalise_path(path: &str) -> Cow<'_, str> {
    if !path.as_bytes().contains(&b'%') {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let escape = rest.get(at..at + 3);
        match escape.and_then(|escape| hexadecimal(&escape[1..])) {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(byte as char),
            Some(byte) => {
                // One spelling for the rest, so that a route with a literal `é` is found however it is written.
                out.push('%');
                out.push(char::from(b"0123456789ABCDEF"[usize::from(byte >> 4)]));
                out.push(char::from(b"0123456789ABCDEF"[usize::from(byte & 15)]));
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
                continue;
            }
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The standard library also takes a sign: `%+5` would become `%05`.
fn hexadecimal(digits: &str) -> Option<u8> {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
#[path = "../../tests/unit/percent.rs"]
mod tests;

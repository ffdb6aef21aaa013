//! `words!`: a list of names written as text, so that a long table can be read.

/// Splits a literal at white space into a `&'static [&'static str]`.
macro_rules! words {
    ($text:literal) => {{
        const WORDS: [&str; $crate::words::count($text)] = $crate::words::split($text);
        &WORDS
    }};
}

pub(super) const fn count(text: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some((_, end)) = next(text, at) {
        count += 1;
        at = end;
    }
    count
}

pub(super) const fn split<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut count, mut at) = (0, 0);
    while let Some((start, end)) = next(text, at) {
        words[count] = text.split_at(end).0.split_at(start).1;
        count += 1;
        at = end;
    }
    words
}

/// Start and end of the next word at or after `at`.
const fn next(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut start = at;
    while start < bytes.len() && bytes[start].is_ascii_whitespace() {
        start += 1;
    }
    let mut end = start;
    while end < bytes.len() && !bytes[end].is_ascii_whitespace() {
        end += 1;
    }
    if start == end { None } else { Some((start, end)) }
}

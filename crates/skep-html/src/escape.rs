//! Replaces the characters that mean something in HTML. One pass: runs between them are copied whole.

/// Where the text will stand: between tags.
pub(super) fn text(out: &mut String, text: &str) {
    push::<false>(out, text);
}

/// Where the text will stand: between double quotes, or between tags.
pub(super) fn plain(out: &mut String, text: &str) {
    push::<true>(out, text);
}

/// How many bytes are looked at in one step. The compiler makes a few vector instructions of it.
const STEP: usize = 16;

#[inline]
fn push<const QUOTES: bool>(out: &mut String, text: &str) {
    match find::<QUOTES>(text.as_bytes()) {
        None => out.push_str(text),
        Some(at) => replace::<QUOTES>(out, text, at),
    }
}

/// `at` is the first byte to replace.
fn replace<const QUOTES: bool>(out: &mut String, mut text: &str, mut at: usize) {
    out.reserve(text.len() + text.len() / 8);
    loop {
        let (clean, rest) = text.split_at(at);
        out.push_str(clean);
        out.push_str(replacement(rest.as_bytes()[0]));
        text = &rest[1..];
        match find::<QUOTES>(text.as_bytes()) {
            Some(next) => at = next,
            None => return out.push_str(text),
        }
    }
}

fn replacement(byte: u8) -> &'static str {
    match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'"' => "&quot;",
        _ => "&#13;",
    }
}

/// The first byte to replace.
#[inline]
fn find<const QUOTES: bool>(bytes: &[u8]) -> Option<usize> {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let mut clean = 0;
    for step in steps {
        if step.iter().fold(false, |any, &byte| any | is_special::<QUOTES>(byte)) {
            break;
        }
        clean += STEP;
    }
    let rest = if clean == bytes.len() - rest.len() { rest } else { &bytes[clean..] };
    rest.iter().position(|&byte| is_special::<QUOTES>(byte)).map(|at| clean + at)
}

#[inline]
#[allow(clippy::needless_bitwise_bool, reason = "without a branch, sixteen of these become one")]
fn is_special<const QUOTES: bool>(byte: u8) -> bool {
    (byte == b'&') | (byte == b'<') | (byte == b'>') | (byte == b'\r') | (QUOTES & (byte == b'"'))
}

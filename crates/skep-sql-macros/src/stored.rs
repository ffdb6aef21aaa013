//! The one text that SQLite stores for a value of a declared type, as `skep_sql` writes it. Texts are compared, so that
//! another one of the same value is never equal to it, and stands before or after where it belongs.

use crate::infer::Kind;

/// A moment as it is stored; dates, times and those without a zone are parts of it.
const MOMENT: &str = "2026-12-31T18:30:00.000000Z";

/// An example of the text of a date, a time or a moment; none for what has other forms.
pub(crate) fn example(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Date => Some(&MOMENT[..10]),
        Kind::Time => Some(&MOMENT[11..26]),
        Kind::DateTime => Some(&MOMENT[..26]),
        Kind::Timestamp => Some(MOMENT),
        _ => None,
    }
}

/// True for what has one text: decimal numbers, dates, times and moments.
pub(crate) fn has_form(kind: Kind) -> bool {
    matches!(kind, Kind::Fixed { .. }) || example(kind).is_some()
}

/// What SQLite's clock is asked for to write it so.
pub(crate) fn now(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Date => Some("date('now')"),
        Kind::Time => Some("strftime('%H:%M:%f000', 'now')"),
        Kind::DateTime => Some("strftime('%Y-%m-%dT%H:%M:%f000', 'now')"),
        Kind::Timestamp => Some("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"),
        _ => None,
    }
}

/// False for a text that is not the one of a date, a time, a moment or a decimal number of this kind.
pub(crate) fn is_stored_form(text: &str, kind: Kind) -> bool {
    match kind {
        Kind::Fixed { digits, places } => is_decimal(text, digits, places),
        _ => example(kind).is_none_or(|example| has_shape(text, example) && exists(text)),
    }
}

fn has_shape(text: &str, example: &str) -> bool {
    let same = |(one, other): (u8, u8)| one == other || one.is_ascii_digit() && other.is_ascii_digit();
    text.len() == example.len() && text.bytes().zip(example.bytes()).all(same)
}

/// True if a calendar and a clock have what is written: its date, its time, or both.
fn exists(text: &str) -> bool {
    let number = |part: Option<&str>| part.and_then(|digits| digits.parse::<u32>().ok()).unwrap_or_default();
    let is_time = |time: &str| {
        let part = |from: usize| number(time.get(from..from + 2));
        part(0) < 24 && part(3) < 60 && part(6) < 60
    };
    if text.as_bytes().get(2) == Some(&b':') {
        return is_time(text);
    }
    let (year, month, day) = (number(text.get(..4)), number(text.get(5..7)), number(text.get(8..10)));
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day) && text.get(11..).is_none_or(is_time)
}

fn is_decimal(text: &str, digits: u32, places: u32) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = match unsigned.split_once('.') {
        Some((whole, decimals)) if places > 0 => (whole, decimals),
        None if places == 0 => (unsigned, ""),
        _ => return false,
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = whole == "0" || !whole.is_empty() && !whole.starts_with('0');
    let room = (digits - places) as usize;
    let is_zero = unsigned.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    are_digits(whole)
        && are_digits(decimals)
        && is_whole
        && decimals.len() == places as usize
        && (whole == "0" || whole.len() <= room)
        && !(is_zero && text.starts_with('-'))
}

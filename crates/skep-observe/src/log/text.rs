//! Formatting of times, numbers and untrusted text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skep_units::is_unprintable;

/// The formatted time of the last line. Most lines fall into the same second as the previous one.
#[derive(Debug, Default)]
pub(super) struct Stamp {
    second: u64,
    text: Vec<u8>,
}

impl Stamp {
    pub(super) fn text(&mut self, now: SystemTime) -> &[u8] {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.second != since.as_secs() || self.text.is_empty() {
            self.second = since.as_secs();
            self.text.clear();
            write_time(&mut self.text, now);
        }
        if let [.., hundreds, tens, ones, _] = &mut *self.text {
            let digit = |number: u32| b"0123456789"[(number % 10) as usize];
            let millis = since.subsec_millis();
            (*hundreds, *tens, *ones) = (digit(millis / 100), digit(millis / 10), digit(millis));
        }
        &self.text
    }
}

/// Writes `2026-11-21T07:30:00.123Z`.
pub(crate) fn write_time(out: &mut Vec<u8>, time: SystemTime) {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let [year, month, day, hour, minute, second] = date_and_time(since.as_secs());
    write_padded(out, year, 4);
    for (mark, number) in [(b'-', month), (b'-', day), (b'T', hour), (b':', minute), (b':', second)] {
        out.push(mark);
        write_padded(out, number, 2);
    }
    out.push(b'.');
    write_padded(out, u64::from(since.subsec_millis()), 3);
    out.push(b'Z');
}

/// Year, month, day, hour, minute and second, in UTC, of a number of seconds since 1970.
pub(crate) fn date_and_time(seconds: u64) -> [u64; 6] {
    let (year, month, day) = date(seconds / 86_400);
    let second = seconds % 86_400;
    [year, month, day, second / 3600, second / 60 % 60, second % 60]
}

/// Year, month and day of a number of days since 1970-01-01.
///
/// Years start in March, so that the leap day is the last day of its year; 400 years are 146 097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (month_of_year, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month_of_year, day - (153 * month + 2) / 5 + 1)
}

/// Writes a number in decimal, padded with zeros to this width.
pub(crate) fn write_padded(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while number > 0 || digits.len() - at < width {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes text so that it cannot break its line or its quotes, and shows all that it holds in its order.
pub(crate) fn write_escaped(out: &mut Vec<u8>, text: &str) {
    if is_plain(text) {
        return out.extend_from_slice(text.as_bytes());
    }
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend([b'\\', character as u8]),
            _ if is_unprintable(character) => {
                out.extend(character.escape_unicode().map(|character| character as u8));
            }
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// True if nothing of it needs an escape: it is printable ASCII without quote and backslash.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
#[path = "../../tests/unit/log/text.rs"]
mod tests;

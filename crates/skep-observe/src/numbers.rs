//! Numbers, as people read them: on the status page, and in `skep top`.

use serde_json::Value;

/// `1 234 567`, with narrow spaces.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A size: `2 KiB`, `3.0 MiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let number = number as f64;
    match number {
        ..1024.0 => format!("{number:.0} B"),
        ..1_048_576.0 => format!("{:.0} KiB", number / 1024.0),
        ..1_073_741_824.0 => format!("{:.1} MiB", number / 1_048_576.0),
        _ => format!("{:.1} GiB", number / 1_073_741_824.0),
    }
}

/// A number in a second: `0.4`, `412`.
#[must_use]
pub fn rate(number: f64) -> String {
    if number < 10.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}

/// Microseconds as a time.
#[must_use]
pub fn micros(number: u128) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let number = number as f64;
    match number {
        ..1000.0 => format!("{number:.0} µs"),
        ..10_000.0 => format!("{:.1} ms", number / 1000.0),
        ..1_000_000.0 => format!("{:.0} ms", number / 1000.0),
        _ => format!("{:.1} s", number / 1_000_000.0),
    }
}

/// Nanoseconds as a time.
#[must_use]
pub fn nanos(number: u64) -> String {
    micros((number / 1000).into())
}

/// A length of time: two units at most.
#[must_use]
pub fn seconds(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time that is not negative")]
    let whole = number.max(0.0) as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d {} h", whole / 86_400, whole % 86_400 / 3600),
    }
}

/// The time between two moments in milliseconds.
#[must_use]
pub fn ago(now: u64, then: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "seconds are shown")]
    seconds(now.saturating_sub(then) as f64 / 1000.0)
}

/// `99.5 %`.
#[must_use]
pub fn part(part: u64, all: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let percent = part as f64 * 100.0 / all.max(1) as f64;
    if all == 0 { "–".to_owned() } else { format!("{percent:.1} %") }
}

/// A value without the quotes of JSON.
#[must_use]
pub fn value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!([bytes(5), bytes(2048), bytes(3 << 20)], ["5 B", "2 KiB", "3.0 MiB"]);
        assert_eq!([micros(12), micros(1500), micros(2_000_000)], ["12 µs", "1.5 ms", "2.0 s"]);
        assert_eq!([seconds(5.9), seconds(125.0), seconds(90_000.0)], ["5 s", "2 min 5 s", "1 d 1 h"]);
        assert_eq!([part(1, 2), part(0, 0)], ["50.0 %", "–"]);
    }
}

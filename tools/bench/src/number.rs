//! Numbers as figures: between integers and floats, and as people read them.

use std::time::Duration;

/// Exact below 2^53, and nothing that is counted here comes near it.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

/// The nearest whole number; what is below zero is zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as saturates, which is what is meant")]
pub(crate) fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// Nanoseconds; more than 500 years are 500 years.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A whole number with a space after each thousand: `1 234 567`.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut shown = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && !shown.ends_with('-') {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

/// A figure with as many digits as it deserves: three, and no fewer than stand before the point.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => thousands(value),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Nanoseconds as a person reads them: `412 us`, `1.20 ms`, `2.50 s`.
pub(crate) fn time(nanos: u64) -> String {
    let value = float(nanos);
    match nanos {
        0..1_000_000 => format!("{} us", digits(value / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", digits(value / 1e6)),
        _ => format!("{} s", digits(value / 1e9)),
    }
}

/// Bytes as a person reads them: `812 B`, `1.20 kB`, `2.50 MB`; powers of ten.
pub(crate) fn bytes(value: f64) -> String {
    match value {
        small if small < 1e3 => format!("{small:.0} B"),
        some if some < 1e6 => format!("{} kB", digits(some / 1e3)),
        much if much < 1e9 => format!("{} MB", digits(much / 1e6)),
        most => format!("{} GB", digits(most / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [0.0, 0.123_45, 9.876, 12.34, 123.4, 1234.5, 1_234_567.0].map(digits);
        assert_eq!(shown, ["0.00", "0.12", "9.88", "12.3", "123", "1 234", "1 234 567"]);
        assert_eq!(thousands(-123_456.0), "-123 456");
    }

    #[test]
    fn times_and_sizes_have_their_units() {
        assert_eq!([412_000, 1_200_000, 2_500_000_000].map(time), ["412 us", "1.20 ms", "2.50 s"]);
        assert_eq!([812.0, 1200.0, 2_500_000.0, 3e9].map(bytes), ["812 B", "1.20 kB", "2.50 MB", "3.00 GB"]);
    }
}

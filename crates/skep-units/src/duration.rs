//! Durations: `500ms`, `30s`, `1m30s`.

use std::time::Duration;

use crate::InvalidValue;
use crate::number::{self, Unit};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// In nanoseconds, the largest first.
pub(crate) const UNITS: &[Unit] = &[
    ("d", 86_400 * NANOS_PER_SECOND),
    ("h", 3600 * NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("s", NANOS_PER_SECOND),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// Reads a duration: numbers with a unit, added up. Only `0` needs no unit.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(skep_units::parse_duration("1m30s"), Ok(Duration::from_secs(90)));
/// assert!(skep_units::parse_duration("10").is_err());
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, InvalidValue> {
    parse(text.trim())
        .ok_or_else(|| InvalidValue::new("duration", text.trim(), "a number and a unit, such as 500ms, 30s, 5m"))
}

fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut total) = (text, 0_u128);
    while !rest.is_empty() {
        let (number, tail) = number::split(rest);
        let end = tail.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (name, tail) = tail.split_at(end);
        let (_, unit) = UNITS.iter().find(|(known, _)| *known == name)?;
        total = total.checked_add(number::scale(number, *unit)?)?;
        rest = tail.trim_start();
    }
    let seconds = u64::try_from(total / u128::from(NANOS_PER_SECOND)).ok()?;
    let nanos = u32::try_from(total % u128::from(NANOS_PER_SECOND)).ok()?;
    (!text.is_empty()).then(|| Duration::new(seconds, nanos))
}

/// Writes a duration in the largest unit in which it is whole, such as `90s`. [`parse_duration`] reads it back.
pub fn format_duration(duration: Duration) -> String {
    number::format(duration.as_nanos(), UNITS)
}

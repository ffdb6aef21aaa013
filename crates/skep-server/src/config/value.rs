//! Values of settings: how they are read, and how they are written.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// What a setting takes.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Count(RangeInclusive<u64>),
    /// Bytes.
    Size(RangeInclusive<u64>),
    /// The range is in milliseconds.
    Time(RangeInclusive<u64>),
    Switch,
    Choice(&'static [&'static str]),
    /// May be empty, which means none.
    Path,
    /// May be empty, which means none.
    Word,
    /// May be empty, which means none.
    Url,
    Addresses,
    /// The tiers of a cache, near to far.
    Tiers,
}

/// What a setting was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Count(u64),
    Size(u64),
    Time(Duration),
    Switch(bool),
    Text(String),
    List(Vec<String>),
}

const SIZES: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("B", 1),
];

/// In milliseconds. `ms` stands before `m` and `s`, so that it is found first.
const TIMES: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl Kind {
    /// Reads a value, or says what would be one.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Self::Count(range) => text.parse().ok().filter(|count| range.contains(count)).map(Value::Count),
            Self::Size(range) => parse_size(text).filter(|size| range.contains(size)).map(Value::Size),
            Self::Time(range) => {
                parse_time(text).filter(|time| range.contains(time)).map(Duration::from_millis).map(Value::Time)
            }
            Self::Switch => text.parse().ok().map(Value::Switch),
            Self::Choice(choices) => choices.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Path | Self::Url | Self::Word => Some(Value::Text(text.to_owned())),
            Self::Addresses => list(text, &[',', LINE]),
            // An address of a tier may have commas in it.
            Self::Tiers => list(text, &[';', LINE]),
        };
        value.ok_or_else(|| self.to_string())
    }
}

/// What stands between the elements of a list in a file, where an element may be any text.
pub(super) const LINE: char = '\n';

fn list(text: &str, between: &[char]) -> Option<Value> {
    let list: Vec<String> = text.split(between).map(|part| part.trim().to_owned()).collect();
    (!list.iter().any(String::is_empty)).then_some(Value::List(list))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(range) => write!(f, "a number from {} to {}", range.start(), range.end()),
            Self::Size(range) => {
                write!(f, "a size from {} to {}, such as 64KiB", Value::Size(*range.start()), Value::Size(*range.end()))
            }
            Self::Time(range) => {
                let [start, end] =
                    [range.start(), range.end()].map(|millis| Value::Time(Duration::from_millis(*millis)));
                write!(f, "a time from {start} to {end}, such as 10s or 500ms")
            }
            Self::Switch => f.write_str("true or false"),
            Self::Choice([only]) => write!(f, "{only}"),
            Self::Choice(choices) => write!(f, "one of {}", choices.join(", ")),
            Self::Path => f.write_str("a path"),
            Self::Word => f.write_str("a text, or nothing"),
            Self::Url => f.write_str("a URL, or nothing"),
            Self::Addresses => f.write_str("one address or several, such as 127.0.0.1:8800"),
            Self::Tiers => f.write_str("one to three tiers, near to far, such as memory:64MiB; redis:cache1:6379"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Size(size) => write_in(f, *size, &SIZES),
            Self::Time(time) => {
                let mut units = TIMES;
                units.reverse();
                write_in(f, u64::try_from(time.as_millis()).unwrap_or(u64::MAX), &units)
            }
            Self::Switch(on) => write!(f, "{on}"),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => f.write_str(&list.join(", ")),
        }
    }
}

/// Writes a number in the largest unit in which it is whole.
fn write_in(f: &mut fmt::Formatter<'_>, number: u64, units: &[(&str, u64)]) -> fmt::Result {
    let unit = units.iter().find(|(_, size)| number > 0 && number.is_multiple_of(*size));
    let (name, size) = unit.copied().unwrap_or(("", 1));
    write!(f, "{}{name}", number / size)
}

fn parse_size(text: &str) -> Option<u64> {
    let split = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.trim();
    let size = if unit.is_empty() { 1 } else { SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1 };
    number.parse::<u64>().ok()?.checked_mul(size)
}

/// Milliseconds of `1m30s`. A number without a unit is not a time, unless it is 0.
fn parse_time(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let mut rest = text;
    let mut total = 0_u64;
    while !rest.is_empty() {
        let split = rest.find(|character: char| !character.is_ascii_digit())?;
        let (number, tail) = rest.split_at(split);
        let (name, size) = TIMES.iter().find(|(name, _)| tail.starts_with(name))?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*size)?)?;
        rest = &tail[name.len()..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_they_are_read() {
        let time = Kind::Time(0..=u64::MAX);
        for text in ["500ms", "10s", "90s", "2h", "1d", "0"] {
            assert_eq!(time.parse(text).unwrap().to_string(), text);
        }
        let size = Kind::Size(0..=u64::MAX);
        for text in ["1MiB", "64KiB", "1500B", "2GiB"] {
            assert_eq!(size.parse(text).unwrap().to_string(), text);
        }
        assert_eq!(time.parse("1m30s"), Ok(Value::Time(Duration::from_secs(90))));
        assert_eq!(size.parse("64 kib"), Ok(Value::Size(64 << 10)));
    }

    #[test]
    fn what_is_no_value_is_told_what_would_be_one() {
        let problem = Kind::Time(1000..=60_000).parse("10").unwrap_err();
        assert_eq!(problem, "a time from 1s to 1m, such as 10s or 500ms");
        assert!(Kind::Time(1000..=60_000).parse("2m").is_err());
        assert!(Kind::Size(1..=10).parse("11").is_err());
        assert!(Kind::Switch.parse("yes").is_err());
        assert!(Kind::Count(0..=5).parse("-1").is_err());
        assert!(Kind::Size(0..=u64::MAX).parse("99999999999GiB").is_err());
    }
}

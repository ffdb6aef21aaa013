//! Kinds of values: how they are read, and how they are written.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use skep_units::{format_duration, format_list, format_size, parse_duration, parse_size};

/// What a setting accepts.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A whole number that is not negative.
    Number(RangeInclusive<u64>),
    /// A number of bytes.
    Size(RangeInclusive<u64>),
    /// A duration; the range is in milliseconds.
    Duration(RangeInclusive<u64>),
    /// `true` or `false`.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A path. Empty means none.
    Path,
    /// Text. Empty means none.
    Text,
    /// A URL. Empty means none.
    Url,
    /// Addresses to listen on.
    Addresses,
    /// The tiers of a cache, from near to far.
    Tiers,
    /// Elements of this form, such as `NAME=VALUE`; may be empty.
    List(&'static str),
    /// Text that only its reader can judge, and what is expected.
    Other(&'static str),
}

/// A value of one of the kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of [`Kind::Number`].
    Number(u64),
    /// Of [`Kind::Size`].
    Size(u64),
    /// Of [`Kind::Duration`].
    Duration(Duration),
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of all kinds that are text.
    Text(String),
    /// Of [`Kind::Addresses`], [`Kind::Tiers`] and [`Kind::List`].
    List(Vec<String>),
}

impl Kind {
    /// True if the value is a list: a file has an array, and a flag may be repeated.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self, Self::Addresses | Self::Tiers | Self::List(_))
    }

    /// Reads a value that is no list.
    ///
    /// # Errors
    /// What is expected instead.
    pub(super) fn parse(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Self::Number(range) => {
                let number = text.replace('_', "").parse().ok();
                number.filter(|number| range.contains(number)).map(Value::Number)
            }
            Self::Size(range) => parse_size(text).ok().filter(|size| range.contains(size)).map(Value::Size),
            Self::Duration(range) => {
                let range = Duration::from_millis(*range.start())..=Duration::from_millis(*range.end());
                parse_duration(text).ok().filter(|time| range.contains(time)).map(Value::Duration)
            }
            Self::Bool => text.parse().ok().map(Value::Bool),
            Self::Choice(choices) => choices.contains(&text).then(|| Value::Text(text.to_owned())),
            _ => Some(Value::Text(text.to_owned())),
        };
        value.ok_or_else(|| self.to_string())
    }

    /// Reads a list. Elements are trimmed; none may be empty.
    pub(super) fn parse_list(&self, elements: &[String]) -> Result<Value, String> {
        let elements: Vec<String> = elements.iter().map(|element| element.trim().to_owned()).collect();
        let may_be_empty = matches!(self, Self::List(_));
        let is_valid = elements.iter().all(|element| !element.is_empty()) && (may_be_empty || !elements.is_empty());
        if is_valid { Ok(Value::List(elements)) } else { Err(self.to_string()) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(range) if *range.end() == u64::MAX => write!(f, "a number of at least {}", range.start()),
            Self::Number(range) => write!(f, "a number from {} to {}", range.start(), range.end()),
            Self::Size(range) if *range.end() == u64::MAX => f.write_str("a size, such as 64KiB"),
            Self::Size(range) => {
                let (start, end) = (*range.start(), *range.end());
                // One that fits.
                let example = (64 << 10).clamp(start, end);
                write!(
                    f,
                    "a size from {} to {}, such as {}",
                    format_size(start),
                    format_size(end),
                    format_size(example)
                )
            }
            Self::Duration(range) if *range.end() == u64::MAX => f.write_str("a duration, such as 500ms, 30s, 5m"),
            Self::Duration(range) => {
                let [start, end] =
                    [range.start(), range.end()].map(|millis| format_duration(Duration::from_millis(*millis)));
                write!(f, "a duration from {start} to {end}, such as 500ms, 30s, 5m")
            }
            Self::Bool => f.write_str("true or false"),
            Self::Choice([only]) => write!(f, "{only}"),
            Self::Choice(choices) => write!(f, "one of {}", choices.join(", ")),
            Self::Path => f.write_str("a path"),
            Self::Text => f.write_str("text"),
            Self::Url => f.write_str("a URL"),
            Self::Addresses => f.write_str("addresses separated by ;, such as 127.0.0.1:8800; unix:/run/app.sock"),
            Self::Tiers => {
                f.write_str("one to three tiers from near to far, separated by ;, such as memory:64MiB; redis:cache1")
            }
            Self::List(element) => write!(f, "{element}, several separated by ;"),
            Self::Other(expected) => f.write_str(expected),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Size(size) => f.write_str(&format_size(*size)),
            Self::Duration(time) => f.write_str(&format_duration(*time)),
            Self::Bool(on) => write!(f, "{on}"),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => f.write_str(&format_list(list)),
        }
    }
}

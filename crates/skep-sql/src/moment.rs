//! Days and times as texts of SQLite: one text for each, as those of `jiff` are stored, so that texts are in the order
//! of time.

use super::value::{Unfit, Value};

/// The value as a column of SQLite stores it.
///
/// # Errors
/// It is not such as the example.
pub(super) fn stored<'v>(
    value: Value<'v>,
    write: fn(&str) -> Option<String>,
    example: &'static str,
) -> Result<Value<'v>, Unfit> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Text(text) => {
            let written = write(&text).ok_or_else(|| Unfit::because(format!("{text:?} is not such as {example}")))?;
            Ok(Value::Text(written.into()))
        }
        other => Err(Unfit::expected("text", &other)),
    }
}

pub(super) fn date(text: &str) -> Option<String> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let leaps = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leaps),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day).then(|| text.to_owned())
}

/// Six decimals of a second; more are not rounded.
pub(super) fn time(text: &str) -> Option<String> {
    let (hour, rest) = text.split_once(':')?;
    let (minute, seconds) = rest.split_once(':').unwrap_or((rest, "00"));
    let (second, fraction) = seconds.split_once('.').map_or((seconds, "0"), |(second, fraction)| (second, fraction));
    let is_time = number(hour, 2)? < 24 && number(minute, 2)? < 60 && number(second, 2)? < 60;
    let kept = fraction.trim_end_matches('0');
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()) && kept.len() <= 6;
    (is_time && is_fraction).then(|| format!("{hour}:{minute}:{second}.{kept:0<6}"))
}

pub(super) fn date_time(text: &str) -> Option<String> {
    let (day, hours) = text.split_once(['T', ' '])?;
    Some(format!("{}T{}", date(day)?, time(hours)?))
}

pub(super) fn timestamp(text: &str) -> Option<String> {
    Some(format!("{}Z", date_time(text.strip_suffix('Z')?)?))
}

/// A number of this length.
fn number(text: &str, digits: usize) -> Option<u32> {
    let fits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

#[cfg(test)]
#[path = "../tests/unit/moment.rs"]
mod tests;

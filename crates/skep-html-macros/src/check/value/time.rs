//! Dates and times (2.3.5).

use super::is_digits;

/// For `ins` and `del`: a date, or a date with time and zone.
pub(super) fn is_moment(value: &str) -> bool {
    is_date(value) || is_global(value)
}

/// For `time` (4.5.14).
pub(super) fn is_time(value: &str) -> bool {
    let forms = [is_moment, is_month, is_yearless, is_clock, is_local, is_zone, is_week, is_year, is_duration];
    forms.iter().any(|is_it| is_it(value.trim_ascii()))
}

fn is_year(value: &str) -> bool {
    value.len() >= 4 && is_digits(value) && value.contains(|digit| digit != '0')
}

fn number(value: &str, least: u32, most: u32) -> Option<u32> {
    let number = (value.len() == 2 && is_digits(value)).then(|| value.parse::<u32>().ok())??;
    (least..=most).contains(&number).then_some(number)
}

/// `2026-09`.
pub(super) fn is_month(value: &str) -> bool {
    value.rsplit_once('-').is_some_and(|(year, month)| is_year(year) && number(month, 1, 12).is_some())
}

/// `2026-09-16`.
pub(super) fn is_date(value: &str) -> bool {
    let Some((month, day)) = value.rsplit_once('-') else { return false };
    let Some((year, number_of_month)) = month.rsplit_once('-') else { return false };
    // Years may have any number of digits; the calendar repeats every 400 years.
    let year_in_era = year.get(year.len().saturating_sub(4)..).and_then(|digits| digits.parse::<u32>().ok());
    let is_leap = year_in_era.is_some_and(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    is_month(month) && number(day, 1, days(number(number_of_month, 1, 12), is_leap)).is_some()
}

fn days(month: Option<u32>, is_leap: bool) -> u32 {
    match month {
        Some(2) => 28 + u32::from(is_leap),
        Some(4 | 6 | 9 | 11) => 30,
        _ => 31,
    }
}

/// `09-16`.
fn is_yearless(value: &str) -> bool {
    let value = value.strip_prefix("--").unwrap_or(value);
    value.split_once('-').is_some_and(|(month, day)| {
        number(day, 1, days(number(month, 1, 12), true)).is_some() && number(month, 1, 12).is_some()
    })
}

/// `12:30`, `12:30:05.25`.
pub(super) fn is_clock(value: &str) -> bool {
    let mut parts = value.split(':');
    let hour = parts.next().and_then(|hour| number(hour, 0, 23));
    let minute = parts.next().and_then(|minute| number(minute, 0, 59));
    let is_second = parts.next().is_none_or(is_second);
    hour.is_some() && minute.is_some() && is_second && parts.next().is_none()
}

fn is_second(value: &str) -> bool {
    let (second, part) = value.split_once('.').map_or((value, None), |(second, part)| (second, Some(part)));
    number(second, 0, 59).is_some() && part.is_none_or(|part| part.len() <= 3 && is_digits(part))
}

/// `Z`, `+02:00`, `-0330`.
fn is_zone(value: &str) -> bool {
    let Some(offset) = value.strip_prefix(['+', '-']) else { return value == "Z" };
    let digits = offset.replacen(':', "", 1);
    let has_colon = offset.contains(':');
    let is_placed = !has_colon || offset.as_bytes().get(2) == Some(&b':');
    is_placed
        && digits.len() == 4
        && digits.is_ascii()
        && number(&digits[..2], 0, 23).is_some()
        && number(&digits[2..], 0, 59).is_some()
}

fn split_moment(value: &str) -> Option<(&str, &str)> {
    value.split_once('T').or_else(|| value.split_once(' '))
}

/// `2026-09-16T12:00Z`.
fn is_global(value: &str) -> bool {
    let Some((date, rest)) = split_moment(value) else { return false };
    let Some(at) = rest.find(['Z', '+', '-']) else { return false };
    is_date(date) && is_clock(&rest[..at]) && is_zone(&rest[at..])
}

pub(super) fn is_local(value: &str) -> bool {
    split_moment(value).is_some_and(|(date, clock)| is_date(date) && is_clock(clock))
}

/// `2026-W38`.
pub(super) fn is_week(value: &str) -> bool {
    value.split_once("-W").is_some_and(|(year, week)| is_year(year) && number(week, 1, 53).is_some())
}

/// `P4DT2H`, `4h 18m 3s`: numbers, each with a unit.
fn is_duration(value: &str) -> bool {
    let amounts = value.strip_prefix('P').map_or_else(|| value.to_owned(), |iso| iso.replacen('T', " ", 1));
    let mut amounts = amounts.split_inclusive(|letter: char| letter.is_ascii_alphabetic()).peekable();
    amounts.peek().is_some()
        && amounts.all(|amount| {
            let number = amount.trim_ascii().strip_suffix(['W', 'D', 'H', 'M', 'S', 'w', 'd', 'h', 'm', 's']);
            number.is_some_and(|number| super::is_float(number.trim_ascii()))
        })
}

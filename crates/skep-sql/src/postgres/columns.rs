//! Types of PostgreSQL that have no counterpart here, as texts: dates and times (RFC 3339, ISO 8601), UUIDs, numbers
//! with decimals.
//!
//! What is read is their binary format, as `src/backend/utils/adt` of PostgreSQL writes it.

/// From 0000-03-01 to 2000-01-01, which PostgreSQL counts from.
const DAYS_TO_2000: i64 = 730_425;

const MICROS_OF_DAY: i64 = 86_400_000_000;

pub(super) fn uuid(raw: &[u8]) -> Option<String> {
    let bytes: [u8; 16] = raw.try_into().ok()?;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    Some(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

pub(super) fn date(raw: &[u8]) -> Option<String> {
    match i32::from_be_bytes(raw.try_into().ok()?) {
        i32::MAX => Some("infinity".to_owned()),
        i32::MIN => Some("-infinity".to_owned()),
        days => Some(calendar(days.into())),
    }
}

pub(super) fn time(raw: &[u8]) -> Option<String> {
    Some(clock(i64::from_be_bytes(raw.try_into().ok()?)))
}

pub(super) fn timestamp(raw: &[u8], zone: &str) -> Option<String> {
    match i64::from_be_bytes(raw.try_into().ok()?) {
        i64::MAX => Some("infinity".to_owned()),
        i64::MIN => Some("-infinity".to_owned()),
        micros => {
            let (days, rest) = (micros.div_euclid(MICROS_OF_DAY), micros.rem_euclid(MICROS_OF_DAY));
            Some(format!("{}T{}{zone}", calendar(days), clock(rest)))
        }
    }
}

fn clock(micros: i64) -> String {
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if micros == 0 { whole } else { format!("{whole}.{micros:06}").trim_end_matches('0').to_owned() }
}

/// The day that is this number of days after 2000-01-01, in the Gregorian calendar. Years are counted from March, so
/// that a leap day is the last.
fn calendar(days: i64) -> String {
    let days = days + DAYS_TO_2000;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carry;
    // ISO 8601, 4.1.2.4: a year has four digits at least, and the one before the year 1 is 0000.
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{month:02}-{day:02}", year.abs())
}

/// A date or timestamp before the year 1 in PostgreSQL's words, which knows no year 0: the inverse of [`date`] and
/// [`timestamp`].
pub(super) fn before_christ(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix('-');
    let (year, rest) = unsigned.unwrap_or(text).split_once('-')?;
    let has_digits = year.len() >= 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    let year: u32 = year.parse().ok().filter(|_| has_digits)?;
    let next = year.checked_add(1)?;
    (unsigned.is_some() || year == 0).then(|| format!("{next:04}-{rest} BC"))
}

/// A number with every digit. It is read from groups of four digits, the weight of the first, a sign, and how many
/// decimals are shown.
pub(super) fn numeric(raw: &[u8]) -> Option<String> {
    let words: Vec<u16> = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let [_, weight, sign, scale, groups @ ..] = &*words else { return None };
    let (weight, scale) = (i32::from(weight.cast_signed()), usize::from(*scale));
    let special = match sign {
        0xC000 => Some("NaN"),
        0xD000 => Some("Infinity"),
        0xF000 => Some("-Infinity"),
        _ => None,
    };
    if let Some(special) = special {
        return Some(special.to_owned());
    }
    let group = |place: i32| usize::try_from(weight - place).ok().and_then(|nth| groups.get(nth)).copied().unwrap_or(0);
    let written = |places: &mut dyn Iterator<Item = i32>| -> String {
        places
            .flat_map(|place| {
                [1000, 100, 10, 1].map(|unit| char::from_digit(u32::from(group(place) / unit % 10), 10).unwrap_or('0'))
            })
            .collect()
    };
    let whole = written(&mut (0..=weight.max(0)).rev());
    let whole = whole.trim_start_matches('0');
    let mut text = if whole.is_empty() { "0".to_owned() } else { whole.to_owned() };
    if scale > 0 {
        let places = i32::try_from(scale.div_ceil(4)).ok()?;
        let decimals = written(&mut (1..=places).map(|place| -place));
        text = format!("{text}.{}", &decimals[..scale]);
    }
    Some(if *sign == 0x4000 { format!("-{text}") } else { text })
}

#[cfg(test)]
#[path = "../../tests/unit/postgres/columns.rs"]
mod tests;

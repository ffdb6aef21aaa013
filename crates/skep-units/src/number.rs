//! A decimal number with a unit, computed exactly.

/// A name, and how many of the smallest unit it stands for.
pub(crate) type Unit = (&'static str, u64);

/// Splits `1.5h rest` into the number's text and what follows it, without spaces between them.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (number, rest.trim_start())
}

/// `number` units of `unit`, if that is a whole number of the smallest unit.
pub(crate) fn scale(number: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // The largest unit, a day, has 13 digits of nanoseconds.
    if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 15 {
        return None;
    }
    let divisor = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let parts = fraction.parse::<u128>().ok()?.checked_mul(unit.into())?;
    let whole = whole.parse::<u128>().ok()?.checked_mul(unit.into())?;
    if parts.is_multiple_of(divisor) { whole.checked_add(parts / divisor) } else { None }
}

/// Writes `number` in the first of the units in which it is whole.
pub(crate) fn format(number: u128, units: &[Unit]) -> String {
    let fits = |(_, size): &&Unit| number > 0 && number.is_multiple_of(u128::from(*size));
    let (name, size) = units.iter().find(fits).copied().unwrap_or(("", 1));
    format!("{}{name}", number / u128::from(size))
}

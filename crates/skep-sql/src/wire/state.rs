//! Codes of PostgreSQL's errors (SQLSTATE) on their way to a component: as numbers below zero, where those of SQLite
//! are above.

/// How many codes of five letters and digits there are.
const CODES: i32 = 36_i32.pow(5);

/// The greatest parameter that can be named beside a code.
const MOST: usize = (i32::MAX / CODES) as usize - 1;

/// The number for a code, and for the parameter that it is about, counted from 1. 0 if it is no code.
#[must_use]
pub fn pack(code: &str, parameter: Option<usize>) -> i32 {
    let digit = |sign: char| sign.to_digit(36).filter(|_| !sign.is_ascii_lowercase());
    let value = code.chars().try_fold(0, |value, sign| Some(value * 36 + digit(sign)?));
    let parameter = parameter.filter(|number| *number <= MOST).unwrap_or(0);
    match value.and_then(|value| i32::try_from(value).ok()).filter(|_| code.len() == 5) {
        Some(value) => -(value + CODES * i32::try_from(parameter).unwrap_or(0)),
        None => 0,
    }
}

/// The code and the parameter in a number; `None` if PostgreSQL has no such code.
#[must_use]
pub fn unpack(number: i32) -> Option<(String, Option<usize>)> {
    let value = number.checked_neg().filter(|value| *value > 0)?.unsigned_abs();
    let (code, parameter) = (value % CODES.unsigned_abs(), value / CODES.unsigned_abs());
    let sign = |place: u32| char::from_digit(code / 36_u32.pow(place) % 36, 36).unwrap_or('0').to_ascii_uppercase();
    let parameter = usize::try_from(parameter).ok().filter(|parameter| *parameter > 0);
    Some(((0..5).rev().map(sign).collect(), parameter))
}

#[cfg(test)]
#[path = "../../tests/unit/wire/state.rs"]
mod tests;

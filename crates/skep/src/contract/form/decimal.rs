//! `rust_decimal::Decimal` as a parameter and a field of a form: the feature `decimal`.

use rust_decimal::Decimal;

use super::field::{Control, Shape, typed};
use super::look;
use super::number::decimal_number;
use crate::routing::param::shown::display_params;
use skep_http::validation::{Expected, FieldError};

display_params! {
    [] Decimal, |text| read(text).ok_or(()), "a decimal number such as 12.50" => Expected::Number;
}

/// A number as HTML knows them, also `.5` and `1e3`, which browsers send as they were typed. More than 28 digits are
/// not rounded, and no number.
fn read(text: &str) -> Option<Decimal> {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let power = power.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(power);
    let power = power.parse::<i32>().ok().filter(|number| number.abs() <= MOST && !power.starts_with('+'))?;
    let (whole, decimals) = mantissa.split_once('.').map_or((mantissa, None), |(whole, part)| (whole, Some(part)));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let decimals = match decimals {
        None if whole.is_empty() => return None,
        Some("") => return None,
        decimals => decimals.unwrap_or_default(),
    };
    if !are_digits(whole) || !are_digits(decimals) {
        return None;
    }
    let (digits, places) = (format!("{whole}{decimals}"), i32::try_from(decimals.len()).ok()? - power);
    let zeros = "0".repeat(usize::try_from(-places).unwrap_or(0));
    let width = usize::try_from(places).unwrap_or(0);
    let digits = format!("{:0>least$}{zeros}", digits, least = width + 1);
    let (whole, decimals) = digits.split_at(digits.len() - width);
    let point = if decimals.is_empty() { "" } else { "." };
    Decimal::from_str_exact(&format!("{sign}{whole}{point}{decimals}")).ok()
}

/// No decimal has more digits.
const MOST: i32 = 64;

decimal_number! {
    /// For limits, or a number of decimals, use [`skep::form::Decimal`](super::Decimal), or a rule.
    Decimal, read
}

#[cfg(test)]
#[path = "../../../tests/unit/form/decimal.rs"]
mod tests;

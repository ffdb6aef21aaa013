//! `rust_decimal::Decimal` as a parameter and a field of a form: the feature `decimal`.

use rust_decimal::Decimal;

use super::field::{Control, Shape};
use super::look;
use crate::param::shown::display_types;
use crate::validation::FieldError;

display_types! {
    [] Decimal, |text| read(text).ok_or(()), "a decimal number such as 12.50";
}

/// Digits, a point and a sign. More than 28 digits are not rounded, and no number.
fn read(text: &str) -> Option<Decimal> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let is_digit = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    if is_digit(whole) && is_digit(decimals) { Decimal::from_str_exact(text).ok() } else { None }
}

/// For limits, or a number of decimals, use [`skep::form::Decimal`](super::Decimal), or a rule.
impl Control for Decimal {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape { kind: "number", step: Some("any".into()), ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        match text.trim() {
            "" => Err(FieldError::Missing),
            text => read(text).ok_or(FieldError::NotNumber),
        }
    }
}

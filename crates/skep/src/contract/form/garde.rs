//! Rules of the crate `garde` on the fields of a service: the feature `garde`.

use std::borrow::Cow;

use ::garde::Validate;
use ::garde::rules::AsStr;
use ::garde::rules::length::bytes::HasBytes;
use ::garde::rules::length::chars::HasChars;
use ::garde::rules::length::simple::HasSimpleLength;
use ::garde::rules::length::utf16::HasUtf16CodeUnits;
use ::garde::rules::range::{Bounds, OutOfBounds};

use super::info::FieldInfo;
use super::{Decimal, Email, MultilineText, Password, Refusal, Text, Url, Whole};
use crate::contract::service::Service;
use skep_http::validation::FieldError;

/// Asks the rules of the fields. What they say stands beside the fields, in their words.
#[doc(hidden)]
pub fn judge_by_garde<S>(service: &S, refusal: &mut Refusal<S>)
where
    S: Service + Validate<Context: Default>,
{
    let Err(report) = service.validate() else { return };
    for (path, error) in report.iter() {
        let path = path.to_string();
        let (name, message) = match name(S::FIELDS, &path) {
            Some(name) => (name.into(), error.to_string()),
            // A parameter of the path has no control that this could stand beside.
            None => (Cow::Borrowed(""), format!("{path}: {error}")),
        };
        refusal.named(name, FieldError::Own(message.into()));
    }
}

/// The field of a path: `lines[0].product` is `lines.0.product`, `tags[1]` is `tags`.
fn name(fields: &[FieldInfo], path: &str) -> Option<String> {
    let first = path.split(['.', '[']).next()?;
    let field = fields.iter().find(|field| field.name == first)?;
    let row = path.strip_prefix(first)?.strip_prefix('[').and_then(|rest| rest.split_once("]."));
    if let Some(of_group) = path.strip_prefix(first)?.strip_prefix('.')
        && !field.many
        && let Some(sub) = name(field.group, of_group)
    {
        return Some(format!("{first}.{sub}"));
    }
    let named = row.and_then(|(row, rest)| {
        let sub = rest.split(['.', '[']).next()?;
        field.group.iter().any(|field| field.name == sub).then(|| format!("{first}.{row}.{sub}"))
    });
    Some(named.unwrap_or_else(|| first.to_owned()))
}

macro_rules! texts {
    ($($type:ty [$($generics:tt)*] $text:ident;)*) => { $(
        impl<$($generics)*> AsStr for $type {
            fn as_str(&self) -> &str {
                self.$text()
            }
        }
        impl<$($generics)*> HasSimpleLength for $type {
            fn length(&self) -> usize {
                self.$text().length()
            }
        }
        impl<$($generics)*> HasBytes for $type {
            fn num_bytes(&self) -> usize {
                self.$text().len()
            }
        }
        impl<$($generics)*> HasChars for $type {
            fn num_chars(&self) -> usize {
                self.$text().chars().count()
            }
        }
        impl<$($generics)*> HasUtf16CodeUnits for $type {
            fn num_code_units(&self) -> usize {
                self.$text().encode_utf16().count()
            }
        }
    )* };
}

texts! {
    Text<MIN, MAX> [const MIN: usize, const MAX: usize] as_str;
    MultilineText<MIN, MAX> [const MIN: usize, const MAX: usize] as_str;
    Password<MIN, MAX> [const MIN: usize, const MAX: usize] reveal;
    Email [] as_str;
    Url [] as_str;
}

/// `range(min = 2)` compares with a whole number.
impl<const MIN: i64, const MAX: i64> Bounds for Whole<MIN, MAX> {
    type Size = i64;
    const MIN: i64 = MIN;
    const MAX: i64 = MAX;

    fn validate_bounds(&self, lower: i64, upper: i64) -> Result<(), OutOfBounds> {
        self.get().validate_bounds(lower, upper)
    }
}

/// `range(min = Decimal::of_steps(150).unwrap())`
impl<const PLACES: u32, const MIN: i64, const MAX: i64> Bounds for Decimal<PLACES, MIN, MAX> {
    type Size = Self;
    const MIN: Self = Self::LEAST;
    const MAX: Self = Self::MOST;

    fn validate_bounds(&self, lower: Self, upper: Self) -> Result<(), OutOfBounds> {
        self.steps().validate_bounds(lower.steps(), upper.steps())
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/form/garde.rs"]
mod tests;

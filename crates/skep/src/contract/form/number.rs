//! Fields of numbers, and yes or no.

use std::borrow::Cow;
use std::fmt;

use super::field::{Control, Shape, typed};
use super::look;
use crate::routing::param::Param;
use crate::routing::param::shown::display_types;
use skep_http::validation::{Expected, FieldError};

/// A whole number from `MIN` to `MAX`, both included.
///
/// ```
/// use skep::form::{Control, FieldError, Whole};
///
/// assert_eq!(Whole::<1, 12>::check("7").unwrap().get(), 7);
/// assert_eq!(Whole::<1, 12>::check("13").unwrap_err(), FieldError::TooLarge { max: "12".into() });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Whole<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Whole<MIN, MAX> {
    /// This number, if it lies between the two.
    #[must_use]
    pub fn new(number: i64) -> Option<Self> {
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Control for Whole<MIN, MAX> {
    type Look = look::Line;

    fn shape() -> Shape {
        number_shape(&MIN, &MAX)
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        let number = within(whole(text)?, MIN.into(), MAX.into())?;
        Ok(Self(i64::try_from(number).expect("it lies between two i64")))
    }
}

/// An exact decimal number with `PLACES` digits behind the point, such as an amount of money: `Decimal<2>`. `MIN` and
/// `MAX` count in its smallest steps.
///
/// ```
/// use skep::form::{Control, Decimal, FieldError};
///
/// let price = Decimal::<2>::check("12.5").unwrap();
/// assert_eq!((price.steps(), price.to_string()), (1250, "12.50".to_owned()));
/// assert_eq!(Decimal::<2>::check("0.125").unwrap_err(), FieldError::TooPrecise { places: 2 });
/// assert_eq!(Decimal::<2, 0, 99_99>::check("100").unwrap_err(), FieldError::TooLarge { max: "99.99".into() });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decimal<const PLACES: u32, const MIN: i64 = { i64::MIN }, const MAX: i64 = { i64::MAX }>(i64);

impl<const PLACES: u32, const MIN: i64, const MAX: i64> Decimal<PLACES, MIN, MAX> {
    #[cfg(feature = "garde")]
    pub(super) const LEAST: Self = Self(MIN);
    #[cfg(feature = "garde")]
    pub(super) const MOST: Self = Self(MAX);

    /// The number that is `steps` of its smallest steps, if that lies between the limits.
    #[must_use]
    pub fn of_steps(steps: i64) -> Option<Self> {
        (MIN..=MAX).contains(&steps).then_some(Self(steps))
    }

    /// How many of its smallest steps: cents, if it has two places.
    #[must_use]
    pub fn steps(self) -> i64 {
        self.0
    }
}

/// More places than an `i64` has digits make no sense.
const MOST_PLACES: u32 = 18;

impl<const PLACES: u32, const MIN: i64, const MAX: i64> Control for Decimal<PLACES, MIN, MAX> {
    type Look = look::Line;

    fn shape() -> Shape {
        const { assert!(PLACES <= MOST_PLACES, "a Decimal has at most 18 places") };
        Shape {
            min: (MIN > i64::MIN).then(|| Self(MIN).to_string()),
            max: (MAX < i64::MAX).then(|| Self(MAX).to_string()),
            step: Some(step(PLACES)),
            ..number_shape(&0, &0)
        }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        let steps = scaled(text, PLACES)?;
        match i64::try_from(steps).unwrap_or(if steps < 0 { i64::MIN } else { i64::MAX }) {
            _ if steps < MIN.into() => Err(FieldError::TooSmall { min: Self(MIN).to_string() }),
            _ if steps > MAX.into() => Err(FieldError::TooLarge { max: Self(MAX).to_string() }),
            steps => Ok(Self(steps)),
        }
    }
}

fn step(places: u32) -> Cow<'static, str> {
    match places {
        0 => "1".into(),
        places => format!("0.{:0>width$}", 1, width = places as usize).into(),
    }
}

impl<const PLACES: u32, const MIN: i64, const MAX: i64> fmt::Display for Decimal<PLACES, MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if PLACES == 0 {
            return write!(f, "{}", self.0);
        }
        let unit = 10_u64.pow(PLACES.min(MOST_PLACES));
        let (steps, sign) = (self.0.unsigned_abs(), if self.0 < 0 { "-" } else { "" });
        write!(f, "{sign}{}.{:0>width$}", steps / unit, steps % unit, width = PLACES as usize)
    }
}

impl<const MIN: i64, const MAX: i64> fmt::Display for Whole<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

display_types! {
    [const MIN: i64, const MAX: i64] Whole<MIN, MAX>, |text| Self::check(text),
        format!("a whole number from {MIN} to {MAX}")
            => Expected::Whole { min: MIN.to_string(), max: MAX.to_string() };
    [const PLACES: u32, const MIN: i64, const MAX: i64] Decimal<PLACES, MIN, MAX>, |text| Self::check(text),
        format!("a number with at most {PLACES} digits behind the point") => Expected::Number;
}

fn number_shape(min: &dyn fmt::Display, max: &dyn fmt::Display) -> Shape {
    Shape { kind: "number", min: Some(min.to_string()), max: Some(max.to_string()), ..Shape::default() }
}

/// A whole number, also written `1e3` or `7.0`: browsers take that for one, and send it as it was typed.
fn whole(text: &str) -> Result<i128, FieldError> {
    scaled(text, 0)
        .map_err(|fault| if matches!(fault, FieldError::TooPrecise { .. }) { FieldError::NotWhole } else { fault })
}

/// A number as HTML knows them (2.3.4.3), exactly, in steps of `places` digits behind the point. What is beyond all
/// limits stays beyond them.
fn scaled(text: &str, places: u32) -> Result<i128, FieldError> {
    let text = typed(text)?;
    let (is_negative, number) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, power) = match number.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, exponent(power)?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if mantissa.is_empty() || mantissa.ends_with('.') || !all_digits(whole) || !all_digits(fraction) {
        return Err(FieldError::NotNumber);
    }
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let number = significant.trim_start_matches('0');
    if number.is_empty() {
        return Ok(0);
    }
    let dropped = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
    let behind = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let power = power.saturating_add(dropped).saturating_sub(behind).saturating_add(places.into());
    if power < 0 {
        return Err(FieldError::TooPrecise { places });
    }
    let factor = u32::try_from(power).ok().and_then(|power| 10_i128.checked_pow(power));
    let number = number.parse::<i128>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    Ok(match (number, is_negative) {
        (Some(number), true) => -number,
        (Some(number), false) => number,
        (None, true) => i128::MIN,
        (None, false) => i128::MAX,
    })
}

/// What stands behind the `e`.
fn exponent(text: &str) -> Result<i64, FieldError> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !all_digits(digits) {
        return Err(FieldError::NotNumber);
    }
    // More than a browser can compute with is all the same.
    let power = digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    Ok(if is_negative { -power } else { power })
}

fn all_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn within(number: i128, min: i128, max: i128) -> Result<i128, FieldError> {
    match number {
        number if number < min => Err(FieldError::TooSmall { min: min.to_string() }),
        number if number > max => Err(FieldError::TooLarge { max: max.to_string() }),
        number => Ok(number),
    }
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {$(
        impl Control for $number {
            type Look = look::Line;

            fn shape() -> Shape {
                number_shape(&<$number>::MIN, &<$number>::MAX)
            }

            fn check(text: &str) -> Result<Self, FieldError> {
                let limit = |number| i128::try_from(number).unwrap_or(i128::MAX);
                let number = within(whole(text)?, limit(<$number>::MIN), limit(<$number>::MAX))?;
                // Only a u128 beyond all i128 gets lost on the way.
                <$number>::try_from(number).map_err(|_| FieldError::NotNumber)
            }
        }
    )*};
}

whole_numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// A number with decimals, and the function that reads it.
macro_rules! decimal_number {
    ($(#[$about:meta])* $number:ty, $read:expr) => {
        $(#[$about])*
        impl Control for $number {
            type Look = look::Line;

            fn shape() -> Shape {
                Shape { kind: "number", step: Some("any".into()), ..Shape::default() }
            }

            fn check(text: &str) -> Result<Self, FieldError> {
                $read(typed(text)?).ok_or(FieldError::NotNumber)
            }
        }
    };
}

#[cfg(feature = "decimal")]
pub(super) use decimal_number;

decimal_number!(f32, |text: &str| text.parse().ok().filter(|number: &f32| number.is_finite()));
decimal_number!(f64, |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite()));

/// Ticked or not: a browser does not mention a checkbox that is not.
impl Control for bool {
    type Look = look::Tick;
    const REQUIRED: bool = false;

    fn shape() -> Shape {
        Shape { kind: "checkbox", required: false, ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() { Ok(false) } else { Self::parse(text).ok_or(FieldError::NotChoice) }
    }
}

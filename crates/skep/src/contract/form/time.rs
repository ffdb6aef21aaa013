//! Fields of dates and times.
//!
//! Small types of our own: a form needs to read, compare and write them, and no calendar arithmetic and no time zones,
//! for which an application brings the crate of its choice (each has a `parse` for these texts).

use std::fmt;
use std::str::FromStr;

use super::field::{Control, Shape, typed};
use super::look;
use crate::routing::param::shown::display_types;
use skep_http::validation::FieldError;

/// A day of the Gregorian calendar, from year 1 to 9999.
///
/// ```
/// use skep::form::Date;
///
/// let date: Date = "2028-02-29".parse().unwrap();
/// assert_eq!((date.year(), date.month(), date.day()), (2028, 2, 29));
/// assert!("2027-02-29".parse::<Date>().is_err());
/// assert!(date < Date::new(2028, 3, 1).unwrap());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A time of day, to the millisecond.
///
/// ```
/// use skep::form::Time;
///
/// let time: Time = "18:30".parse().unwrap();
/// assert_eq!((time.hour(), time.minute(), time.to_string()), (18, 30, "18:30".to_owned()));
/// assert_eq!("18:30:05.25".parse::<Time>().unwrap().to_string(), "18:30:05.250");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time {
    hour: u8,
    minute: u8,
    second: u8,
    millisecond: u16,
}

/// A day with a time, where the user is: the form does not say in which time zone.
///
/// ```
/// use skep::form::DateTime;
///
/// let start: DateTime = "2026-12-31T18:30".parse().unwrap();
/// assert_eq!((start.date().day(), start.time().hour()), (31, 18));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DateTime {
    date: Date,
    time: Time,
}

impl Date {
    /// This day, if there is one.
    #[must_use]
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=9999).contains(&year) && (1..=days_in(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }
}

/// None in a month that does not exist.
fn days_in(year: u16, month: u8) -> u8 {
    let leaps = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u8::from(leaps),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

impl Time {
    /// This time of day, if it exists; leap seconds do not.
    #[must_use]
    pub fn new(hour: u8, minute: u8, second: u8, millisecond: u16) -> Option<Self> {
        let exists = hour < 24 && minute < 60 && second < 60 && millisecond < 1000;
        exists.then_some(Self { hour, minute, second, millisecond })
    }
}

impl DateTime {
    /// This day at this time.
    #[must_use]
    pub fn new(date: Date, time: Time) -> Self {
        Self { date, time }
    }
}

macro_rules! getters {
    ($($type:ty { $($(#[$doc:meta])* $name:ident: $kind:ty),* $(,)? })*) => {$(
        impl $type {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(self) -> $kind {
                    self.$name
                }
            )*
        }
    )*};
}

getters! {
    Date {
        /// 1 to 9999.
        year: u16,
        /// 1 to 12.
        month: u8,
        /// 1 to 31.
        day: u8,
    }
    Time {
        /// 0 to 23.
        hour: u8,
        /// 0 to 59.
        minute: u8,
        /// 0 to 59.
        second: u8,
        /// 0 to 999.
        millisecond: u16,
    }
    DateTime {
        /// The day.
        date: Date,
        /// The time of day.
        time: Time,
    }
}

/// A number of exactly `count` digits.
fn digits<T: FromStr>(text: &str, count: usize) -> Option<T> {
    let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// HTML, 2.3.5.2.
impl FromStr for Date {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let read = || {
            let (year, rest) = text.split_once('-')?;
            let (month, day) = rest.split_once('-')?;
            Self::new(digits(year, 4)?, digits(month, 2)?, digits(day, 2)?)
        };
        read().ok_or(FieldError::NotDate)
    }
}

/// HTML, 2.3.5.4.
impl FromStr for Time {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let read = || {
            let (hour, rest) = text.split_once(':')?;
            let (minute, seconds) = rest.split_once(':').map_or((rest, "00"), |(minute, seconds)| (minute, seconds));
            let (second, fraction) = match seconds.split_once('.') {
                Some((second, fraction)) if (1..=3).contains(&fraction.len()) => (second, fraction),
                Some(_) => return None,
                None => (seconds, "0"),
            };
            let millisecond = digits(&format!("{fraction:0<3}"), 3)?;
            Self::new(digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?, millisecond)
        };
        read().ok_or(FieldError::NotTime)
    }
}

/// HTML, 2.3.5.5: a `T` or a space between the two.
impl FromStr for DateTime {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let (date, time) = text.split_once(['T', ' ']).ok_or(FieldError::NotDateTime)?;
        let date = date.parse().map_err(|_| FieldError::NotDateTime)?;
        let time = time.parse().map_err(|_| FieldError::NotDateTime)?;
        Ok(Self { date, time })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)?;
        match (self.second, self.millisecond) {
            (0, 0) => Ok(()),
            (second, 0) => write!(f, ":{second:02}"),
            (second, millisecond) => write!(f, ":{second:02}.{millisecond:03}"),
        }
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.date, self.time)
    }
}

macro_rules! fields {
    ($($type:ident, $kind:literal, $step:expr, $max:expr, $expected:literal;)*) => {$(
        impl Control for $type {
            type Look = look::Line;

            fn shape() -> Shape {
                let max: Option<&str> = $max;
                Shape { kind: $kind, step: $step, max: max.map(Into::into), ..Shape::default() }
            }

            fn check(text: &str) -> Result<Self, FieldError> {
                typed(text)?.parse()
            }
        }

        display_types! { [] $type, |text| text.parse(), $expected => skep_http::validation::Expected::$type; }
    )*};
}

fields! {
    // A browser knows years of six digits, and offers them where nothing says otherwise.
    Date, "date", None, Some("9999-12-31"), "a date such as 2026-12-31";
    // Whole minutes are what a browser offers; a value with seconds that is shown for editing stays valid with "any".
    Time, "time", Some("any".into()), None, "a time such as 18:30";
    DateTime, "datetime-local", Some("any".into()), Some("9999-12-31T23:59:59.999"), "a date and a time such as 2026-12-31T18:30";
}

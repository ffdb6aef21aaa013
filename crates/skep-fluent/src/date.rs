//! Dates and times in messages: `DATETIME()`.

use icu_datetime::DateTimeFormatter;
use icu_datetime::fieldsets::enums::{
    CalendarPeriodFieldSet, CompositeDateTimeFieldSet as Fields, DateAndTimeFieldSet, DateFieldSet, TimeFieldSet,
};
use icu_datetime::fieldsets::{E, MDE, T, YM, YMD, YMDE};
use icu_datetime::input::{Date as IcuDate, DateTime, Time};
use icu_datetime::options::{Length, TimePrecision};

use crate::argument::{Any, Argument, Date, Moment, ToArgument, Typed, arguments};
use crate::locale::Locale;

/// How much of a date is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateLength {
    /// `12/31/26`
    Short,
    /// `Dec 31, 2026`
    #[default]
    Medium,
    /// `December 31, 2026`
    Long,
    /// `Thursday, December 31, 2026`
    Full,
    /// `Thu, Dec 31`
    Day,
    /// `Thursday`: without a time of day
    Weekday,
    /// `December 2026`: without a time of day
    Month,
}

/// What a message says of a date: `DATETIME($day, dateStyle: "long")`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    date: Option<DateLength>,
    time: Option<DateLength>,
}

impl Style {
    /// Takes an option.
    ///
    /// # Errors
    /// The options there are.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        const HELP: &str = "DATETIME takes dateStyle and timeStyle: \"short\", \"medium\", \"long\" or \"full\", and dateStyle also \
                            \"day\", and without timeStyle \"weekday\" or \"month\"";
        let length = match value {
            "short" => DateLength::Short,
            "medium" => DateLength::Medium,
            "long" => DateLength::Long,
            "full" => DateLength::Full,
            "day" if name == "dateStyle" => DateLength::Day,
            "weekday" if name == "dateStyle" => DateLength::Weekday,
            "month" if name == "dateStyle" => DateLength::Month,
            _ => return Err(HELP),
        };
        match name {
            "dateStyle" => self.date = Some(length),
            "timeStyle" => self.time = Some(length),
            _ => return Err(HELP),
        }
        let is_without_time = matches!(self.date, Some(DateLength::Weekday | DateLength::Month));
        if is_without_time && self.time.is_some() { Err(HELP) } else { Ok(()) }
    }

    /// With what the moment has, if nothing is said.
    fn of(self, moment: Moment) -> Self {
        if self.date.is_some() || self.time.is_some() {
            return self;
        }
        let date = (!matches!(moment, Moment::Time(_))).then_some(DateLength::Medium);
        Self { date, time: (!matches!(moment, Moment::Date(_))).then_some(DateLength::Short) }
    }

    fn fields(self, locale: &Locale) -> Fields {
        // Of ICU, the long form of Portuguese has no digits.
        let month = if locale.icu().id.language.as_str() == "pt" { YM::medium() } else { YM::long() };
        let precision = match self.time {
            Some(DateLength::Short) => TimePrecision::Minute,
            _ => TimePrecision::Second,
        };
        let short = |length| if length == DateLength::Short { Length::Short } else { Length::Medium };
        match (self.date, self.time) {
            (Some(DateLength::Month), _) => Fields::CalendarPeriod(CalendarPeriodFieldSet::YM(month)),
            // Of ICU, minutes behind a weekday are written without their zero: 18:5.
            (Some(DateLength::Weekday), _) => Fields::Date(DateFieldSet::E(E::long())),
            (Some(DateLength::Day), None) => Fields::Date(DateFieldSet::MDE(MDE::medium())),
            (Some(DateLength::Day), Some(_)) => {
                Fields::DateTime(DateAndTimeFieldSet::MDET(MDE::medium().with_time(precision)))
            }
            (Some(DateLength::Full), None) => Fields::Date(DateFieldSet::YMDE(YMDE::long())),
            (Some(DateLength::Long), None) => Fields::Date(DateFieldSet::YMD(YMD::long())),
            (Some(length), None) => Fields::Date(DateFieldSet::YMD(YMD::for_length(short(length)))),
            (Some(DateLength::Full), Some(_)) => {
                Fields::DateTime(DateAndTimeFieldSet::YMDET(YMDE::long().with_time(precision)))
            }
            (Some(DateLength::Long), Some(_)) => {
                Fields::DateTime(DateAndTimeFieldSet::YMDT(YMD::long().with_time(precision)))
            }
            (Some(length), Some(_)) => {
                Fields::DateTime(DateAndTimeFieldSet::YMDT(YMD::for_length(short(length)).with_time(precision)))
            }
            (None, _) => Fields::Time(TimeFieldSet::T(T::medium().with_time_precision(precision))),
        }
    }
}

impl Moment {
    /// As the language writes it, with the date of this length.
    #[must_use]
    pub fn text(self, locale: &Locale, length: DateLength) -> String {
        let style = Style::default().of(self);
        self.written(locale, Style { date: style.date.and(Some(length)), ..style })
    }

    pub(crate) fn written(self, locale: &Locale, style: Style) -> String {
        let (date, time) = match self {
            Self::Date(date) => (date, jiff::civil::Time::midnight()),
            Self::Time(time) => (jiff::civil::date(1970, 1, 1), time),
            Self::DateTime(both) => (both.date(), both.time()),
        };
        let formatter = DateTimeFormatter::try_new(locale.icu().into(), style.of(self).fields(locale));
        let date = IcuDate::try_new_iso(i32::from(date.year()), part(date.month()), part(date.day()));
        let time = Time::try_new(part(time.hour()), part(time.minute()), part(time.second()), 0);
        // The data of all languages is in the program, and jiff has valid dates only.
        let (Ok(formatter), Ok(date), Ok(time)) = (formatter, date, time) else { return String::new() };
        formatter.format(&DateTime { date, time }).to_string()
    }
}

fn part(part: i8) -> u8 {
    part.unsigned_abs()
}

impl Typed<'_, Date> {
    /// The date.
    #[must_use]
    pub fn into_moment(self) -> Moment {
        match self.into_argument() {
            Argument::Date(moment) => moment,
            _ => Moment::Date(jiff::civil::date(1970, 1, 1)),
        }
    }
}

arguments!(Moment, Date, |moment| Argument::Date(*moment));
arguments!(jiff::civil::Date, Date, |date| Argument::Date(Moment::Date(*date)));
arguments!(jiff::civil::Time, Date, |time| Argument::Date(Moment::Time(*time)));
arguments!(jiff::civil::DateTime, Date, |both| Argument::Date(Moment::DateTime(*both)));
arguments!(jiff::Zoned, Date, |zoned| Argument::Date(Moment::DateTime(zoned.datetime())));

//! The types of the crate `jiff` as parameters and fields of forms: the feature `jiff`.
//!
//! A form says a day and a time where its user is. In which time zone that is, the application knows: [`Name::in_zone`]
//! makes a moment of it.

use std::borrow::Cow;

use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, Timestamp, Zoned, civil};
use skep_html::jiff::written;

use super::Form;
use super::field::{Control, FormField, Shape, typed};
use super::look;
use super::name::Name;
use super::time::{Date, DateTime, Time};
use crate::context::cx::Cx;
use crate::routing::param::Param;
use crate::routing::param::shown::display_params;
use skep_http::error::Result;
use skep_http::validation::{Expected, FieldError, Messages};

/// As [`written`] has it: seconds only where there are some.
macro_rules! local {
    ($($type:ident, $of_form:ident, $fault:ident, $expected:literal;)*) => {$(
        impl Param for civil::$type {
            fn expected() -> Cow<'static, str> {
                $expected.into()
            }

            fn expectation() -> Expected {
                Expected::$type
            }

            fn parse(text: &str) -> Option<Self> {
                let value = text.parse().ok()?;
                // Of what jiff reads besides, only what it writes: a value has one text.
                let is_plain = text.parse::<$of_form>().is_ok() || written(&value) == text;
                is_plain.then_some(value)
            }

            fn write(&self, out: &mut String) {
                out.push_str(&written(self));
            }
        }

        impl Control for civil::$type {
            type Look = look::Line;

            fn shape() -> Shape {
                <$of_form as Control>::shape()
            }

            fn check(text: &str) -> Result<Self, FieldError> {
                Self::parse(typed(text)?).ok_or(FieldError::$fault)
            }
        }
    )*};
}

local! {
    Date, Date, NotDate, "a date such as 2026-12-31";
    Time, Time, NotTime, "a time such as 18:30";
    DateTime, DateTime, NotDateTime, "a date and a time such as 2026-12-31T18:30";
}

display_params! {
    [] Timestamp, |text| text.parse::<Timestamp>(), "a moment such as 2026-12-31T18:30:00Z";
    [] Zoned, |text| text.parse::<Zoned>(), "a moment such as 2026-12-31T19:30:00+01:00[Europe/Berlin]";
    [] Span, |text| text.parse::<Span>(), "a span such as P1DT2H30M";
}

impl Param for TimeZone {
    fn expected() -> Cow<'static, str> {
        "a time zone such as Europe/Berlin".into()
    }

    fn parse(text: &str) -> Option<Self> {
        Self::get(text).ok()
    }

    /// One without a name, such as an offset, is written as an empty text.
    fn write(&self, out: &mut String) {
        out.push_str(self.iana_name().unwrap_or_default());
    }
}

/// The name is typed, and a `datalist` may offer those that are likely. A short list to choose from is a
/// [`OneOf`](super::OneOf).
impl Control for TimeZone {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape::default()
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        Self::parse(typed(text)?).ok_or_else(|| FieldError::Expected(Self::expectation()))
    }
}

/// Which of two equal times is meant, where the clocks go back and an hour comes twice. A choice, to be shown in a form
/// when [`Name::in_zone`] asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, skep_macros::Param)]
pub enum Fold {
    /// The first of the two, before the clocks go back.
    #[param(label = "The first time", label(de = "Das erste Mal"))]
    First,
    /// The second.
    #[param(label = "The second time", label(de = "Das zweite Mal"))]
    Second,
}

impl<S, T> Name<S, T> {
    /// The moment at which the clocks of a time zone show this, a value of this field. Where they go forward and leave
    /// it out, and where they go back, show it twice and `fold` does not say which time is meant, the error says so
    /// beside this field (422).
    ///
    /// ```
    /// use jiff::civil;
    /// use skep::form::Fold;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/courses")]
    /// struct Create { #[form] starts: civil::DateTime, #[form] fold: Option<Fold> }
    ///
    /// impl Handle for Create {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let zone = jiff::tz::TimeZone::get("Europe/Berlin").map_err(Error::internal)?;
    ///         let starts = Self::starts.in_zone(cx, self.starts, &zone, self.fold)?;
    ///         Ok(Response::text(starts.timestamp().to_string()))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Create]));
    /// assert_eq!(client.post("/courses", &[("starts", "2026-07-01T18:30")]).text(), "2026-07-01T16:30:00Z");
    /// assert_eq!(client.post("/courses", &[("starts", "2026-03-29T02:30")]).status(), 422, "it is left out");
    /// assert_eq!(client.post("/courses", &[("starts", "2026-10-25T02:30")]).status(), 422, "it comes twice");
    /// let second = client.post("/courses", &[("starts", "2026-10-25T02:30"), ("fold", "second")]);
    /// assert_eq!(second.text(), "2026-10-25T01:30:00Z");
    /// ```
    pub fn in_zone(self, cx: &Cx<'_>, local: civil::DateTime, zone: &TimeZone, fold: Option<Fold>) -> Result<Zoned> {
        moment(local, zone, fold).map_err(|problem| self.refuse(problem.text(cx.messages())))
    }
}

impl<S> Form<S> {
    /// True if the clocks of the time zone go back and show twice what this field shows: to ask then which of the two
    /// times is meant, by a [`Fold`]. False for what is no time.
    ///
    /// ```
    /// use jiff::civil;
    /// use jiff::tz::TimeZone;
    /// use skep::form::Fold;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/courses/new")]
    /// struct New;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/courses", page = New)]
    /// struct Create { #[form] starts: civil::DateTime, #[form] fold: Option<Fold> }
    ///
    /// fn zone() -> Result<TimeZone> { TimeZone::get("Europe/Berlin").map_err(Error::internal) }
    ///
    /// impl Handle for New {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let (form, zone) = (Create::form(cx), zone()?);
    ///         Ok(Response::html(html! {
    ///             form (form) {
    ///                 label (Create::starts) { "Starts" }
    ///                 input (Create::starts);
    ///                 @if form.comes_twice(Create::starts, &zone) {
    ///                     label (Create::fold) { "Which of the two times" }
    ///                     select (Create::fold);
    ///                 }
    ///                 button { "Save" }
    ///             }
    ///         }))
    ///     }
    /// }
    ///
    /// impl Handle for Create {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let starts = Self::starts.in_zone(cx, self.starts, &zone()?, self.fold)?;
    ///         Ok(Response::text(starts.timestamp().to_string()))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![New, Create]));
    /// let asks = |starts| client.post("/courses", &[("starts", starts)]).text().contains("Which of the two times");
    /// assert!(asks("2026-10-25T02:30"));
    /// assert!(!asks("2026-03-29T02:30") && !asks("tomorrow"));
    /// assert!(!client.get("/courses/new").text().contains("Which of the two times"));
    /// ```
    #[must_use]
    pub fn comes_twice<T: FormField>(&self, name: Name<S, T>, zone: &TimeZone) -> bool {
        let local = civil::DateTime::parse(self.shown(name));
        local.is_some_and(|local| matches!(zone.to_ambiguous_zoned(local).offset(), AmbiguousOffset::Fold { .. }))
    }
}

/// Why the clocks do not say which moment is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// They go forward, from the one to the other.
    Gap { from: civil::DateTime, to: civil::DateTime },
    /// They go back.
    Fold(civil::DateTime),
    /// No clock shows it: at the ends of the calendar.
    Beyond,
}

fn moment(local: civil::DateTime, zone: &TimeZone, fold: Option<Fold>) -> Result<Zoned, Problem> {
    let ambiguous = zone.to_ambiguous_zoned(local);
    let zoned = match (ambiguous.offset(), fold) {
        (AmbiguousOffset::Gap { before, after }, _) => {
            let gap = after.seconds() - before.seconds();
            let to = local.checked_add(jiff::SignedDuration::from_secs(gap.into())).map_err(|_| Problem::Beyond)?;
            return Err(Problem::Gap { from: local, to });
        }
        (AmbiguousOffset::Fold { .. }, None) => return Err(Problem::Fold(local)),
        (AmbiguousOffset::Fold { .. }, Some(Fold::First)) => ambiguous.earlier(),
        (AmbiguousOffset::Fold { .. }, Some(Fold::Second)) => ambiguous.later(),
        (AmbiguousOffset::Unambiguous { .. }, _) => ambiguous.unambiguous(),
    };
    zoned.map_err(|_| Problem::Beyond)
}

impl Problem {
    fn text(&self, messages: &Messages) -> String {
        match self {
            Self::Gap { from, to } if from.date() == to.date() => {
                (messages.time_left_out)(&written(&from.time()), &written(&to.time()))
            }
            Self::Gap { from, to } => (messages.time_left_out)(&shown(from), &shown(to)),
            Self::Fold(local) => (messages.time_twice)(&written(&local.time())),
            Self::Beyond => messages.not_date_time.to_owned(),
        }
    }
}

/// A day and a time for a reader.
fn shown(local: &civil::DateTime) -> String {
    format!("{} {}", local.date(), written(&local.time()))
}

#[cfg(test)]
#[path = "../../../tests/unit/form/jiff.rs"]
mod tests;

//! The types of the crate `jiff` in pages: the feature `jiff`.

use std::fmt::Display;

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned, civil};

use super::render::impl_shown;

/// A type whose text leaves out seconds that are zero, as HTML has it.
pub trait Written: Display {
    /// There are no seconds to write.
    fn is_short(&self) -> bool;
}

/// The text of a value in a page and in a form.
pub fn written(value: &impl Written) -> String {
    let mut text = value.to_string();
    if value.is_short() {
        text.truncate(text.len() - ":00".len());
    }
    text
}

macro_rules! civil {
    ($($type:ident, |$value:ident| $is_short:expr;)*) => {$(
        impl Written for civil::$type {
            fn is_short(&self) -> bool {
                let $value = self;
                $is_short
            }
        }

        impl_shown!(civil::$type, |value| format_args!("{}", written(value)));
    )*};
}

civil! {
    Date, |_date| false;
    Time, |time| time.second() == 0 && time.subsec_nanosecond() == 0;
    DateTime, |moment| moment.second() == 0 && moment.subsec_nanosecond() == 0;
}

impl_shown!(Timestamp, |value| format_args!("{value}"));
impl_shown!(Zoned, |value| format_args!("{value}"));
impl_shown!(Span, |value| format_args!("{value}"));
impl_shown!(TimeZone, |zone| format_args!("{}", zone.iana_name().unwrap_or_default()));

//! The types of the crate `jiff` in columns: the feature `jiff`.
//!
//! Dates and times are texts of one length, so that texts are in the order of time: a year has four digits, a second
//! six decimals, which is what PostgreSQL keeps of one. What no database has a type for is a column of text in both: a
//! moment with its time zone, a span, a time zone.

use ::jiff::fmt::temporal::DateTimeParser;
use ::jiff::tz::{OffsetConflict, TimeZone};
use ::jiff::{Span, Timestamp, Zoned, civil};

use super::kind::{self, NotNull};
use super::query::Parameter;
use super::value::{Element, FromValue, ToValue, Unfit, Value};

/// 0000-01-01T00:00:00Z
const YEAR_0: i64 = -62_167_219_200;

macro_rules! texts {
    ($($type:ty => $kind:ident, $example:literal, |$value:ident| $written:expr, |$text:ident| $read:expr;)*) => {$(
        impl ToValue for $type {
            type Sql = kind::$kind;

            fn to_value(&self) -> Result<Value<'_>, Unfit> {
                let $value = self;
                Ok(Value::Text($written?.into()))
            }
        }

        impl FromValue for $type {
            type Sql = kind::$kind;

            fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
                let Value::Text($text) = &value else { return Err(Unfit::expected("text", &value)) };
                $read.map_err(|_| Unfit::because(format!("{:?} is not such as {}", $text, $example)))
            }
        }

        impl<'q> Parameter<'q> for $type {
            type Sql = kind::$kind;

            fn into_value(self) -> Result<Value<'q>, Unfit> {
                self.to_value().map(Value::into_owned)
            }
        }

        impl Element for $type {
            type Sql = NotNull<kind::$kind>;
        }
    )*};
}

texts! {
    Timestamp => Timestamp, "2026-12-31T18:30:00.000000Z",
        |moment| in_order(moment.as_second() >= YEAR_0, format!("{moment:.6}")), |text| text.parse();
    civil::Date => Date, "2026-12-31", |date| in_order(date.year() >= 0, date.to_string()), |text| text.parse();
    civil::Time => Time, "18:30:00.000000", |time| in_order(true, format!("{time:.6}")), |text| text.parse();
    civil::DateTime => DateTime, "2026-12-31T18:30:00.000000",
        |moment| in_order(moment.year() >= 0, format!("{moment:.6}")), |text| text.parse();
    Zoned => Text, "2026-12-31T19:30:00+01:00[Europe/Berlin]", |moment| zoned(moment), |text| READER.parse_zoned(text.as_bytes());
    Span => Text, "P1DT2H30M", |span| Ok::<_, Unfit>(span.to_string()), |text| text.parse();
    TimeZone => Text, "Europe/Berlin", |zone| name(zone).map(str::to_owned), |text| TimeZone::get(text);
}

fn in_order(is_stored: bool, text: String) -> Result<String, Unfit> {
    let text = is_stored.then_some(text);
    text.ok_or_else(|| Unfit::because("a year before 0 is not stored, since texts of such years are not in order"))
}

/// Where the rules of a zone have changed since a moment was stored, its clock counts, and not its offset.
const READER: DateTimeParser = DateTimeParser::new().offset_conflict(OffsetConflict::PreferOffset);

/// With the zone's name: an offset alone does not say when the clocks change.
fn zoned(moment: &Zoned) -> Result<String, Unfit> {
    name(moment.time_zone()).map(|_| moment.to_string())
}

fn name(zone: &TimeZone) -> Result<&str, Unfit> {
    zone.iana_name().ok_or_else(|| Unfit::because("a time zone without a name such as Europe/Berlin is not stored"))
}

//! The types of the crate `jiff` in columns: the feature `jiff`.
//!
//! They are texts of one length, so that texts are in the order of time: a year has four digits, a second six decimals,
//! which is what PostgreSQL keeps of one.

use ::jiff::{Timestamp, civil};

use super::checked::{self, NotNull};
use super::query::Parameter;
use super::value::{Element, FromValue, ToValue, Unfit, Value};

/// 0000-01-01T00:00:00Z
const YEAR_0: i64 = -62_167_219_200;

macro_rules! texts {
    ($($type:ty => $kind:ident, $example:literal, |$value:ident| $is_stored:expr, $format:literal;)*) => {$(
        impl ToValue for $type {
            type Sql = checked::$kind;

            fn to_value(&self) -> Result<Value<'_>, Unfit> {
                let $value = self;
                if $is_stored {
                    Ok(Value::Text(format!($format, $value).into()))
                } else {
                    Err(Unfit::because("a year before 0 is not stored, since texts of such years are not in order"))
                }
            }
        }

        impl FromValue for $type {
            type Sql = checked::$kind;

            fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
                let Value::Text(text) = &value else { return Err(Unfit::expected("text", &value)) };
                text.parse().map_err(|_| Unfit::because(format!("{text:?} is not such as {}", $example)))
            }
        }

        impl<'q> Parameter<'q> for $type {
            type Sql = checked::$kind;

            fn into_value(self) -> Result<Value<'q>, Unfit> {
                self.to_value().map(Value::into_owned)
            }
        }

        impl Element for $type {
            type Sql = NotNull<checked::$kind>;
        }
    )*};
}

texts! {
    Timestamp => Timestamp, "2026-12-31T18:30:00.000000Z", |moment| moment.as_second() >= YEAR_0, "{:.6}";
    civil::Date => Date, "2026-12-31", |date| date.year() >= 0, "{}";
    civil::Time => Time, "18:30:00.000000", |_time| true, "{:.6}";
    civil::DateTime => DateTime, "2026-12-31T18:30:00.000000", |moment| moment.year() >= 0, "{:.6}";
}

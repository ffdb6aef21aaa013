//! The types of forms in columns: what a form sent goes into a statement as it is, and comes back as the same type.

use super::{Control, Date, DateTime, Decimal, Email, MultilineText, Text, Time, Url, Whole};
use crate::sql::kind::NotNull;
use crate::sql::{self, Element, FromValue, Parameter, ToValue, Unfit, Value};

/// As the text that a form sends. A text in the database that the type would refuse is [`Unfit`]: to read it
/// nevertheless, read a `String`.
macro_rules! as_text {
    ($([$($generics:tt)*] $type:ty, $text:ident $(, $shortened:ident)?;)*) => {$(
        impl<$($generics)*> ToValue for $type {
            type Sql = sql::kind::Text;

            fn to_value(&self) -> Result<Value<'_>, Unfit> {
                Ok(Value::Text(self.$text().into()))
            }
        }

        impl<$($generics)*> FromValue for $type {
            type Sql = sql::kind::Text;

            fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
                let text = String::from_value(value)?;
                $(let text = $shortened(&text);)?
                text.parse().map_err(|_| Unfit::because(format!("not {}", <$type as crate::routing::param::Param>::expected())))
            }
        }

        impl<$($generics)*> Element for $type {
            type Sql = NotNull<sql::kind::Text>;
        }
    )*};
}

as_text! {
    [const MIN: usize, const MAX: usize] Text<MIN, MAX>, as_str;
    [const MIN: usize, const MAX: usize] MultilineText<MIN, MAX>, as_str;
    [] Email, as_str;
    [] Url, as_str;
    [] Date, to_string;
    [] Time, to_string, shortened;
    [] DateTime, to_string, shortened;
}

/// A time as forms write it: databases write zeros behind the three decimals of a second that HTML knows.
fn shortened(text: &str) -> &str {
    let end = text.rfind('.').map_or(text.len(), |point| point + 4);
    let are_zeros = text.get(end..).is_some_and(|rest| rest.bytes().all(|byte| byte == b'0'));
    if are_zeros { &text[..end] } else { text }
}

/// What is copied is given by value, as a number is: nothing need outlive the statement.
macro_rules! by_value {
    ($([$($generics:tt)*] $type:ty, $sql:ident $(<$places:ident>)?;)*) => {$(
        impl<'q, $($generics)*> Parameter<'q> for $type {
            type Sql = sql::kind::$sql $(<$places>)?;

            fn into_value(self) -> Result<Value<'q>, Unfit> {
                self.to_value().map(Value::into_owned)
            }
        }
    )*};
}

by_value! {
    [] Date, Text;
    [] Time, Text;
    [] DateTime, Text;
    [const MIN: i64, const MAX: i64] Whole<MIN, MAX>, Integer;
    [const PLACES: u32, const MIN: i64, const MAX: i64] Decimal<PLACES, MIN, MAX>, Exact<PLACES>;
}

/// For a column of as many places, so that none is ever rounded: a form says beside the field that there are too many.
impl<const PLACES: u32, const MIN: i64, const MAX: i64> ToValue for Decimal<PLACES, MIN, MAX> {
    type Sql = sql::kind::Exact<PLACES>;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        Ok(Value::Decimal(self.to_string().into()))
    }
}

impl<const PLACES: u32, const MIN: i64, const MAX: i64> FromValue for Decimal<PLACES, MIN, MAX> {
    type Sql = sql::kind::Exact<PLACES>;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        let text = match value {
            Value::Integer(number) => number.to_string().into(),
            Value::Decimal(text) | Value::Text(text) => text,
            other => return Err(Unfit::expected("a decimal number", &other)),
        };
        Self::check(&text)
            .map_err(|_| Unfit::because(format!("{text:?} does not fit, with its limits and {PLACES} places")))
    }
}

impl<const PLACES: u32, const MIN: i64, const MAX: i64> Element for Decimal<PLACES, MIN, MAX> {
    type Sql = NotNull<sql::kind::Exact<PLACES>>;
}

impl<const MIN: i64, const MAX: i64> ToValue for Whole<MIN, MAX> {
    type Sql = sql::kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        Ok(Value::Integer(self.get()))
    }
}

impl<const MIN: i64, const MAX: i64> FromValue for Whole<MIN, MAX> {
    type Sql = sql::kind::Integer;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        let number = i64::from_value(value)?;
        Self::new(number).ok_or_else(|| Unfit::because(format!("{number} does not lie between {MIN} and {MAX}")))
    }
}

impl<const MIN: i64, const MAX: i64> Element for Whole<MIN, MAX> {
    type Sql = NotNull<sql::kind::Integer>;
}

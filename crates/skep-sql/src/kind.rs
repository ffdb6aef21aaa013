//! The types of columns and parameters, as the compiler compares them: no value has one of them.
//!
//! A type of yours says by them which columns it fits: `type Sql = sql::kind::Text;`. The example is at
//! [`ToValue`](super::ToValue).

use std::marker::PhantomData;

use super::value::{Unfit, Value};

macro_rules! kinds {
    ($($(#[$docs:meta])* $name:ident)*) => {$(
        $(#[$docs])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
    )*};
}

kinds! {
    /// A column of integers: `i64`, the other integers, `bool`.
    Integer
    /// A column of floating-point numbers: `f64`.
    Real
    /// A column of text: `String`, `Slug`, the types of forms, enums with `derive(Param)`.
    Text
    /// A column of bytes: `Vec<u8>`.
    Blob
    /// A `numeric` of PostgreSQL: `String` has every digit, `f64` the nearest number. For an integer, write
    /// `cast(... as bigint)`.
    Decimal
    /// A column of days, which is text in SQLite: `jiff::civil::Date`, `Date` of forms, texts.
    Date
    /// A column of times of day, which is text in SQLite: `jiff::civil::Time`, `Time` of forms, texts.
    Time
    /// A column of days with a time and no time zone, `timestamp` of PostgreSQL, text in SQLite:
    /// `jiff::civil::DateTime`, `DateTime` of forms, texts.
    DateTime
    /// A column of moments, `timestamptz` of PostgreSQL, text in SQLite: `jiff::Timestamp`, texts.
    Timestamp
    /// A column of JSON, which is text in SQLite: texts.
    Json
    /// A column whose type SQLite does not promise. Any type may be read; whether it fits is known at run time.
    Any
}

macro_rules! as_they_are {
    ($($name:ident)*) => {$(impl SqlKind for $name {})*};
}

as_they_are! { Integer Real Text Blob Decimal Json Any }

macro_rules! moments {
    ($($name:ident, $write:ident, $example:literal;)*) => {$(
        impl SqlKind for $name {
            fn fit(value: Value<'_>) -> Result<Value<'_>, Unfit> {
                super::moment::stored(value, super::moment::$write, $example)
            }
        }
    )*};
}

moments! {
    Date, date, "2026-12-31";
    Time, time, "18:30:00";
    DateTime, date_time, "2026-12-31T18:30:00";
    Timestamp, timestamp, "2026-12-31T18:30:00Z";
}

/// A decimal number with this many digits behind the point, for columns of just as many: `Decimal` of forms.
#[derive(Clone, Copy, Debug)]
pub enum Exact<const PLACES: u32> {}

/// A decimal number in SQLite, which has none: a text with all its `PLACES` behind the point, and `DIGITS` at most.
#[derive(Clone, Copy, Debug)]
pub enum Fixed<const DIGITS: u32, const PLACES: u32> {}

impl<const DIGITS: u32, const PLACES: u32> SqlKind for Fixed<DIGITS, PLACES> {
    fn fit(value: Value<'_>) -> Result<Value<'_>, Unfit> {
        let text = match value {
            Value::Integer(number) => number.to_string().into(),
            Value::Decimal(text) | Value::Text(text) => text,
            Value::Null => return Ok(Value::Null),
            other => return Err(Unfit::expected("a decimal number", &other)),
        };
        super::fixed::written(&text, DIGITS, PLACES).map(|text| Value::Text(text.into()))
    }
}

/// What a parameter becomes where it is put in SQLite.
#[doc(hidden)]
pub trait SqlKind {
    /// The value as this column stores it.
    fn fit(value: Value<'_>) -> Result<Value<'_>, Unfit> {
        Ok(value)
    }
}

/// An array of PostgreSQL, whose elements are [`NotNull`] or [`Nullable`] of another type.
#[derive(Debug)]
pub struct Array<E>(PhantomData<E>);

/// A column that is never NULL.
#[derive(Debug)]
pub struct NotNull<K>(PhantomData<K>);

/// A column that may be NULL.
#[derive(Debug)]
pub struct Nullable<K>(PhantomData<K>);

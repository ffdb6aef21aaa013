//! What a column holds, and how Rust types go in and out.

use std::borrow::Cow;

use super::kind::{Any, Array, Blob, Integer, NotNull, Nullable, Real, Text};
use crate::wire::Writer;

/// One value, as SQLite knows them, and PostgreSQL's decimal numbers and arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A signed integer of 64 bits.
    Integer(i64),
    /// A floating-point number of 64 bits.
    Real(f64),
    /// Text in UTF-8.
    Text(Cow<'a, str>),
    /// A `numeric` of PostgreSQL with every digit, such as `12.50`; also `NaN`, `Infinity` and `-Infinity`. Given to
    /// SQLite, it is a text.
    Decimal(Cow<'a, str>),
    /// Bytes.
    Blob(Cow<'a, [u8]>),
    /// An array of PostgreSQL, of one dimension. SQLite has none.
    Array(Vec<Value<'a>>),
}

impl Value<'_> {
    /// The same value, borrowing nothing.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Integer(value) => Value::Integer(value),
            Value::Real(value) => Value::Real(value),
            Value::Text(value) => Value::Text(Cow::Owned(value.into_owned())),
            Value::Decimal(value) => Value::Decimal(Cow::Owned(value.into_owned())),
            Value::Blob(value) => Value::Blob(Cow::Owned(value.into_owned())),
            Value::Array(elements) => Value::Array(elements.into_iter().map(Value::into_owned).collect()),
        }
    }

    /// As it crosses between a component and its host: `wit/skep.wit`, interface `sql`.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "SQLite packs its own"))]
    pub(super) fn pack(&self, out: &mut Writer) {
        match self {
            Value::Null => out.u8(0),
            Value::Integer(number) => {
                out.u8(1);
                out.u64(number.cast_unsigned());
            }
            Value::Real(number) => {
                out.u8(2);
                out.u64(number.to_bits());
            }
            Value::Text(text) => {
                out.u8(3);
                out.bytes(text.as_bytes());
            }
            Value::Decimal(number) => {
                out.u8(5);
                out.bytes(number.as_bytes());
            }
            Value::Blob(bytes) => {
                out.u8(4);
                out.bytes(bytes);
            }
            Value::Array(elements) => {
                let mut packed = Writer::default();
                for element in elements {
                    element.pack(&mut packed);
                }
                out.u8(6);
                out.bytes(&packed.finish());
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Value::Null => "NULL",
            Value::Integer(_) => "an integer",
            Value::Real(_) => "a real number",
            Value::Text(_) => "text",
            Value::Decimal(_) => "a decimal number",
            Value::Blob(_) => "a blob",
            Value::Array(_) => "an array",
        }
    }
}

/// A type whose values can be written: given to a statement as a parameter, by reference.
///
/// ```
/// use skep_sql::{ToValue, Unfit, Value};
///
/// struct Slug(String);
///
/// impl ToValue for Slug {
///     type Sql = skep_sql::kind::Text;
///
///     fn to_value(&self) -> Result<Value<'_>, Unfit> {
///         self.0.to_value()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of a database",
    note = "implement `ToValue` for it",
    note = "an array of PostgreSQL is given as a `Vec` or as a slice: `&list[..]`"
)]
pub trait ToValue {
    /// What the values are in SQLite: [`Integer`], [`Real`], [`Text`], [`Blob`] or [`Any`]. [`sql!`](crate::sql!)
    /// compares it with the column.
    type Sql;

    /// The value that SQLite is given. A value that SQLite cannot hold (a `u64` above 2^63 - 1) is [`Unfit`].
    fn to_value(&self) -> Result<Value<'_>, Unfit>;
}

/// A type whose values can be read from a column.
///
/// ```
/// use skep_sql::{FromValue, Unfit, Value};
///
/// struct Slug(String);
///
/// impl FromValue for Slug {
///     type Sql = skep_sql::kind::Text;
///
///     fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
///         let text = String::from_value(value)?;
///         if text.contains('/') { Err(Unfit::because("a slug has no slash")) } else { Ok(Self(text)) }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a column",
    note = "implement `FromValue` for one column, or derive `Row` for several"
)]
pub trait FromValue: Sized {
    /// What the values are in SQLite: [`Integer`], [`Real`], [`Text`], [`Blob`] or [`Any`]. [`sql!`](crate::sql!)
    /// compares it with the column.
    type Sql;

    /// The value, or why it cannot be read; the caller adds which column it was.
    fn from_value(value: Value<'_>) -> Result<Self, Unfit>;
}

/// Why a value does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    reason: Cow<'static, str>,
    /// Of this type, no value fits.
    is_of_type: bool,
}

impl Unfit {
    /// For any reason; the text goes to the log: small letter, no full stop.
    pub fn because(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into(), is_of_type: false }
    }

    /// Another type was expected than `found`; `expected` has its article: `"an integer"`.
    #[must_use]
    pub fn expected(expected: &str, found: &Value<'_>) -> Self {
        let reason = format!("expected {expected}, found {}", found.kind()).into();
        Self { reason, is_of_type: true }
    }

    pub(super) fn is_of_type(&self) -> bool {
        self.is_of_type
    }

    /// It of an element of an array, counted from 1.
    pub(super) fn of_element(self, nth: usize) -> Self {
        Self { reason: format!("element {nth}: {}", self.reason).into(), ..self }
    }
}

skep_units::error_text!(Unfit, |unfit| unfit.reason);

/// Integers of every size go through `i64`, which is the only one SQLite has. A decimal number is one if it is written
/// without decimals, as PostgreSQL's sums of integers are.
macro_rules! integers {
    ($($name:ident),*) => {$(
        impl ToValue for $name {
            type Sql = Integer;

            fn to_value(&self) -> Result<Value<'_>, Unfit> {
                i64::try_from(*self)
                    .map(Value::Integer)
                    .map_err(|_| Unfit::because(format!("{self} does not fit in an integer of 64 bits with sign")))
            }
        }

        impl FromValue for $name {
            type Sql = Integer;

            #[inline]
            fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
                match value {
                    Value::Integer(number) => Self::try_from(number).map_err(|_| {
                        Unfit::because(format!("{number} does not fit in {}", stringify!($name)))
                    }),
                    Value::Decimal(number) => number.parse().map_err(|_| {
                        Unfit::because(format!("the decimal number {number} does not fit in {}", stringify!($name)))
                    }),
                    other => Err(Unfit::expected("an integer", &other)),
                }
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl FromValue for bool {
    type Sql = Integer;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        match value {
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            Value::Integer(other) => Err(Unfit::because(format!("expected 0 or 1, found {other}"))),
            other => Err(Unfit::expected("0 or 1", &other)),
        }
    }
}

/// Integers are taken too: SQLite itself turns `1.0` into `1` in many expressions. Of a decimal number, it is the
/// nearest.
impl FromValue for f64 {
    type Sql = Real;

    #[allow(clippy::cast_precision_loss, reason = "that is what SQLite does with the same value")]
    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        match value {
            Value::Real(number) => Ok(number),
            Value::Integer(number) => Ok(number as Self),
            Value::Decimal(number) => number.parse().map_err(|_| Unfit::because(format!("{number} is no number"))),
            other => Err(Unfit::expected("a number", &other)),
        }
    }
}

macro_rules! to_value {
    ($($type:ty => $sql:ident, |$value:ident| $written:expr;)*) => {$(
        impl ToValue for $type {
            type Sql = $sql;

            fn to_value(&self) -> Result<Value<'_>, Unfit> {
                let $value = self;
                Ok($written)
            }
        }
    )*};
}

to_value! {
    bool => Integer, |value| Value::Integer(i64::from(*value));
    f64 => Real, |value| Value::Real(*value);
    str => Text, |value| Value::Text(Cow::Borrowed(value));
    String => Text, |value| Value::Text(Cow::Borrowed(value));
    [u8] => Blob, |value| Value::Blob(Cow::Borrowed(value));
    Vec<u8> => Blob, |value| Value::Blob(Cow::Borrowed(value));
}

impl FromValue for String {
    type Sql = Text;

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        match value {
            Value::Text(text) | Value::Decimal(text) => Ok(text.into_owned()),
            other => Err(Unfit::expected("text", &other)),
        }
    }
}

impl FromValue for Vec<u8> {
    type Sql = Blob;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        match value {
            Value::Blob(bytes) => Ok(bytes.into_owned()),
            other => Err(Unfit::expected("a blob", &other)),
        }
    }
}

impl<T: ToValue> ToValue for Option<T> {
    type Sql = T::Sql;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        self.as_ref().map_or(Ok(Value::Null), ToValue::to_value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    type Sql = T::Sql;

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        if value == Value::Null { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

/// A type whose values can be elements of an array of PostgreSQL: a `Vec` or a slice of them is a parameter, and a
/// `Vec` of them is read from a column. `u8` is not among them, since a `Vec<u8>` is bytes.
///
/// ```
/// # use skep_sql::{FromValue, ToValue, Unfit, Value};
/// use skep_sql::kind::NotNull;
/// use skep_sql::{self as sql, Element, query};
///
/// struct Tag(String);
///
/// # impl ToValue for Tag {
/// #     type Sql = sql::kind::Text;
/// #     fn to_value(&self) -> Result<Value<'_>, Unfit> { self.0.to_value() }
/// # }
/// # impl FromValue for Tag {
/// #     type Sql = sql::kind::Text;
/// #     fn from_value(value: Value<'_>) -> Result<Self, Unfit> { String::from_value(value).map(Self) }
/// # }
/// impl Element for Tag {
///     type Sql = NotNull<sql::kind::Text>;
/// }
///
/// # async fn example(db: &sql::Local, wanted: &[Tag]) -> sql::Result<()> {
/// let tags: Vec<Vec<Tag>> = db.all(query("select tags from post where tags && ?", wanted)).await?;
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be an element of an array",
    note = "implement `Element` for it; of a `Vec<u8>`, which is bytes, the elements are integers of another type"
)]
pub trait Element {
    /// What an element is: [`NotNull`] or [`Nullable`], of what [`ToValue`] says.
    type Sql;
}

macro_rules! elements {
    ($($type:ty => $sql:ident),*) => {$(
        impl Element for $type {
            type Sql = NotNull<$sql>;
        }
    )*};
}

elements! {
    bool => Integer, i8 => Integer, i16 => Integer, i32 => Integer, i64 => Integer, isize => Integer, u16 => Integer, u32 => Integer,
    u64 => Integer, usize => Integer, f64 => Real, str => Text, String => Text, [u8] => Blob, Vec<u8> => Blob
}

/// The elements of an array may be NULL, as those of every array of PostgreSQL may.
impl<K, T: Element<Sql = NotNull<K>>> Element for Option<T> {
    type Sql = Nullable<K>;
}

impl Element for Value<'_> {
    type Sql = Nullable<Any>;
}

impl<T: Element + ?Sized> Element for &T {
    type Sql = T::Sql;
}

impl<T: ToValue + Element> ToValue for [T] {
    type Sql = Array<<T as Element>::Sql>;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        self.iter().map(ToValue::to_value).collect::<Result<_, _>>().map(Value::Array)
    }
}

impl<T: ToValue + Element> ToValue for Vec<T> {
    type Sql = Array<<T as Element>::Sql>;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        self.as_slice().to_value()
    }
}

impl<T: FromValue + Element> FromValue for Vec<T> {
    type Sql = Array<<T as Element>::Sql>;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        let Value::Array(elements) = value else { return Err(Unfit::expected("an array", &value)) };
        let numbered = elements.into_iter().zip(1..);
        let read = |(element, nth): (Value<'_>, usize)| T::from_value(element).map_err(|unfit| unfit.of_element(nth));
        numbered.map(read).collect()
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    type Sql = T::Sql;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        (**self).to_value()
    }
}

impl ToValue for Value<'_> {
    type Sql = Any;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        Ok(match self {
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            Value::Decimal(text) => Value::Decimal(Cow::Borrowed(text)),
            Value::Blob(bytes) => Value::Blob(Cow::Borrowed(bytes)),
            Value::Array(elements) => return elements.as_slice().to_value(),
            other => other.clone(),
        })
    }
}

impl FromValue for Value<'static> {
    type Sql = Any;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        Ok(value.into_owned())
    }
}

//! Arguments of messages.

use std::borrow::Cow;
use std::marker::PhantomData;

use fixed_decimal::Decimal;

use crate::number::Style;

/// A value that a message shows or selects by.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// Shown as it is.
    Text(Cow<'a, str>),
    /// Shown as the language writes numbers; selects a plural.
    Number(Decimal),
    /// The same, of a float: three digits behind the point are shown at most, unless the message says how many.
    Float(Decimal),
    /// Shown as the language writes dates.
    #[cfg(feature = "icu")]
    Date(Moment),
}

/// A date, a time of day, or both, as a calendar and a clock on the wall show them.
#[cfg(feature = "icu")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A day.
    Date(jiff::civil::Date),
    /// A time of day.
    Time(jiff::civil::Time),
    /// Both.
    DateTime(jiff::civil::DateTime),
}

/// An argument that is what its message needs: `K` is [`Any`], [`Text`], [`Number`] or [`Date`].
#[derive(Debug)]
pub struct Typed<'a, K>(Argument<'a>, PhantomData<K>);

impl<'a, K> Typed<'a, K> {
    pub(crate) fn new(argument: Argument<'a>) -> Self {
        Self(argument, PhantomData)
    }

    /// The argument.
    #[must_use]
    pub fn into_argument(self) -> Argument<'a> {
        self.0
    }
}

impl Typed<'_, Number> {
    /// The number; of a float no more digits than are shown.
    #[must_use]
    pub fn into_number(self) -> Decimal {
        match self.0 {
            Argument::Number(number) => number,
            Argument::Float(number) => Style::FLOAT.apply(&number),
            Argument::Text(_) => Decimal::default(),
            #[cfg(feature = "icu")]
            Argument::Date(_) => Decimal::default(),
        }
    }
}

/// An argument that the message only shows.
#[derive(Debug)]
pub struct Any;
/// An argument that the message selects by, as by a text: `{ $role -> [admin] ... }`.
#[derive(Debug)]
pub struct Text;
/// An argument that the message takes as a number: `{ $count -> [one] ... }`, `{ NUMBER($count) }`.
#[derive(Debug)]
pub struct Number;
/// An argument that the message takes as a date: `{ DATETIME($day) }`.
#[derive(Debug)]
pub struct Date;

/// A value as an argument of the kind that the message needs.
///
/// ```
/// use skep_fluent::{Argument, Number, ToArgument, Typed};
///
/// let count: Typed<'_, Number> = 3.to_argument();
/// assert!(matches!(count.into_argument(), Argument::Number(three) if three.to_string() == "3"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be this argument: the text takes it as `{K}`",
    label = "expected `{K}`: a `Number` is an integer, float or `Decimal`, a `Date` one of `jiff`, `Any` any of these",
    note = "what is no text but has one: `.to_string()`"
)]
pub trait ToArgument<K> {
    /// The argument.
    fn to_argument(&self) -> Typed<'_, K>;
}

impl<K, T: ToArgument<K> + ?Sized> ToArgument<K> for &T {
    fn to_argument(&self) -> Typed<'_, K> {
        (**self).to_argument()
    }
}

/// A type, the kinds that it can be, and how.
macro_rules! arguments {
    ($($type:ty)*, $kind:ident, |$value:ident| $argument:expr) => { $(
        arguments!(@ $type, Any, $value, $argument);
        arguments!(@ $type, $kind, $value, $argument);
    )* };
    (@ $type:ty, $kind:ident, $value:ident, $argument:expr) => {
        impl ToArgument<$kind> for $type {
            fn to_argument(&self) -> Typed<'_, $kind> {
                let $value = self;
                Typed::new($argument)
            }
        }
    };
}
#[cfg(feature = "icu")]
pub(crate) use arguments;

arguments!(str String Cow<'_, str>, Text, |text| Argument::Text(Cow::Borrowed(text)));
arguments!(char, Text, |one| Argument::Text(Cow::Owned(one.to_string())));
arguments!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize, Number, |number| Argument::Number(Decimal::from(*number)));
arguments!(f32 f64, Number, |number| Argument::Float(crate::number::of_float(*number)));
arguments!(rust_decimal::Decimal, Number, |number| Argument::Number(crate::number::of_decimal(number)));

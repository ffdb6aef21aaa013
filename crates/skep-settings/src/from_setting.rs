//! From the value of a row to the type of its field.

use std::path::PathBuf;
use std::time::Duration;

use super::kind::Value;

/// A type that a field of a [group](crate::settings) may have, if the kind of its row has `Raw` values.
///
/// The kind of a row and the type of its field fit, or the group does not compile: what is a duration cannot be stored
/// as a number.
pub trait FromSetting<Raw: ?Sized>: Sized {
    /// It is shown as `***`.
    const IS_SECRET: bool = false;

    /// The value.
    ///
    /// # Errors
    /// What is expected instead.
    fn from_setting(raw: &Raw) -> Result<Self, String>;
}

/// The values of each [`Kind`](crate::Kind), by its name.
#[doc(hidden)]
pub mod raw {
    pub type Number = u64;
    pub type Size = u64;
    pub type Duration = std::time::Duration;
    pub type Bool = bool;
    pub type Choice = str;
    pub type Path = str;
    pub type Text = str;
    pub type Url = str;
    pub type Addresses = [String];
    pub type Tiers = [String];
    pub type List = [String];
}

/// What stands in a [`Value`].
#[doc(hidden)]
pub trait Raw {
    fn of(value: &Value) -> &Self;
}

macro_rules! raw {
    ($($type:ty: $($variant:ident)|+;)+) => {
        $(impl Raw for $type {
            fn of(value: &Value) -> &Self {
                match value {
                    $(Value::$variant(raw) => raw,)+
                    value => unreachable!("a row parses values of its own kind, and not {value:?}"),
                }
            }
        })+
    };
}

raw! {
    u64: Number | Size;
    Duration: Duration;
    bool: Bool;
    str: Text;
    [String]: List;
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl FromSetting<u64> for $type {
            fn from_setting(raw: &u64) -> Result<Self, String> {
                (*raw).try_into().map_err(|_| "the number is too large for this machine".to_owned())
            }
        })+
    };
}

numbers!(i32, u16, u32, u64, usize);

impl FromSetting<Duration> for Duration {
    fn from_setting(raw: &Duration) -> Result<Self, String> {
        Ok(*raw)
    }
}

impl FromSetting<bool> for bool {
    fn from_setting(raw: &bool) -> Result<Self, String> {
        Ok(*raw)
    }
}

impl FromSetting<str> for String {
    fn from_setting(raw: &str) -> Result<Self, String> {
        Ok(raw.to_owned())
    }
}

impl FromSetting<str> for PathBuf {
    fn from_setting(raw: &str) -> Result<Self, String> {
        if raw.is_empty() { Err("expected a path".to_owned()) } else { Ok(raw.into()) }
    }
}

impl<T: FromSetting<str>> FromSetting<[String]> for Vec<T> {
    const IS_SECRET: bool = T::IS_SECRET;

    fn from_setting(raw: &[String]) -> Result<Self, String> {
        raw.iter().map(|element| T::from_setting(element)).collect()
    }
}

/// What a setting has instead of a value: nothing, and 0.
macro_rules! optional {
    ($($raw:ty: |$value:ident| $is_none:expr;)+) => {
        $(impl<T: FromSetting<$raw>> FromSetting<$raw> for Option<T> {
            const IS_SECRET: bool = T::IS_SECRET;

            fn from_setting($value: &$raw) -> Result<Self, String> {
                if $is_none { Ok(None) } else { T::from_setting($value).map(Some) }
            }
        })+
    };
}

optional! {
    u64: |number| *number == 0;
    Duration: |time| time.is_zero();
    str: |text| text.is_empty();
}

/// An enum of words, which [`words!`](crate::words) makes one.
pub trait Choice: Copy + Default + PartialEq {
    /// The word of a variant.
    fn to_word(self) -> &'static str;

    /// The variant of a word.
    #[must_use]
    fn from_word(word: &str) -> Option<Self>;
}

/// An enum whose variants are the words of a [`Kind::Choice`](crate::Kind::Choice): `WORDS` for the row, `word` to
/// write one.
///
/// ```
/// #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
/// enum Colour {
///     #[default]
///     Red,
///     Green,
/// }
///
/// skep_settings::words! { Colour { Red = "red", Green = "green" } }
/// assert_eq!((Colour::WORDS, Colour::Green.word()), (&["red", "green"][..], "green"));
/// ```
#[macro_export]
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// The words of the setting.
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            /// Its word.
            pub(crate) const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::Choice for $type {
            fn to_word(self) -> &'static str {
                self.word()
            }

            fn from_word(word: &str) -> ::core::option::Option<Self> {
                match word {
                    $($word => ::core::option::Option::Some(Self::$variant),)+
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl $crate::FromSetting<str> for $type {
            fn from_setting(word: &str) -> ::core::result::Result<Self, ::std::string::String> {
                let choice = <Self as $crate::Choice>::from_word(word);
                choice.ok_or_else(|| ::std::format!("expected one of {}", Self::WORDS.join(", ")))
            }
        }
    };
}

/// Types whose settings are read by [`FromStr`](std::str::FromStr).
#[doc(hidden)]
#[macro_export]
macro_rules! from_text {
    ($($type:ty),+ $(,)?) => {
        $(impl $crate::FromSetting<str> for $type {
            fn from_setting(text: &str) -> ::core::result::Result<Self, ::std::string::String> {
                text.parse::<$type>().map_err(|error| error.to_string())
            }
        })+
    };
}

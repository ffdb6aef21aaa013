//! The types of forms in JSON: a body may be made of them, and is then held to the same rules.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::field::Control;
use super::number::{Decimal, Whole};
use super::text::{Email, MultilineText, Password, Text, Url};
use super::time::{Date, DateTime, Time};
use crate::Slug;

/// As the text that a form sends; what is wrong with it is said in English.
macro_rules! as_text {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        as_text!(read [$($generics)*] $type);
    )*};
    (read [$($generics:tt)*] $type:ty) => {
        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type>::check(&Cow::<str>::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    };
}

as_text! {
    [const MIN: usize, const MAX: usize] Text<MIN, MAX>;
    [const MIN: usize, const MAX: usize] MultilineText<MIN, MAX>;
    [] Email;
    [] Url;
    [] Slug;
    [] Date;
    [] Time;
    [] DateTime;
    // Exact, which a number of JSON is not with many readers.
    [const PLACES: u32, const MIN: i64, const MAX: i64] Decimal<PLACES, MIN, MAX>;
}

// A password comes, and never goes.
as_text!(read [const MIN: usize, const MAX: usize] Password<MIN, MAX>);

impl<const MIN: i64, const MAX: i64> Serialize for Whole<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| D::Error::custom(format_args!("{number} does not lie between {MIN} and {MAX}")))
    }
}

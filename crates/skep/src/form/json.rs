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

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways<T: Serialize + for<'de> Deserialize<'de>>(json: &str) -> String {
        serde_json::to_string(&serde_json::from_str::<T>(json).expect("accepted")).expect("written")
    }

    fn refused<T: for<'de> Deserialize<'de>>(json: &str) -> String {
        serde_json::from_str::<T>(json).err().expect("refused").to_string()
    }

    #[test]
    fn what_a_form_takes_json_takes() {
        assert_eq!(both_ways::<Text<1, 9>>("\" \\u0041nn \""), "\"Ann\"");
        assert_eq!(both_ways::<Whole<1, 12>>("7"), "7");
        assert_eq!(both_ways::<Decimal<2>>("\"12.5\""), "\"12.50\"");
        assert_eq!(both_ways::<Date>("\"2026-12-31\""), "\"2026-12-31\"");
        assert_eq!(both_ways::<Slug>("\"a-day\""), "\"a-day\"");
    }

    #[test]
    fn what_a_form_refuses_json_refuses() {
        assert!(refused::<Text<1, 2>>("\"Ann\"").starts_with("That is too long: 2 characters at most"));
        assert!(refused::<Whole<1, 12>>("13").starts_with("13 does not lie between 1 and 12"));
        assert!(refused::<Slug>("\"A\"").contains("lower-case"));
        assert!(refused::<Password<8, 99>>("\"short\"").contains('8'));
        assert!(refused::<Date>("20261231").starts_with("invalid type"));
    }
}

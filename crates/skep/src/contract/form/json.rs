//! The types of forms in JSON: a body may be made of them, and is then held to the same rules.

use std::borrow::Cow;
use std::cell::Cell;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::field::Control;
use super::number::{Decimal, Whole};
use super::text::{Email, MultilineText, Password, Text, Url};
use super::time::{Date, DateTime, Time};
use crate::Slug;
use crate::security::secret::without_value;
use skep_http::validation::FieldError;

thread_local! {
    /// What a type of a form has refused last: serde has only its text, which is English.
    static REFUSED: Cell<Option<FieldError>> = const { Cell::new(None) };
}

fn refused<E: Error>(error: FieldError) -> E {
    let text = E::custom(&error);
    REFUSED.set(Some(error));
    text
}

/// What a type of a form has refused with this text, in English.
pub(crate) fn take_refused(text: &str) -> Option<FieldError> {
    REFUSED.take().filter(|error| error.to_string() == text)
}

/// As the text that a form sends; what is wrong with it is said in English.
macro_rules! as_text {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type>::check(&Cow::<str>::deserialize(deserializer)?).map_err(refused)
            }
        }
    )*};
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
impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Password<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer).map_err(without_value)?;
        Self::check(&text).map_err(refused)
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for Whole<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let (min, max) = (MIN.to_string(), MAX.to_string());
        let fault = if number < MIN { FieldError::TooSmall { min } } else { FieldError::TooLarge { max } };
        Self::new(number).ok_or_else(|| refused(fault))
    }
}

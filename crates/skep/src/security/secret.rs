//! Values that no log, no error page and no debugger output shows.

use std::fmt;

use serde::{Deserialize, Deserializer};
use skep_settings::FromSetting;

use crate::security::keys;
use crate::settings::{Kind, SettingValue, Value};
use skep_http::error::Result;

/// A value that is never printed: `Debug` shows `Secret(..)`, and there is neither `Display` nor `Serialize`.
/// [`reveal`](Self::reveal) is the one way to the value, and easy to search for.
///
/// ```
/// use skep::Secret;
///
/// let token = Secret::new("s3cr3t".to_owned());
/// assert_eq!(format!("{token:?}"), "Secret(..)");
/// assert_eq!(token.reveal(), "s3cr3t");
/// ```
///
/// It is read like the value itself, from JSON or as a setting, which `--print-config` then shows as `***`:
///
/// ```
/// use skep::Secret;
/// use skep::settings::Settings;
///
/// #[derive(Settings)]
/// #[settings(table = "payments")]
/// struct Payments {
///     /// The key of the payment service.
///     key: Secret<String>,
/// }
/// assert!(Payments::FIELDS[0].is_secret);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Keeps a value from being printed.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for what needs it.
    #[must_use]
    pub const fn reveal(&self) -> &T {
        &self.0
    }

    /// The value, to keep.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Secret<String> {
    /// A new key for the setting `secret`: 64 hexadecimal digits of randomness and a line break, what
    /// `--generate-secret` prints.
    ///
    /// ```
    /// assert_eq!(skep::Secret::generate_key()?.reveal().trim().len(), 64);
    /// # Ok::<(), skep::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the operating system has no randomness.
    pub fn generate_key() -> Result<Self> {
        keys::new_key().map(Self)
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self).map_err(without_value)
    }
}

/// What serde says of a secret, which it would repeat: `invalid type: integer 7, expected a string`.
pub(crate) fn without_value<E: serde::de::Error>(error: E) -> E {
    let text = error.to_string();
    match text.split_once(", expected ") {
        Some((_, expected)) if !text.starts_with("expected ") => E::custom(format_args!("expected {expected}")),
        _ => error,
    }
}

impl<R: ?Sized, T: FromSetting<R>> FromSetting<R> for Secret<T> {
    const IS_SECRET: bool = true;

    fn from_setting(raw: &R) -> Result<Self, String> {
        T::from_setting(raw).map(Self)
    }
}

impl<T: SettingValue> SettingValue for Secret<T> {
    const KIND: Kind = T::KIND;
    const IS_OPTIONAL: bool = T::IS_OPTIONAL;
    const IS_SECRET: bool = true;

    fn from_value(value: &Value) -> Result<Self, String> {
        T::from_value(value).map(Self)
    }

    fn absent() -> Option<Self> {
        T::absent().map(Self)
    }
}

//! Settings as rows: the field, its default, its help, and what stores its value follow from one row.

use std::time::Duration;

use skep::settings::{Kind, Row, Value};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const SECOND: u64 = 1000;
pub(crate) const HOUR: u64 = 3600 * SECOND;

/// A struct of settings of one table. A row has help, name, type, what the setting accepts, default, and `secret` if
/// its value is never shown.
macro_rules! settings {
    (
        $(#[$about:meta])* $name:ident of $table:literal:
        $($(#[doc = $help:literal])+ $field:ident: $type:ty = $kind:expr, $default:literal $(, $secret:ident)?;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $($(#[doc = $help])+ pub $field: $type,)+
        }

        impl $name {
            /// Their rows, for the table of a server.
            #[must_use]
            pub fn rows() -> Vec<skep::settings::Row> {
                vec![$($crate::settings::row(
                    concat!($table, ".", stringify!($field)),
                    $kind,
                    $default,
                    concat!($($help),+),
                    &[$(stringify!($secret))?],
                )),+]
            }

            /// Stores the value of a setting, if it is one of these.
            ///
            /// # Errors
            /// What was expected.
            pub fn set(&mut self, name: &str, value: &skep::settings::Value) -> Result<(), String> {
                match name.strip_prefix(concat!($table, ".")).unwrap_or_default() {
                    $(stringify!($field) => self.$field = $crate::settings::FromValue::from_value(value)?,)+
                    _ => {}
                }
                Ok(())
            }
        }
    };
}
pub(crate) use settings;

pub(crate) fn row(name: &'static str, kind: Kind, default: &'static str, help: &'static str, marks: &[&str]) -> Row {
    let is_secret = marks.contains(&"secret");
    let (name, default, help) = (name.into(), default.into(), help.trim_start().into());
    Row { name, kind, default, is_required: false, is_secret, flag: None, help }
}

/// What can be made from a value of the kind that a row names.
pub(crate) trait FromValue: Sized {
    fn from_value(value: &Value) -> Result<Self, String>;
}

macro_rules! from_value {
    ($($type:ty: |$value:ident| $made:expr;)+) => {
        $(impl $crate::settings::FromValue for $type {
            fn from_value($value: &skep::settings::Value) -> Result<Self, String> {
                $made
            }
        })+
    };
}
pub(crate) use from_value;

from_value! {
    bool: |value| Ok(value.to_string() == "true");
    u32: |value| number(value);
    u64: |value| number(value);
    usize: |value| number(value);
    String: |value| Ok(value.to_string());
    Duration: |value| Ok(duration(value));
    Option<Duration>: |value| Ok(Some(duration(value)).filter(|time| !time.is_zero()));
}

/// The number of a setting that is one, or a size.
///
/// # Errors
/// It is too large for its field.
///
/// # Panics
/// The setting is of another kind; so do the next ones.
pub fn number<N: TryFrom<u64>>(value: &Value) -> Result<N, String> {
    let (Value::Number(number) | Value::Size(number)) = value else {
        unreachable!("the kind of this setting is a number")
    };
    N::try_from(*number).map_err(|_| "the number is too large for this machine".to_owned())
}

/// The time of a setting that is one.
#[must_use]
pub fn duration(value: &Value) -> Duration {
    let Value::Duration(time) = value else { unreachable!("the kind of this setting is a time") };
    *time
}

/// The elements of a setting that is a list.
#[must_use]
pub fn list(value: &Value) -> &[String] {
    let Value::List(list) = value else { unreachable!("the kind of this setting is a list") };
    list
}

/// The text of a setting; `None` if it is empty.
#[must_use]
pub fn text(value: &Value) -> Option<String> {
    Some(value.to_string()).filter(|text| !text.is_empty())
}

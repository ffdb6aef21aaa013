//! Types of fields.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use skep_units::{Address, Rate};

use super::kind::{Kind, Value};

/// A type that a field of a settings struct may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of settings",
    note = "use String, a number, bool, Duration, ByteSize, PathBuf, Option<T> or Vec<T>; a type that implements FromStr needs \
            `#[setting(from_str)]`, a struct that derives Settings `#[setting(nested)]`"
)]
pub trait SettingValue: Sized {
    /// What it accepts.
    const KIND: Kind;
    /// It may be left out without a default.
    const IS_OPTIONAL: bool = false;
    /// It is shown as `***`.
    const IS_SECRET: bool = false;

    /// The value.
    ///
    /// # Errors
    /// What is expected instead.
    fn from_value(value: &Value) -> Result<Self, String>;

    /// What a setting without a value is, if it may be left out.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

/// A number of bytes, written `64KiB`, `2MiB`, `1GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

fn other<T>(value: &Value, kind: &Kind) -> Result<T, String> {
    Err(format!("expected {kind}, and not {value}"))
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl SettingValue for $type {
            const KIND: Kind = Kind::Number(0..=<$type>::MAX as u64);

            fn from_value(value: &Value) -> Result<Self, String> {
                match value {
                    Value::Number(number) => Self::try_from(*number).map_err(|_| format!("expected {}", Self::KIND)),
                    value => other(value, &Self::KIND),
                }
            }
        })+
    };
}

numbers!(u8, u16, u32, u64, usize);

/// Types that are read by `FromStr` of their text.
macro_rules! parsed {
    ($($type:ty: $kind:expr),+ $(,)?) => {
        $(impl SettingValue for $type {
            const KIND: Kind = $kind;

            fn from_value(value: &Value) -> Result<Self, String> {
                value.to_string().parse().map_err(|_| format!("expected {}", Self::KIND))
            }
        })+
    };
}

parsed! {
    i8: Kind::Other("a whole number from -128 to 127"),
    i16: Kind::Other("a whole number from -32768 to 32767"),
    i32: Kind::Other("a whole number"),
    i64: Kind::Other("a whole number"),
    f64: Kind::Other("a number"),
    SocketAddr: Kind::Other("an IP address and a port, such as 127.0.0.1:25"),
    IpAddr: Kind::Other("an IP address, such as 127.0.0.1"),
    Address: Kind::Other("an address, such as mail.example.org:587 or unix:/run/app.sock"),
    Rate: Kind::Other("a rate, such as 100/s, 5/10m"),
    String: Kind::Text,
    PathBuf: Kind::Path,
}

impl SettingValue for bool {
    const KIND: Kind = Kind::Bool;
    const IS_OPTIONAL: bool = true;

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Bool(on) => Ok(*on),
            value => other(value, &Self::KIND),
        }
    }

    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl SettingValue for Duration {
    const KIND: Kind = Kind::Duration(0..=u64::MAX);

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Duration(time) => Ok(*time),
            value => other(value, &Self::KIND),
        }
    }
}

impl SettingValue for ByteSize {
    const KIND: Kind = Kind::Size(0..=u64::MAX);

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Size(bytes) => Ok(Self(*bytes)),
            value => other(value, &Self::KIND),
        }
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: Kind = T::KIND;
    const IS_OPTIONAL: bool = true;
    const IS_SECRET: bool = T::IS_SECRET;

    fn from_value(value: &Value) -> Result<Self, String> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    const KIND: Kind = Kind::List("a list");
    const IS_OPTIONAL: bool = true;

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::List(list) => list
                .iter()
                .map(|element| {
                    T::from_value(&T::KIND.parse(element).map_err(|expected| format!("expected {expected}"))?)
                })
                .collect(),
            value => other(value, &Self::KIND),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

//! `settings!`, which writes a group: each setting is one row.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::from_setting::Raw;
use super::kind::Value;

/// Bytes.
pub const KIB: u64 = 1 << 10;
/// Bytes.
pub const MIB: u64 = 1 << 20;
/// Bytes.
pub const GIB: u64 = 1 << 30;
/// Milliseconds, in which the range and the default of a duration are.
pub const SECOND: u64 = 1000;
/// Milliseconds.
pub const MINUTE: u64 = 60 * SECOND;
/// Milliseconds.
pub const HOUR: u64 = 60 * MINUTE;
/// Milliseconds.
pub const DAY: u64 = 24 * HOUR;

/// Declares settings. Each is one row: help, name, type, what it accepts, default. Field, default, `--help`, reference,
/// variable and the reading of its value follow from the row.
///
/// ```
/// use std::time::Duration;
///
/// use skep_settings::{Group, HOUR, SECOND, settings};
///
/// settings! {
///     /// The settings `mail.*`.
///     #[derive(Clone, Debug)]
///     struct Mail in "mail" {
///         /// Time to hand a mail over to the mail server. Then it counts as failed.
///         timeout: Duration = Duration(SECOND..=HOUR), 30 * SECOND;
///         /// Sender of mail that names none.
///         from: Option<String> = Text, "", flag "--mail-from" "ADDRESS";
///         /// Mails that wait for the mail server, for each process.
///         queue as "limits.mail_queue": usize = Number(1..=1_000_000), 1000;
///     }
/// }
///
/// assert_eq!(Mail::rows()[2].name, "limits.mail_queue");
/// assert_eq!(Mail::default().timeout, Duration::from_secs(30));
/// ```
///
/// - `= Kind(...)` is a [`Kind`](crate::Kind) without its path. The type of the field is made from its values
///   ([`FromSetting`](crate::FromSetting)); a number, size or duration of a range has a default within it, or nothing
///   compiles. Durations are in milliseconds. An `Option` is `None` for 0 and for an empty text.
/// - `as "limits.mail_queue"` is the whole name of a setting that stands in another table than its group.
/// - `by read` reads values of the kind with this function, for a type that has no other way, or another one. Such a
///   value is no secret; that of a type is (`Secret`, [`FromSetting::IS_SECRET`](crate::FromSetting::IS_SECRET)).
/// - `flag "--mail-from" "ADDRESS"` is a flag of its own, and what its argument is called.
/// - `variable "SKEP_LIMIT_BODY" as number` is the variable in which a component has it, and how: `number`, `seconds`,
///   `milliseconds`, `flag` (`1`, if it is set), `text`, `engine` (the name of the database, for its address) or `word`
///   (one of [`words!`](crate::words), and only if it is not the default). A component gets those of `skep::Setup` and
///   of the groups in it.
/// - A field without `=` is a group of its own, whose rows stand here.
/// - `in ""` has the settings without a table.
/// - `} and { field: Type }` after the rows: fields that are no settings, and have the default of their type, or
///   another one (`field: Type = value`).
/// - `in "" adjusted by function`: this function makes the default of the struct from the defaults of the rows.
///
/// A default that the setting would refuse, and a type that its kind has no values for, do not compile:
///
/// ```compile_fail,E0080
/// skep_settings::settings! {
///     struct Mail in "mail" {
///         /// Mails that wait.
///         queue: usize = Number(1..=1000), 0;
///     }
/// }
/// Mail::default();
/// ```
///
/// ```compile_fail,E0277
/// skep_settings::settings! {
///     struct Mail in "mail" {
///         /// Time for one mail.
///         timeout: std::time::Duration = Number(1..=1000), 30;
///     }
/// }
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident in $table:tt $(adjusted by $adjust:path)? {
            $(
                $(#[doc = $help:literal])*
                $field:ident $(as $whole:literal)?: $type:ty
                $(= $kind:ident $(($($accepts:tt)*))?, $default:expr
                    $(, by $by:path)?
                    $(, flag $flag:literal $argument:literal)?
                    $(, variable $variable:literal as $unit:ident)?)?;
            )+
        }
        $(and {
            $($(#[$about_other:meta])* $other_visible:vis $other:ident: $other_type:ty $(= $other_default:expr)?,)+
        })?
    ) => {
        $(#[$about])*
        $visible struct $name {
            $(
                $(#[doc = $help])*
                $(#[doc = ""] #[doc = concat!(" Default: `", stringify!($default), "`.")])?
                $visible $field: $type,
            )+
            $($($(#[$about_other])* $other_visible $other: $other_type,)+)?
        }

        impl ::core::default::Default for $name {
            #[allow(unused_doc_comments, reason = "of what the attributes of a field are, only `cfg` is meant here")]
            fn default() -> Self {
                let group = Self {
                    $($field: $crate::__field!(default $type $(, $kind $(($($accepts)*))?, $default $(, by $by)?)?),)+
                    $($($(#[$about_other])* $other: $crate::__field!(other $($other_default)?),)+)?
                };
                $(let group = $adjust(group);)?
                group
            }
        }

        impl $crate::Group for $name {
            #[allow(clippy::vec_init_then_push, reason = "some fields are groups, which have several rows")]
            fn rows() -> ::std::vec::Vec<$crate::Row> {
                let mut rows = ::std::vec::Vec::new();
                $($crate::__field!(rows rows, $type, name($table, [$($whole)?], $field), [$($help)*]
                    $(, [$(($flag, $argument))?], $kind $(($($accepts)*))?, $default $(, by $by)?)?);)+
                rows
            }

            fn set(
                &mut self,
                name: &str,
                value: &$crate::Value,
            ) -> ::core::option::Option<::core::result::Result<(), ::std::string::String>> {
                $($crate::__field!(set self.$field, value, name == name($table, [$($whole)?], $field), $type
                    $(, $kind $(, by $by)?)?);)+
                None
            }

            #[allow(unused_mut, reason = "not every group has some")]
            fn variables(&self) -> ::std::vec::Vec<(&'static str, ::std::string::String)> {
                let mut variables = ::std::vec::Vec::new();
                $($crate::__field!(write self.$field, variables $(, $kind $(, $variable $unit)?)?);)+
                variables
            }

            #[allow(unused_variables, reason = "not every group has some")]
            fn read_variables(
                &mut self,
                variable: &dyn Fn(&str) -> ::core::option::Option<::std::string::String>,
            ) -> ::core::result::Result<(), ::std::string::String> {
                $($crate::__field!(read self.$field, variable $(, $kind $(, $variable $unit)?)?);)+
                Ok(())
            }
        }
    };
}

/// What `settings!` writes for one field: a row of this kind, or a group.
#[doc(hidden)]
#[macro_export]
macro_rules! __field {
    (default $type:ty) => {
        <$type as ::core::default::Default>::default()
    };
    (default $type:ty, $kind:ident $(($($accepts:tt)*))?, $default:expr $(, by $by:path)?) => {
        $crate::declare::preset::<$type, $crate::raw::$kind>(
            &$crate::__value!($kind $(($($accepts)*))?, $default),
            $crate::__field!(from $type, $kind $(, by $by)?),
        )
    };
    (from $type:ty, $kind:ident) => {
        <$type as $crate::FromSetting<$crate::raw::$kind>>::from_setting
    };
    (from $type:ty, $kind:ident, by $by:path) => {
        $by
    };
    (is_secret $type:ty, $kind:ident) => {
        <$type as $crate::FromSetting<$crate::raw::$kind>>::IS_SECRET
    };
    (is_secret $type:ty, $kind:ident, by $by:path) => {
        false
    };
    (rows $rows:ident, $type:ty, $name:ident($($of:tt)*), [$($help:literal)*]) => {
        $rows.extend(<$type as $crate::Group>::rows())
    };
    (rows $rows:ident, $type:ty, $name:ident($($of:tt)*), [$($help:literal)+], [$($flag:expr)?],
        $kind:ident $(($($accepts:tt)*))?, $default:expr $(, by $by:path)?) => {
        $rows.push($crate::Row {
            name: $crate::__field!($name($($of)*)).into(),
            kind: $crate::Kind::$kind $(($($accepts)*))?,
            default: $crate::__value!($kind $(($($accepts)*))?, $default).to_string().into(),
            is_required: false,
            is_secret: $crate::__field!(is_secret $type, $kind $(, by $by)?),
            flag: $crate::declare::flag(&[$($flag)?]),
            help: concat!($($help),+).trim_start().into(),
        })
    };
    (set $self:ident.$field:ident, $value:ident, $is:ident == $name:ident($($of:tt)*), $type:ty) => {
        if let ::core::option::Option::Some(set) = $crate::Group::set(&mut $self.$field, $is, $value) {
            return ::core::option::Option::Some(set);
        }
    };
    (set $self:ident.$field:ident, $value:ident, $is:ident == $name:ident($($of:tt)*), $type:ty,
        $kind:ident $(, by $by:path)?) => {
        if $is == $crate::__field!($name($($of)*)) {
            let raw = <$crate::raw::$kind as $crate::Raw>::of($value);
            let read = $crate::__field!(from $type, $kind $(, by $by)?)(raw);
            return ::core::option::Option::Some(read.map(|value| $self.$field = value));
        }
    };
    (other) => {
        ::core::default::Default::default()
    };
    (other $default:expr) => {
        $default
    };
    (write $self:ident.$field:ident, $variables:ident) => {
        $variables.extend($crate::Group::variables(&$self.$field))
    };
    (write $self:ident.$field:ident, $variables:ident, $kind:ident) => {};
    (write $self:ident.$field:ident, $variables:ident, $kind:ident, $variable:literal $unit:ident) => {
        $variables.extend($crate::variable::$unit::write(&$self.$field).map(|text| ($variable, text)))
    };
    (read $self:ident.$field:ident, $variable:ident) => {
        $crate::Group::read_variables(&mut $self.$field, $variable)?
    };
    (read $self:ident.$field:ident, $variable:ident, $kind:ident) => {};
    (read $self:ident.$field:ident, $variable:ident, $kind:ident, $name:literal $unit:ident) => {
        if let ::core::option::Option::Some(text) = $variable($name) {
            let refused = || ::std::format!("{}={text:?} cannot be read", $name);
            $self.$field = $crate::variable::$unit::read(&text).ok_or_else(refused)?;
        }
    };
    (name($table:tt, [$whole:literal], $field:ident)) => {
        $whole
    };
    (name("", [], $field:ident)) => {
        stringify!($field)
    };
    (name($table:tt, [], $field:ident)) => {
        concat!($table, ".", stringify!($field))
    };
}

/// A default as the value of its kind.
#[doc(hidden)]
#[macro_export]
macro_rules! __value {
    (Number($range:expr), $default:expr) => {
        $crate::Value::Number(const { $crate::declare::within(&$range, $default) })
    };
    (Size($range:expr), $default:expr) => {
        $crate::Value::Size(const { $crate::declare::within(&$range, $default) })
    };
    (Duration($range:expr), $default:expr) => {
        $crate::Value::Duration(::std::time::Duration::from_millis(
            const { $crate::declare::within(&$range, $default) },
        ))
    };
    (Bool, $default:expr) => {
        $crate::Value::Bool($default)
    };
    (Choice($words:expr), $default:expr) => {
        $crate::Value::Text(const { $crate::declare::one_of($words, $default) }.into())
    };
    (Addresses, $default:expr) => {
        $crate::declare::list($default)
    };
    (Tiers, $default:expr) => {
        $crate::declare::list($default)
    };
    (List($element:expr), $default:expr) => {
        $crate::declare::list($default)
    };
    ($kind:ident, $default:expr) => {
        $crate::Value::Text($default.into())
    };
}

/// The default of a number: without it, nothing compiles that its setting would refuse.
#[doc(hidden)]
#[must_use]
pub const fn within(range: &RangeInclusive<u64>, default: u64) -> u64 {
    assert!(*range.start() <= default && default <= *range.end(), "the default is not in the range of its setting");
    default
}

/// The default of a choice.
#[doc(hidden)]
#[must_use]
pub const fn one_of(words: &[&str], default: &'static str) -> &'static str {
    let mut at = 0;
    while at < words.len() {
        if is_equal(words[at].as_bytes(), default.as_bytes()) {
            return default;
        }
        at += 1;
    }
    panic!("the default is not one of the words of its setting")
}

const fn is_equal(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, rest @ ..], [second, others @ ..]) = (one, other) {
        if *first != *second {
            return false;
        }
        (one, other) = (rest, others);
    }
    one.is_empty() && other.is_empty()
}

/// The default of a list.
///
/// # Panics
/// If it has an empty element.
#[doc(hidden)]
#[must_use]
pub fn list(text: &str) -> Value {
    let elements = if text.is_empty() { Vec::new() } else { skep_units::parse_list(text).expect("a default") };
    Value::List(elements.into_iter().map(ToOwned::to_owned).collect())
}

/// The default of a field.
///
/// # Panics
/// If its type refuses it. All defaults are made when a server starts, and in tests.
#[doc(hidden)]
#[must_use]
pub fn preset<T, R: Raw + ?Sized>(value: &Value, from: impl Fn(&R) -> Result<T, String>) -> T {
    from(R::of(value)).unwrap_or_else(|problem| panic!("the default {value}: {problem}"))
}

#[doc(hidden)]
#[must_use]
pub fn flag(flag: &[(&'static str, &'static str)]) -> Option<(Cow<'static, str>, &'static str)> {
    flag.first().map(|(flag, argument)| (Cow::Borrowed(*flag), *argument))
}

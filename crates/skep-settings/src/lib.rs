//! Settings: rows, the sources that set them, and the values that they resolve to.
//!
//! A [`Row`] describes one setting. A [`Table`] of rows turns what files, variables and flags say ([`RawSetting`]) into
//! [`Resolved`] values. An application declares rows with `derive(Settings)`, which is in `skep::settings` with all that
//! applications need of this crate.
//!
//! A part of a program that has settings of its own declares them with [`settings!`], next to what keeps to them.
//!
//! This crate reads no file and no variable: a server does, and hands on what they say.

#[doc(hidden)]
pub mod declare;
mod declared;
mod from_setting;
mod group;
mod kind;
#[doc(hidden)]
pub mod section;
mod table;
mod transfer;
mod value;
#[doc(hidden)]
pub mod variable;

pub use declare::{DAY, GIB, HOUR, KIB, MIB, MINUTE, SECOND};
#[doc(hidden)]
pub use declared::{Declared, Holder, Loaded, load_all};
pub use declared::{Field, Reader, Settings};
pub use from_setting::{Choice, FromSetting};
#[doc(hidden)]
pub use from_setting::{Raw, raw};
pub use group::{Group, Named};
pub use kind::{Kind, Value};
pub use table::{RawSetting, RawValue, Resolved, Row, Source, Table, Values, variable_of};
pub use transfer::{VARIABLE, decode, encode};
pub use value::{ByteSize, SettingValue};

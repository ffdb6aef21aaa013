//! Settings: rows, the sources that set them, and the values that they resolve to.
//!
//! A [`Row`] describes one setting. A [`Table`] of rows turns what files, variables and flags say ([`RawSetting`]) into
//! [`Resolved`] values. An application declares rows with `derive(Settings)`, which is in `skep::settings`, where all of
//! this is again.
//!
//! This crate reads no file and no variable: a server does, and hands on what they say.

mod declared;
mod kind;
#[doc(hidden)]
pub mod section;
mod table;
mod transfer;
mod value;

#[doc(hidden)]
pub use declared::{Declared, Holder, Loaded, load_all};
pub use declared::{Field, Reader, Settings};
pub use kind::{Kind, Value};
pub use table::{RawSetting, RawValue, Resolved, Row, Source, Table, Values, variable_of};
pub use transfer::{VARIABLE, decode, encode};
pub use value::{ByteSize, SettingValue};

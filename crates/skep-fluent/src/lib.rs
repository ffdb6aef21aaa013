//! Texts in several languages, as [Fluent](https://projectfluent.org) files.
//!
//! [`Texts::read`] reads the files of all languages and checks them against each other: each has the same messages with
//! the same arguments, nothing refers to what is not there, and plurals are those that the language has. What is wrong
//! is a [`Problem`] with its file and line. [`Texts::text`] formats.
//!
//! `skep-language` is the part that applications use: with it, a macro does the reading while compiling.
//!
//! Start reading at `texts.rs`; `walk.rs` is the check of one message.

mod argument;
#[cfg(feature = "icu")]
mod date;
mod file;
mod format;
#[cfg(feature = "icu")]
mod formats;
mod framework;
mod locale;
mod number;
mod problem;
mod texts;
mod walk;

#[cfg(feature = "icu")]
pub use argument::Moment;
pub use argument::{Any, Argument, Date, Number, Text, ToArgument, Typed};
#[cfg(feature = "icu")]
pub use date::DateLength;
pub use file::{Language, TextFile};
pub use locale::{Locale, is_right_to_left};
pub use problem::Problem;
pub use texts::{Message, Texts};
pub use walk::Kind;

/// The texts that the framework has itself: English and German.
pub const BUILT_IN: &[Language<'static, 'static>] = &[
    Language { tag: "de", files: &[TextFile { path: "skep/de.ftl", text: include_str!("../languages/de.ftl") }] },
    Language { tag: "en", files: &[TextFile { path: "skep/en.ftl", text: include_str!("../languages/en.ftl") }] },
];

/// The ids of the framework's texts begin so.
pub const RESERVED: &str = "skep-";

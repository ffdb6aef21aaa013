//! Texts in the user's language.
//!
//! | to | see |
//! |---|---|
//! | declare languages, from a folder of Fluent files | [`languages!`] |
//! | write a text | [`t!`] |
//! | have an application speak them | [`LanguageApp::languages_of`] |
//! | know a language's tag, direction and numbers | [`Languages`] |
//! | let a visitor choose one | [`keep_language`] |
//! | tell search engines of a page in other languages | [`alternates`] |
//!
//! Texts are read and checked while compiling, and are in the executable. A debug build reads the files again when they
//! change. A text is the request's: `t!` takes the `cx`, so that what is cached knows which language it was made in.
//!
//! Start reading at `language.rs`; `text_set.rs` has the texts.

mod app;
mod input;
mod language;
mod text_set;

pub use app::{LANGUAGE_COOKIE, LanguageApp, alternates, keep_language};
#[doc(hidden)]
pub use input::{input, wanted};
pub use language::{InLanguage, Languages};
#[doc(hidden)]
pub use language::{Labels, Translated, file_size, fixed, labels, text};
pub use skep_fluent::{Any, Argument, Date, Number, Text, ToArgument, Typed};
#[cfg(feature = "icu")]
pub use skep_fluent::{DateLength, Moment};
#[doc(hidden)]
pub use text_set::TextSet;

/// Declares the languages of an application, in the root of its crate (`lib.rs`): a file of
/// [Fluent](https://projectfluent.org) for each, `languages/de.ftl`, or a folder of files, `languages/de/`.
///
/// ```text
/// skep_language::languages!("languages", default = "en");
/// ```
///
/// It makes the enum `Language`, with a variant for each (`De`, `PtBr`), which is a parameter of paths, a field of
/// forms and a column. Its label is the text `language-name` of each language, where there is one. The default language
/// says which texts there are; the others must have the same, with the same arguments. What is wrong is an error with
/// the file and the line: an unknown or missing id, an argument too many or too few, a plural that the language does
/// not have. The compiler warns of texts that nothing uses.
///
/// The framework's own messages are there in English and German, under ids that begin with `skep-`. A file that has
/// such an id replaces the message; a language other than these two must have them all.
///
/// What changes in a file is compiled again; a new file is not noticed before something else changes, unless a
/// `build.rs` says `cargo::rerun-if-changed=languages`.
pub use skep_language_macros::languages;

/// A text in a language: that of a request (`cx`), or one that is named.
///
/// ```text
/// h1 { (t!(cx, welcome)) }
/// p { (t!(cx, bees, count = hives.len(), name = &user.name)) }
/// input (Search::words) placeholder=(t!(cx, search.placeholder));
/// return Err(Error::conflict(t!(Language::De, taken)));
/// ```
///
/// The id has `_` for `-`, and an attribute follows a dot. An argument without a value, `t!(cx, bees, count)`, is a
/// variable of that name. Without arguments the text is a `&'static str`, and with some a `String`; so it is escaped in
/// HTML like any other. An argument that selects a plural is a number, checked by the compiler.
///
/// In a [`derive(Param)`](skep::param::Choice), `#[param(label = t!(open))]` is a label in each language.
pub use skep_language_macros::t;

/// What an application's source usually needs.
pub mod prelude {
    #[cfg(feature = "icu")]
    pub use crate::DateLength;
    pub use crate::{InLanguage, LanguageApp, Languages, languages, t};
}

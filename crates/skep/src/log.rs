//! Logging: categories of types, and what all lines of a request carry.
//!
//! [`tracing`] is the interface: its macros work everywhere, and their target is the category of a line.
//! [`derive(Log)`](skep_macros::Log) gives a type a category of its own, whose level can be set in the settings and
//! changed while the server runs:
//!
//! ```
//! use skep::log::Log;
//!
//! #[derive(Log)] // the category is the path of the type, such as "blog::search::Index"
//! struct Index {
//!     words: Vec<String>,
//! }
//!
//! impl Index {
//!     fn search(&self, word: &str) -> bool {
//!         let found = self.words.iter().any(|known| known == word);
//!         self.log().debug("searched").field("word", word).field("found", found);
//!         self.log().trace("of all").lazy("words", || self.words.join(" "));
//!         found
//!     }
//! }
//!
//! assert!(Index { words: vec!["bee".into()] }.search("bee"));
//! assert!(Index::category().name().ends_with("::Index"));
//! ```
//!
//! A line whose level is off costs one relaxed load; its fields are not evaluated if they are [`lazy`](Line::lazy), and
//! never formatted. The server that runs the application writes the lines (docs/guides/run/logging.md); a subscriber
//! that the program installs itself replaces the server's.

mod category;
pub(crate) mod limit;
mod raise;
mod request;
mod site;

pub use category::{Category, Line, Log, Value};
pub(crate) use raise::level_for;
#[doc(hidden)]
pub use raise::{Raiser, Whose, raised_level, set_raising};
#[doc(hidden)]
pub use request::{Recorder, RequestLog, Trace, install_recorder, with_request};
pub(crate) use request::{set_service, set_user, share};
#[doc(hidden)]
pub use site::{CategoryLine, install_line_writer};
pub use skep_macros::Log;

//! Logging: categories of types, and what all lines of a request carry.
//!
//! [`tracing`] is the interface. Start reading at [`Log`] and [`RequestLog`].

mod category;
pub mod limit;
mod raise;
mod request;
mod site;

pub use category::{Category, Line, Log, Value};
pub use raise::level_for;
#[doc(hidden)]
pub use raise::{Raiser, Whose, raised_level, set_raising};
#[doc(hidden)]
pub use request::{Recorder, RequestLog, RequestLogExt, Trace, install_recorder, with_request};
pub use request::{set_service, set_user, share};
#[doc(hidden)]
pub use site::{CategoryLine, install_line_writer};

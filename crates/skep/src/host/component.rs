//! What the host of a component offers to it: a table of functions, requests to other servers, the log.

#[doc(hidden)]
pub mod bindings;
mod fetch;
pub(crate) mod functions;
pub(crate) mod log;

pub(crate) use self::fetch::fetch;
pub(crate) use self::log::panicked;

//! The application as its author puts it together, and the way of every request through it.

pub mod app;
pub(crate) mod carry;
pub(crate) mod endpoint;
pub mod mount;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod site;
#[cfg(feature = "tower")]
pub mod tower;

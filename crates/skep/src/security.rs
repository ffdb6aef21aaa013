//! Keys and what is secret; who of other origins may act; how often something may be done.

pub(crate) mod access_rule;
pub(crate) mod keys;
#[doc(hidden)]
pub mod masks;
pub(crate) mod origin;
pub(crate) mod rate;
pub(crate) mod secret;

//! What an author writes: services, forms, guards, layers.

pub mod cors;
pub mod form;
pub mod guard;
#[cfg(feature = "openapi")]
pub(crate) mod interface;
pub mod layer;
pub(crate) mod page;
pub mod repeat;
pub mod service;

//! What an author writes: services, forms, guards, layers.

pub mod cors;
pub mod form;
pub mod guard;
pub mod layer;
pub mod repeat;
pub mod service;

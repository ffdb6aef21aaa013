//! The few places that the compiler cannot check.
//!
//! All `unsafe` of this crate is in this module, each block with its reason.
#![allow(unsafe_code)]

pub mod shared_words;
pub(crate) mod tee;

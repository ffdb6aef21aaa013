//! Sessions, wherever they are kept.

mod ownership;
mod sealed;
mod signing_in;

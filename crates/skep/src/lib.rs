//! A web framework in which what is wrong does not compile.
//!
//! This crate opens no socket and starts no thread and no process: a server (`skep-server`, or a WebAssembly host)
//! gives it requests and takes its answers. It also builds for `wasm32-wasip2`.

// `html!` names this crate `::skep`, also in here.
#[allow(unused_extern_crates, reason = "only what the macros write uses it")]
extern crate self as skep;

pub mod body;
pub mod error;
pub mod html;
pub mod response;

pub use body::Body;
pub use error::{Error, Or404, Result};
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use response::Response;
#[doc = include_str!("html/syntax.md")]
pub use skep_macros::html;

//! A web framework in which what is wrong does not compile.
//!
//! This crate opens no socket and starts no thread and no process: a server (`skep-server`, or a WebAssembly host)
//! gives it requests and takes its answers. It also builds for `wasm32-wasip2`.

pub mod body;
pub mod error;
pub mod response;

pub use body::Body;
pub use error::{Error, Or404, Result};
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use response::Response;

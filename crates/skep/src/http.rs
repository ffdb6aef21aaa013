//! Messages: requests, responses, their bodies and header fields, and why a request failed.

pub mod body;
pub mod cookie;
pub mod error;
pub(crate) mod fields;
pub mod request;
pub mod response;
pub mod upgrade;
pub(crate) mod validation;

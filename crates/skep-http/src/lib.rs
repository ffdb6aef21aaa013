//! HTTP as plain values.
//!
#![doc = include_str!("../README.md")]

#[macro_use]
mod extension;

#[doc(hidden)]
pub mod account;
pub mod body;
pub mod compression;
pub mod cookie;
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
pub mod development;
pub mod error;
pub mod error_page;
pub mod fetch;
pub mod fields;
pub mod files;
pub mod log;
pub mod quota;
pub mod request;
pub mod response;
pub mod sse;
pub mod upgrade;
pub mod validation;
#[doc(hidden)]
pub mod wire;

pub use body::Body;
pub use cookie::Cookie;
pub use error::{Error, Or404};
pub use request::{Peer, Request};
pub use response::security_headers::SecurityHeaders;
pub use response::{HeaderBlock, Response, Result};

pub mod ext {
    //! What a framework reads and sets in the values of this crate, and its applications do not.
    //!
    //! The methods are those of traits, so that a framework can re-export a type without them.

    pub use crate::account::AccountExt;
    pub use crate::body::BodyExt;
    pub use crate::body::watched::WatchedExt;
    pub use crate::compression::OptionsExt;
    pub use crate::cookie::CookieExt;
    pub use crate::error::ErrorExt;
    pub use crate::error_page::FailureExt;
    pub use crate::fetch::{FetchRequestExt, FetchResponseExt};
    pub use crate::files::{FilesExt, StoredFileExt};
    pub use crate::log::RequestLogExt;
    pub use crate::request::{RequestExt, SubnetExt};
    pub use crate::response::{ResponseExt, SecurityHeadersExt};
    pub use crate::upgrade::UpgradedExt;
}

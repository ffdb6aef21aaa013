//! What a response says of how it is compressed.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

/// What the author of a response says: [`Response::with_compression`](super::Response::with_compression).
#[cfg_attr(not(feature = "compression"), allow(dead_code, reason = "nothing is compressed"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish(pub(crate) bool);

/// The whole that a 304 or a 206 stands for: it has the `Vary` of that (RFC 9110, 15.3.7 and 15.4.5).
#[cfg_attr(not(feature = "compression"), allow(dead_code, reason = "nothing is compressed"))]
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) content_type: Option<HeaderValue>,
    /// It has a coding already, and gets no other.
    pub(crate) is_encoded: bool,
    pub(crate) size: Option<u64>,
}

impl Whole {
    /// That of a response with these fields, and a body of this size.
    pub(crate) fn of(headers: &HeaderMap, size: Option<u64>) -> Self {
        let is_encoded = headers.contains_key(CONTENT_ENCODING);
        Self { content_type: headers.get(CONTENT_TYPE).cloned(), is_encoded, size }
    }
}

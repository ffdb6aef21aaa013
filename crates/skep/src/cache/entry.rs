//! What the cache of pages and fragments stores.

use bytes::Bytes;
use http::StatusCode;
use serde::{Deserialize, Serialize};

/// An entry of the cache of pages and fragments.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum PageEntry {
    /// Status, header fields, body.
    Page(u16, Vec<(String, Bytes)>, Bytes),
    /// HTML, the ids of its tags, which a page that contains it inherits, and the nonce of the scripts in it.
    Piece(String, Vec<u64>, Option<String>),
    /// Rendering failed: status and message, for the requests that waited for it. Never stored.
    Failed(u16, Option<String>),
    /// It depends on these inputs: look it up again with their values.
    Depends(u8),
}

impl PageEntry {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Page(..) => "a page",
            Self::Piece(..) => "a fragment",
            Self::Failed(..) => "a failure",
            Self::Depends(_) => "a list of inputs",
        }
    }

    /// Only successful pages are stored.
    pub(super) fn is_to_be_stored(&self) -> bool {
        !matches!(self, Self::Page(status, ..) if *status != StatusCode::OK.as_u16())
    }
}

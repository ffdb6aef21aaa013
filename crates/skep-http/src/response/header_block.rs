//! Header fields that are the same in many responses: written once, and sent as they are.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

/// Header fields, and how HTTP/1 writes them. A clone shares them.
#[derive(Clone, Debug)]
pub struct HeaderBlock(Arc<Written>);

#[derive(Debug)]
struct Written {
    fields: Vec<(HeaderName, HeaderValue)>,
    bytes: Vec<u8>,
}

impl HeaderBlock {
    pub(crate) fn new(fields: Vec<(HeaderName, HeaderValue)>) -> Self {
        let mut bytes = Vec::new();
        for (name, value) in &fields {
            bytes.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        Self(Arc::new(Written { fields, bytes }))
    }

    /// True if one of the fields has this name.
    pub(crate) fn has(&self, name: &HeaderName) -> bool {
        self.0.fields.iter().any(|(known, _)| known == name)
    }

    /// Adds the fields to others.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        headers.extend(self.0.fields.iter().cloned());
    }

    /// The fields as lines, each with its end.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.bytes
    }
}

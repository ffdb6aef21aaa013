//! A text that the application makes for itself, answered like a file.

use bytes::Bytes;
use http::{HeaderValue, Method};

use super::encoding::Encoding;
use super::reply::reply;
use super::resource::{Content, Description, Variant};
use crate::Result;
use crate::request::Fields;

/// What a client may do with it: keep it, and ask each time whether it is still the same.
const ASK: HeaderValue = HeaderValue::from_static("no-cache");

/// A text in memory, with its media type and its tag.
#[derive(Debug)]
pub struct Held {
    variant: Variant,
}

impl Held {
    /// With this media type and this entity tag.
    pub fn new(text: Bytes, content_type: HeaderValue, tag: HeaderValue) -> Self {
        let variant = Variant::from(Description {
            encoding: Encoding::Identity,
            len: text.len() as u64,
            content: Content::Held(text),
            tag: Some(tag),
            modified: None,
            content_type,
            cache_control: &ASK,
            varies: false,
        });
        Self { variant }
    }

    /// The answer to a request for it.
    pub fn answer(&self, method: &Method, headers: &Fields) -> Result {
        reply(method, headers, &self.variant)
    }
}

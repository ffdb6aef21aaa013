//! One file as HTTP sees it: a resource, in one or several encodings.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::conditional::Validators;
use super::encoding::{Accepted, Encoding};
use crate::body::{Body, FileSlice};
use crate::request::Fields;
use crate::{Error, Result};

/// Where the bytes are.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Held(Bytes),
    File(Arc<File>),
    /// On another server: who asked for it fetches what it needs.
    Elsewhere,
}

impl Content {
    /// These bytes of it, which must exist.
    pub(super) fn part(&self, range: Range<u64>) -> Body {
        match self {
            Self::File(file) => {
                Body::file(FileSlice { file: Arc::clone(file), start: range.start, len: range.end - range.start })
            }
            Self::Held(bytes) => {
                let index = |at| usize::try_from(at).expect("what is held fits in memory");
                bytes.slice(index(range.start)..index(range.end)).into()
            }
            Self::Elsewhere => Body::empty(),
        }
    }
}

/// The file in one encoding, with everything said about it ready to be sent.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) encoding: Encoding,
    pub(super) content: Content,
    pub(super) len: u64,
    /// The header of an answer with status 200.
    pub(super) fields: HeaderMap,
    tag: Option<HeaderValue>,
    modified: Option<SystemTime>,
}

/// What a [`Variant`] is made of.
pub(super) struct Description<'a> {
    pub(super) encoding: Encoding,
    pub(super) content: Content,
    pub(super) len: u64,
    /// Without one, clients ask by the time of the last change.
    pub(super) tag: Option<HeaderValue>,
    pub(super) modified: Option<SystemTime>,
    pub(super) content_type: HeaderValue,
    pub(super) cache_control: &'a HeaderValue,
    /// Whether there are other encodings.
    pub(super) varies: bool,
}

impl From<Description<'_>> for Variant {
    fn from(from: Description<'_>) -> Self {
        let mut fields = HeaderMap::with_capacity(9);
        fields.insert(CONTENT_TYPE, from.content_type);
        fields.insert(CONTENT_LENGTH, from.len.into());
        if let Some(tag) = from.tag.clone() {
            fields.insert(ETAG, tag);
        }
        if let Some(modified) = from.modified {
            let date = httpdate::fmt_http_date(modified);
            fields.insert(LAST_MODIFIED, HeaderValue::try_from(date).expect("a date is ASCII"));
        }
        if !from.cache_control.is_empty() {
            fields.insert(CACHE_CONTROL, from.cache_control.clone());
        }
        fields.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if from.varies {
            fields.insert(VARY, HeaderValue::from_static("accept-encoding"));
        }
        if let Some(encoding) = from.encoding.header() {
            fields.insert(CONTENT_ENCODING, encoding);
        }
        Self {
            encoding: from.encoding,
            content: from.content,
            len: from.len,
            fields,
            tag: from.tag,
            modified: from.modified,
        }
    }
}

impl Variant {
    pub(super) fn validators(&self) -> Validators<'_> {
        Validators { tag: self.tag.as_ref().map(HeaderValue::as_bytes), modified: self.modified }
    }
}

/// All encodings of one file, best first; the last is the file as it is.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) variants: Vec<Variant>,
}

impl Resource {
    /// The index of the variant for this client; 406 if it accepts none of them.
    pub(super) fn choose(&self, headers: &Fields) -> Result<usize> {
        if self.variants.len() == 1 && !says_weights(headers) {
            return Ok(0);
        }
        let available = self.variants.iter().map(|variant| variant.encoding);
        let best = Accepted::of(headers).best(available);
        let index = best.and_then(|best| self.variants.iter().position(|variant| variant.encoding == best));
        index.ok_or_else(|| {
            Error::new(StatusCode::NOT_ACCEPTABLE)
                .with_message("there is no form of this file that Accept-Encoding allows")
                .with_header(VARY, HeaderValue::from_static("accept-encoding"))
        })
    }
}

/// Without a weight, nothing is refused: the plain file will do.
fn says_weights(headers: &Fields) -> bool {
    headers.get_all(http::header::ACCEPT_ENCODING).any(|field| field.as_bytes().contains(&b';'))
}

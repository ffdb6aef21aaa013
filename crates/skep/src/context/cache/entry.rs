//! What the cache of pages and fragments stores.

use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use skep_cache::{Codec, Postcard, Result};

use skep_http::compression::Coding;

/// An entry of the cache of pages and fragments.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) enum PageEntry {
    Page(Page),
    /// HTML, the ids of its tags, which a page that contains it inherits, and the nonce of the scripts in it.
    Piece(String, Vec<u64>, Option<String>),
    /// Rendering failed: status and message, for the requests that waited for it. Never stored.
    Failed(u16, Option<String>),
    /// It depends on these inputs: look it up again with their values.
    Depends(u8),
}

/// A response that is cached.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, Bytes)>,
    pub(crate) body: Bytes,
    /// The body in codings that are smaller.
    pub(crate) packed: Vec<(Coding, Bytes)>,
}

impl PageEntry {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Page(..) => "a page",
            Self::Piece(..) => "a fragment",
            Self::Failed(..) => "a failure",
            Self::Depends(_) => "a list of inputs",
        }
    }

    /// Only successful pages are stored.
    pub(crate) fn is_to_be_stored(&self) -> bool {
        !matches!(self, Self::Page(page) if page.status != StatusCode::OK.as_u16())
    }
}

/// How entries are stored: all but the bodies with postcard, behind its length; then the bodies, which are decoded
/// without copying.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageCodec;

/// An entry without the bytes of its bodies.
#[derive(Serialize, Deserialize)]
enum Head {
    Page { status: u16, fields: Vec<(String, Bytes)>, body: usize, packed: Vec<(Coding, usize)> },
    Piece(String, Vec<u64>, Option<String>),
    Failed(u16, Option<String>),
    Depends(u8),
}

impl Head {
    fn of(entry: &PageEntry) -> Self {
        match entry {
            PageEntry::Page(page) => Self::Page {
                status: page.status,
                fields: page.fields.clone(),
                body: page.body.len(),
                packed: page.packed.iter().map(|(coding, body)| (*coding, body.len())).collect(),
            },
            PageEntry::Piece(html, tags, nonce) => Self::Piece(html.clone(), tags.clone(), nonce.clone()),
            PageEntry::Failed(status, message) => Self::Failed(*status, message.clone()),
            PageEntry::Depends(inputs) => Self::Depends(*inputs),
        }
    }

    /// The entry with its bodies. `None` if there are fewer bytes or more.
    fn with(self, mut bodies: Bytes) -> Option<PageEntry> {
        let mut take = |length| (length <= bodies.len()).then(|| bodies.split_to(length));
        let entry = match self {
            Self::Page { status, fields, body, packed } => {
                let body = take(body)?;
                let packed = packed.into_iter().map(|(coding, length)| Some((coding, take(length)?)));
                PageEntry::Page(Page { status, fields, body, packed: packed.collect::<Option<_>>()? })
            }
            Self::Piece(html, tags, nonce) => PageEntry::Piece(html, tags, nonce),
            Self::Failed(status, message) => PageEntry::Failed(status, message),
            Self::Depends(inputs) => PageEntry::Depends(inputs),
        };
        bodies.is_empty().then_some(entry)
    }
}

impl Codec<PageEntry> for PageCodec {
    const SHARES: bool = true;

    fn encode(&self, entry: &PageEntry, to: &mut BytesMut) -> Result<()> {
        let length_at = to.len();
        to.put_u32(0);
        Postcard.encode(&Head::of(entry), to)?;
        let length = u32::try_from(to.len() - length_at - LENGTH).map_err(|_| broken())?;
        to[length_at..length_at + LENGTH].copy_from_slice(&length.to_be_bytes());
        if let PageEntry::Page(page) = entry {
            let bodies = [&page.body].into_iter().chain(page.packed.iter().map(|(_, body)| body));
            bodies.for_each(|body| to.put_slice(body));
        }
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> Result<PageEntry> {
        self.decode_shared(Bytes::copy_from_slice(bytes))
    }

    fn decode_shared(&self, bytes: Bytes) -> Result<PageEntry> {
        let (length, rest) = bytes.split_first_chunk::<LENGTH>().ok_or_else(broken)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| broken())?;
        let head: Head = Postcard.decode(rest.get(..length).ok_or_else(broken)?)?;
        head.with(bytes.slice(LENGTH + length..)).ok_or_else(broken)
    }
}

/// Bytes of the length of a head.
const LENGTH: usize = 4;

fn broken() -> skep_cache::Error {
    skep_cache::Error::codec("a page in the cache is not as long as it says")
}

#[cfg(test)]
#[path = "../../../tests/unit/cache/entry.rs"]
mod tests;

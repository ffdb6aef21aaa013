//! A file whose bytes are elsewhere, such as on a server that stores files.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderValue, Method};

use super::encoding::Encoding;
use super::reply::reply_without_body;
use super::resource::{Content, Description, Variant};
use super::stored::{PRIVATE, confine};
use crate::request::Fields;
use crate::{Response, Result};

/// A file that this machine need not have: what is said of it, and which of its bytes a request wants. What
/// [`StoredFile`](super::StoredFile) is for files of a folder, this is for those of another server.
///
/// ```
/// use skep::files::RemoteFile;
/// use skep::{Body, HeaderMap, HeaderValue, Method};
///
/// let text = "Hello, world!";
/// let file = RemoteFile::new("hello.txt", "text/plain", text.len() as u64).tag("7d3f");
/// let wanted = HeaderMap::from_iter([(skep::header::RANGE, HeaderValue::from_static("bytes=7-11"))]);
/// let (mut response, bytes) = file.answer(&Method::GET, &wanted)?;
/// assert_eq!((response.status().as_u16(), bytes.clone()), (206, 7..12));
/// // Here they would be fetched.
/// *response.body_mut() = Body::from(&text[7..12]);
/// # Ok::<(), skep::Error>(())
/// ```
///
/// Unless [`inline`](Self::inline) says otherwise it is a download, and always in a `sandbox`. Proxies do not store it.
#[derive(Clone, Debug)]
#[must_use]
pub struct RemoteFile {
    name: String,
    content_type: HeaderValue,
    len: u64,
    tag: Option<HeaderValue>,
    modified: Option<SystemTime>,
    cache_control: HeaderValue,
    inline: bool,
}

const UNKNOWN: HeaderValue = HeaderValue::from_static("application/octet-stream");

impl RemoteFile {
    /// A file of this name, media type and length in bytes.
    pub fn new(name: impl Into<String>, content_type: &str, len: u64) -> Self {
        let content_type = HeaderValue::from_str(content_type).unwrap_or(UNKNOWN);
        Self { name: name.into(), content_type, len, tag: None, modified: None, cache_control: PRIVATE, inline: false }
    }

    /// What is different if one byte is, such as a hash: the entity tag without its quotes. Blanks, quotes and control
    /// characters cannot be in one and are left out. Without a tag, browsers ask by the time of the last change.
    pub fn tag(self, tag: &str) -> Self {
        // `etagc` of RFC 9110, 8.8.3.
        let tag: Vec<u8> = tag.bytes().filter(|byte| matches!(byte, 0x21 | 0x23..=0x7e | 0x80..)).collect();
        let quoted = [b"\"", &*tag, b"\""].concat();
        Self { tag: HeaderValue::try_from(quoted).ok().filter(|_| !tag.is_empty()), ..self }
    }

    /// When it was last changed, in seconds since 1970.
    pub fn modified(self, seconds: u64) -> Self {
        Self { modified: UNIX_EPOCH.checked_add(Duration::from_secs(seconds)), ..self }
    }

    /// How long the browser may show it without asking again. Default: not at all.
    pub fn max_age(self, time: Duration) -> Self {
        let value = format!("private, max-age={}, immutable", time.as_secs());
        Self { cache_control: HeaderValue::try_from(value).unwrap_or(PRIVATE), ..self }
    }

    /// Lets the browser show it, such as a picture in a page, instead of storing it.
    pub fn inline(self) -> Self {
        Self { inline: true, ..self }
    }

    /// The response to a request, without its body, and which bytes of the file its body is to be: none of a 304, or
    /// for HEAD.
    ///
    /// # Errors
    /// 412 and 416, as the fields of the request say.
    pub fn answer(&self, method: &Method, headers: &HeaderMap) -> Result<(Response, Range<u64>)> {
        let variant = Variant::from(Description {
            encoding: Encoding::Identity,
            content: Content::Elsewhere,
            len: self.len,
            tag: self.tag.clone(),
            modified: self.modified,
            content_type: self.content_type.clone(),
            cache_control: &self.cache_control,
            varies: false,
        });
        // To a form the whole file is the response, too.
        let method = if method == Method::HEAD { &Method::HEAD } else { &Method::GET };
        let (mut response, part) = reply_without_body(method, &Fields::from(headers.clone()), &variant)?;
        confine(&mut response, self.inline, &self.name);
        Ok((response, part))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/files/remote.rs"]
mod tests;

//! Where HTML is written.
//!
//! A [`Buffer`] is a string whose memory is used again: it comes from a pool of the thread and goes back when dropped.
//! What is in a buffer is HTML; nothing is escaped a second time.

use std::cell::RefCell;
use std::fmt;

use super::href::{self, UrlPlace};
#[cfg(feature = "nonce")]
use super::nonce;
use super::{Href, PlainText, escape};

/// How many strings a thread keeps for later. Pieces are nested, but seldom deeper.
const POOLED_STRINGS: usize = 8;

/// A string that grew beyond this many bytes is freed, not kept: one huge page must not hold memory for ever.
const POOLED_CAPACITY: usize = 64 << 10;

thread_local! {
    static POOL: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Where HTML is written: what [`Render`](super::Render) and its sisters are given.
///
/// ```
/// use skep_html::{Buffer, Html};
///
/// let mut out = Buffer::new();
/// out.push_trusted("<p>");
/// out.push_text("1 < 2");
/// out.push_trusted("</p>");
/// assert_eq!(Html::from(out).as_str(), "<p>1 &lt; 2</p>");
/// ```
///
/// It is also a [`fmt::Write`] that escapes for text and attribute values alike, so a type with a `Display` can
/// `write!` itself.
#[derive(Default)]
pub struct Buffer {
    text: String,
}

impl Buffer {
    /// An empty buffer. It has memory only if the thread had some left.
    #[must_use]
    pub fn new() -> Self {
        let text = POOL.try_with(|pool| pool.borrow_mut().pop()).ok().flatten();
        Self { text: text.unwrap_or_default() }
    }

    /// An empty buffer with room for `bytes` bytes.
    ///
    /// ```
    /// assert!(skep_html::Buffer::with_capacity(100).is_empty());
    /// ```
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let mut buffer = Self::new();
        buffer.text.reserve(bytes);
        buffer
    }

    pub(super) fn of_trusted(text: String) -> Self {
        Self { text }
    }

    /// Writes HTML as it is. Nothing that a visitor wrote may come in here.
    #[inline]
    pub fn push_trusted(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// Writes text where text stands: `&`, `<` and `>` are escaped. Not for attribute values.
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        escape::text(&mut self.text, text);
    }

    /// Writes text where an attribute's value stands, between double quotes; right in other text as well.
    ///
    /// ```
    /// let mut out = skep_html::Buffer::new();
    /// out.push_plain("\"Tom & Jerry\"");
    /// assert_eq!(out.as_str(), "&quot;Tom &amp; Jerry&quot;");
    /// ```
    #[inline]
    pub fn push_plain(&mut self, text: &str) {
        escape::plain(&mut self.text, text);
    }

    /// Writes a URL that is percent-encoded already where an attribute's value stands: of what is special there, such
    /// a URL has `&` only. An example is at [`Destination`](super::Destination).
    pub fn push_encoded(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        if self.text.as_bytes()[start..].contains(&b'&') {
            let url = self.text.split_off(start);
            self.push_plain(&url);
        }
    }

    /// Writes an attribute, with the space before it. For [`Attributes`](super::Attributes), where an example is.
    ///
    /// The name is written as it is, and must not be one whose value is a URL or a script.
    pub fn push_attribute(&mut self, name: &'static str, value: &(impl PlainText + ?Sized)) {
        self.open_attribute(name);
        value.write_plain(self);
        self.text.push('"');
    }

    /// Writes an attribute whose value is a link, with the space before it.
    ///
    /// ```
    /// let mut out = skep_html::Buffer::new();
    /// out.push_link("action", "/comments?a=1&b=2");
    /// out.push_link("formaction", "JavaScript:alert(1)");
    /// assert_eq!(out.as_str(), r#" action="/comments?a=1&amp;b=2" formaction="about:invalid""#);
    /// ```
    pub fn push_link(&mut self, name: &'static str, value: &(impl Href + ?Sized)) {
        self.open_attribute(name);
        value.write_checked(UrlPlace::Link, self);
        self.text.push('"');
    }

    /// Writes the attribute `nonce` of a script or style, in a scope of a nonce.
    #[doc(hidden)]
    pub fn push_nonce(&mut self) {
        #[cfg(feature = "nonce")]
        let _ = nonce::with(|nonce| {
            self.open_attribute("nonce");
            self.text.push_str(nonce);
            self.text.push('"');
        });
    }

    fn open_attribute(&mut self, name: &str) {
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
    }

    /// What has been written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many bytes have been written.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// True if nothing has been written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn into_string(mut self) -> String {
        std::mem::take(&mut self.text)
    }

    pub(super) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }
}

/// What only the code that `html!` makes calls. `start` is a length that the buffer had before.
#[doc(hidden)]
impl Buffer {
    /// Refuses the URL that began at `start` if its scheme runs code.
    #[inline]
    pub fn check_url(&mut self, start: usize, place: UrlPlace) {
        href::check(&mut self.text, start, place);
    }

    /// Escapes what was written since `start`, a script, as the value of an attribute.
    pub fn quote_from(&mut self, start: usize) {
        let script = Self { text: self.text.split_off(start) };
        self.push_plain(&script.text);
    }

    /// Makes a list of classes, each with a space before it, into an attribute. No class, no attribute.
    pub fn wrap_classes(&mut self, start: usize) {
        if self.text.len() > start {
            self.text.replace_range(start..=start, " class=\"");
            self.text.push('"');
        }
    }

    /// A browser drops a line feed right behind `<pre>` and `<textarea>`; one more keeps the first.
    #[inline]
    pub fn keep_newline(&mut self, start: usize) {
        if self.text.as_bytes().get(start) == Some(&b'\n') {
            self.text.insert(start, '\n');
        }
    }

    /// Writes a document as the value of `srcdoc`.
    pub fn push_document<C, H>(&mut self, html: &super::Html<C, H>) {
        self.push_plain(html.as_str());
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len());
        copy.text.push_str(&self.text);
        copy
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.text.capacity() == 0 || self.text.capacity() > POOLED_CAPACITY {
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // Without a pool the thread is ending, and the string is freed.
        let _ = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if pool.len() < POOLED_STRINGS {
                pool.push(text);
            }
        });
    }
}

impl fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_plain(text);
        Ok(())
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buffer").field(&self.text).finish()
    }
}

#[cfg(test)]
#[path = "../tests/unit/buffer.rs"]
mod tests;

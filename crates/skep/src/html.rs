//! HTML: what `html!` makes, and what can be spliced into it.
//!
//! The place decides what a splice may be and how it is escaped; a value that does not fit its place does not compile:
//!
//! | place | what fits | written as |
//! |---|---|---|
//! | text | [`Render`]: text, numbers, [`Html`] | `&`, `<`, `>` escaped; [`Html`] as it is |
//! | attribute value, `textarea`, `title` | [`PlainText`]: text, numbers | `"` escaped too |
//! | URL attribute (`href`, `src`, `action`, ...) | [`Href`]: services, text | as an attribute; a scheme that runs code becomes `about:invalid` |
//! | script: `<script>`, `<style>`, `on...`, `x-data`, ... | [`Script`]: [`Json`], [`Trusted`] | JSON that cannot end the script |
//! | `srcdoc` | [`Html`] | as an attribute |
//! | between the name and the content of an element | [`Attributes`] | as the value decides |
//!
//! Nothing here escapes or marks anything later: once text is in a [`Buffer`] it is HTML. The only ways around the escaping have
//! "trusted" in their names. A carriage return is written `&#13;`, because a browser would turn a plain one into a
//! line feed; NUL has no form in HTML, and a browser drops or replaces it.
//!
//! Start reading at [`Html`] and [`Buffer`]; what `html!` understands is written at [`html!`](crate::html!).

mod attributes;
mod buffer;
mod escape;
mod link;
mod number;
mod render;
mod script;
mod stream;

use std::fmt;

use bytes::Bytes;

pub use attributes::{Attributes, optional};
pub use buffer::Buffer;
pub use link::{Href, HrefPart, UrlPlace};
pub use render::{PlainText, Render};
pub use script::{Json, Script, Trusted};
pub use stream::stream;

use crate::body::Body;
use crate::response::Response;

/// What a page starts with, as in maud: `html! { (DOCTYPE) html { ... } }`.
///
/// ```
/// use skep::html::DOCTYPE;
///
/// assert_eq!(skep::html! { (DOCTYPE) p { "Hello" } }.as_str(), "<!DOCTYPE html><p>Hello</p>");
/// ```
pub const DOCTYPE: Trusted<&str> = Trusted("<!DOCTYPE html>");

/// A piece of HTML: a whole page, or what a function gives back to be spliced into one.
///
/// ```
/// use skep::html;
/// use skep::html::Html;
///
/// fn badge(count: u32) -> Html {
///     html! { span.badge { (count) } }
/// }
///
/// assert_eq!(html! { p { "Comments " (badge(3)) } }.as_str(), r#"<p>Comments <span class="badge">3</span></p>"#);
/// ```
///
/// Its memory comes from a small pool of the thread and goes back there, so a function that returns a piece costs
/// a copy of the piece and no allocation.
#[derive(Clone, Debug, Default)]
pub struct Html {
    buffer: Buffer,
}

impl Html {
    /// Takes a string as HTML without looking at it. Whatever a visitor could have written must not be in it
    /// unless something made it harmless: a sanitiser, a Markdown renderer that escapes.
    ///
    /// ```
    /// use skep::html::Html;
    ///
    /// assert_eq!(skep::html! { p { (Html::trusted("<em>ready</em>")) } }.as_str(), "<p><em>ready</em></p>");
    /// ```
    #[must_use]
    pub fn trusted(html: impl Into<String>) -> Self {
        Self { buffer: Buffer::of_trusted(html.into()) }
    }

    /// The HTML as text.
    ///
    /// ```
    /// assert_eq!(skep::html! { br; }.as_str(), "<br>");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.buffer.as_str()
    }

    /// The HTML as a string of its own.
    ///
    /// ```
    /// assert_eq!(skep::html! { br; }.into_string(), "<br>");
    /// ```
    #[must_use]
    pub fn into_string(self) -> String {
        self.buffer.into_string()
    }

    /// True if there is nothing in it.
    ///
    /// ```
    /// assert!(skep::html! {}.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }
}

impl From<Buffer> for Html {
    fn from(buffer: Buffer) -> Self {
        Self { buffer }
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AsRef<[u8]> for Html {
    fn as_ref(&self) -> &[u8] {
        self.as_str().as_bytes()
    }
}

impl From<Html> for Body {
    /// The bytes are not copied, and their memory goes back to the pool once they are sent.
    fn from(html: Html) -> Self {
        if html.is_empty() { Self::empty() } else { Bytes::from_owner(html).into() }
    }
}

/// The media type of every page.
const HTML: &str = "text/html; charset=utf-8";

impl Response {
    /// `text/html`, in UTF-8.
    ///
    /// ```
    /// use skep::Response;
    ///
    /// let response = Response::html(skep::html! { p { "Hello" } });
    /// assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    /// assert_eq!(response.body().as_whole(), Some(&b"<p>Hello</p>"[..]));
    /// ```
    #[must_use]
    pub fn html(html: Html) -> Self {
        Self::typed(HTML, html)
    }

    /// A page sent piece by piece, each as soon as it is made. The example is at [`stream`].
    #[must_use]
    pub fn html_stream<S, E>(pieces: S) -> Self
    where
        S: futures_core::Stream<Item = Result<Html, E>> + Send + 'static,
        E: Into<crate::body::BodyError> + 'static,
    {
        Self::typed(HTML, stream(pieces))
    }
}

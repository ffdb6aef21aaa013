//! Where a link may lead, by its type.

use std::fmt::{self, Write};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{Buffer, Href};

/// Where a link or a redirect may lead, as a type: a page of this site or of another one, an element of a page.
///
/// In an application of Skep, `#[derive(Service)]` writes it for GET services. Something of one's own is a destination
/// with two lines, and a link with two more:
///
/// ```
/// use skep_html::{Buffer, Destination, Href, html};
///
/// /// Where somebody goes who has just signed in.
/// enum After { Index, Account }
///
/// impl Destination for After {
///     fn write_url(&self, out: &mut String) {
///         out.push_str(match self {
///             Self::Index => "/",
///             Self::Account => "/me",
///         });
///     }
/// }
///
/// impl Href for After {
///     fn write_href(&self, out: &mut Buffer) {
///         out.push_encoded(|url| self.write_url(url));
///     }
/// }
///
/// let page = html! { a href=(After::Account) { "Go on" } iframe src=(After::Index) title="Start" {} };
/// assert_eq!(page.as_str(), r#"<a href="/me">Go on</a><iframe src="/" title="Start"></iframe>"#);
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a link target")]
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(
        label = "only a GET service, an element of its page (`.at(id)`) or an external GET service is",
        note = "a POST service is the target of a form: `form (Service::form(...)) {{ ... }}`"
    )
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(
        label = "only a type that implements `Destination` is, or an element of its page (`.at(id)`)"
    )
)]
pub trait Destination {
    /// Appends the URL: a path of this site with its query, or the whole URL of another one. It is visible ASCII.
    fn write_url(&self, out: &mut String);

    /// The place with this id in the page.
    ///
    /// ```
    /// use skep_html::{Destination, html};
    ///
    /// struct Article { page: u32 }
    ///
    /// impl Destination for Article {
    ///     fn write_url(&self, out: &mut String) {
    ///         out.push_str(&format!("/writings/{}", self.page));
    ///     }
    /// }
    ///
    /// let link = html! { a href=(Article { page: 7 }.at("comments")) { "Comments" } };
    /// assert_eq!(link.as_str(), r#"<a href="/writings/7#comments">Comments</a>"#);
    ///
    /// let third = Article { page: 7 }.at(format_args!("comment-{}", 3)).url();
    /// assert_eq!(third, "/writings/7#comment-3");
    /// ```
    fn at<I: fmt::Display>(self, id: I) -> At<Self, I>
    where
        Self: Sized,
    {
        At { page: self, id }
    }
}

impl<D: Destination + ?Sized> Destination for &D {
    fn write_url(&self, out: &mut String) {
        (**self).write_url(out);
    }
}

/// A place in a page: what [`Destination::at`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At<D, I> {
    page: D,
    id: I,
}

impl<D: Destination, I: fmt::Display> At<D, I> {
    /// The link: path, query and fragment.
    #[must_use]
    pub fn url(&self) -> String {
        let mut url = String::new();
        self.write_url(&mut url);
        url
    }
}

impl<D: Destination, I: fmt::Display> Destination for At<D, I> {
    fn write_url(&self, out: &mut String) {
        self.page.write_url(out);
        out.push('#');
        write_fragment(out, format_args!("{}", self.id));
    }
}

impl<D: Destination, I: fmt::Display> Href for At<D, I> {
    fn write_href(&self, out: &mut Buffer) {
        out.push_encoded(|url| self.write_url(url));
    }
}

impl<D: Destination, I: fmt::Display> Href for &At<D, I> {
    fn write_href(&self, out: &mut Buffer) {
        (**self).write_href(out);
    }
}

/// What a fragment cannot hold as it is (RFC 3986, 3.5), and `%`: a browser seeks the id as it is written and then
/// decoded (HTML, 7.4.6.4).
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Appends what stands behind the `#` of a URL. Most ids need no encoding, and then nothing is copied.
#[doc(hidden)]
pub fn write_fragment(out: &mut String, fragment: fmt::Arguments<'_>) {
    let start = out.len();
    out.write_fmt(fragment).expect("a String takes all");
    if out.as_bytes()[start..].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
        return;
    }
    let text = out.split_off(start);
    out.extend(utf8_percent_encode(&text, ENCODED));
}

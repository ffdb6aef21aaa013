//! Pieces of HTML.

use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "bytes")]
use bytes::Bytes;

use crate::fits::ProvedBy;
use crate::{Anything, Buffer, Doctype, Fits, Flow};
#[cfg(doc)]
use crate::{
    Cells, Columns, Document, Foreign, Items, Metadata, NoForm, NoHeader, NoHeading, NoInteractive, Options, PageParts,
    Phrasing, Picture, Plain, Rows, Ruby, Sources, TableParts, Terms,
};

/// What a page starts with, as in maud: `html! { (DOCTYPE) html { ... } }`.
///
/// ```
/// use skep_html::DOCTYPE;
///
/// let page = skep_html::html! { (DOCTYPE) html lang="en" { head { title { "Hello" } } body {} } };
/// assert!(page.as_str().starts_with("<!DOCTYPE html><html lang=\"en\">"));
/// ```
pub const DOCTYPE: Doctype = Doctype(());

/// A piece of HTML: a whole page, or what a function gives back to be spliced into one.
///
/// ```
/// use skep_html::{Html, html};
///
/// fn comment(author: &str, text: &str) -> Html {
///     html! { article { h3 { (author) } p { (text) } } }
/// }
///
/// assert_eq!(
///     html! { section { (comment("Ann", "Fine.")) } }.as_str(),
///     "<section><article><h3>Ann</h3><p>Fine.</p></article></section>"
/// );
/// ```
///
/// Its memory comes from a small pool of the thread and goes back there, so a function that returns a piece costs
/// a copy of the piece and no allocation.
///
/// # Pieces
///
/// Its type says where it may stand, so that HTML's rules hold across functions too. `Html` alone is [`Flow`] content,
/// of which nothing more is known: it stands in a `div`, an `article`, an `li`, a `td`, in `main` and `body`. A piece
/// for a place that takes less says so, and is made by [`piece!`](crate::piece!), which sees to it:
///
/// ```
/// use skep_html::{DOCTYPE, Document, Html, NoInteractive, Phrasing, Rows, html, piece};
///
/// fn day(date: &str) -> Html<Phrasing> {
///     piece! { time datetime=(date) { (date) } }
/// }
///
/// fn badge(count: u32) -> Html<Phrasing, NoInteractive> {
///     piece! { span.badge { (count) } }
/// }
///
/// fn row(name: &str, comments: u32) -> Html<Rows> {
///     html! { tr { td { a href="/" { (name) (badge(comments)) } } td { p { (day("2026-11-21")) } } } }
/// }
///
/// fn page(title: &str, content: &Html) -> Html<Document> {
///     html! {
///         (DOCTYPE)
///         html lang="en" { head { title { (title) } } body { (content) } }
///     }
/// }
///
/// page("Writings", &html! { table { @for name in ["A", "B"] { (row(name, 3)) } } });
/// ```
///
/// | kind | its roots | stands in |
/// |---|---|---|
/// | [`Flow`] | text, and all that stands in a page | most elements |
/// | [`Phrasing`] | text, and what stands in a line: `a`, `em`, `span`, `img` | `p`, `h1`, `span`, `button`, and wherever `Flow` does |
/// | [`Document`] | `html`, and [`DOCTYPE`] before it | nothing: it is a whole page |
/// | [`PageParts`] | `head`, `body` | `html` |
/// | [`Metadata`] | `title`, `meta`, `link` | `head` |
/// | [`Items`] | `li` | `ul`, `ol`, `menu` |
/// | [`Terms`] | `dt`, `dd` | `dl` |
/// | [`TableParts`] | `caption`, `thead`, `tbody` | `table` |
/// | [`Rows`] | `tr` | `tbody`, `thead`, `tfoot`, `table` |
/// | [`Cells`] | `td`, `th` | `tr` |
/// | [`Columns`] | `col` | `colgroup` |
/// | [`Options`] | `option`, `optgroup` | `select`, `optgroup` |
/// | [`Sources`], [`Picture`] | `source`, `track`; `source`, `img` | `audio`, `video`; `picture` |
/// | [`Ruby`], [`Foreign`] | `rt`, `rp`; parts of a drawing or formula | `ruby`; `svg`, `math` |
///
/// The second parameter promises what is not in the piece, at any depth:
///
/// | promise | not in it | needed in |
/// |---|---|---|
/// | [`Anything`] | (no promise) | |
/// | [`NoForm`] | `form` | `form` |
/// | [`NoHeader`] | `header`, `footer` | `header`, `footer` |
/// | [`NoHeading`] | these, headings, `article`, `aside`, `nav`, `section`, `address` | `th`, `dt`, `address` |
/// | [`NoInteractive`] | links, controls, `tabindex` | `a`, `button` |
/// | [`Plain`] | all of these | several of these at once |
/// | [`Controls<T>`](crate::Controls) | `form`; the controls of a `T` are in it | `@fields` of a form |
///
/// Phrasing content cannot contain a form, a header or a heading, so `Html<Phrasing>` fits in a `form` as it is.
/// [`widen`](Self::widen) turns a piece into one that says less.
pub struct Html<C = Flow, H = Anything> {
    buffer: Buffer,
    // As of a function, so that a piece can be sent to another thread whatever its kind.
    kind: PhantomData<fn() -> (C, H)>,
}

impl Html {
    /// Takes a string as HTML, as flow content, without looking at it. Whatever a visitor could have written must not
    /// be in it unless something made it harmless: a sanitiser, a Markdown renderer that escapes.
    ///
    /// ```
    /// use skep_html::Html;
    ///
    /// let html = "<p>ready</p>";
    /// assert_eq!(skep_html::html! { div { (Html::trusted(html)) } }.as_str(), "<div><p>ready</p></div>");
    /// ```
    #[must_use]
    pub fn trusted(html: impl Into<String>) -> Self {
        Self::trusted_piece(html)
    }
}

impl<C, H> Html<C, H> {
    /// As [`Html::trusted`], for every other kind of piece: its type comes from where it goes.
    ///
    /// ```
    /// use skep_html::{Html, NoInteractive, Phrasing};
    ///
    /// fn icon() -> Html<Phrasing, NoInteractive> {
    ///     Html::trusted_piece("<svg viewBox=\"0 0 9 9\"><path d=\"M0 0h9v9\"/></svg>")
    /// }
    ///
    /// assert!(skep_html::html! { button { (icon()) } }.as_str().ends_with("</svg></button>"));
    /// ```
    #[must_use]
    pub fn trusted_piece(html: impl Into<String>) -> Self {
        Self::of(Buffer::of_trusted(html.into()))
    }

    /// What the code of `html!` wrote, which knows what it is.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn of(buffer: Buffer) -> Self {
        Self { buffer, kind: PhantomData }
    }

    /// The same piece, of a type that says less of it: phrasing content as flow content, a promise forgotten. It costs
    /// nothing.
    ///
    /// ```
    /// use skep_html::{Html, NoInteractive, Phrasing, piece};
    ///
    /// fn icon() -> Html<Phrasing, NoInteractive> {
    ///     piece! { img src="/bee.svg" alt="Bee"; }
    /// }
    ///
    /// let pieces: Vec<Html> = vec![icon().widen(), skep_html::html! { p { "Hello" } }];
    /// assert_eq!(pieces.len(), 2);
    /// ```
    #[must_use]
    pub fn widen<D, I>(self) -> Html<D, I>
    where
        Self: Fits<Html<D, I>>,
        I: ProvedBy<H>,
    {
        Html::of(self.buffer)
    }

    /// The HTML as text.
    ///
    /// ```
    /// assert_eq!(skep_html::html! { br; }.as_str(), "<br>");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.buffer.as_str()
    }

    /// The HTML as a string of its own.
    ///
    /// ```
    /// assert_eq!(skep_html::html! { br; }.into_string(), "<br>");
    /// ```
    #[must_use]
    pub fn into_string(self) -> String {
        self.buffer.into_string()
    }

    /// True if there is nothing in it.
    ///
    /// ```
    /// assert!(skep_html::html! {}.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }
}

// Derives would ask that the kinds have these traits.
impl<C, H> Clone for Html<C, H> {
    fn clone(&self) -> Self {
        Self::of(self.buffer.clone())
    }
}

// For the usual kind alone, so that `Html::default()` needs no annotation.
impl Default for Html {
    fn default() -> Self {
        Self::of(Buffer::default())
    }
}

impl<C, H> fmt::Debug for Html<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Html").field(&self.as_str()).finish()
    }
}

impl From<Buffer> for Html {
    fn from(buffer: Buffer) -> Self {
        Self::of(buffer)
    }
}

impl<C, H> fmt::Display for Html<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "bytes")]
impl<C, H> From<Html<C, H>> for Bytes {
    /// The bytes are not copied, and their memory goes back to the pool of the thread that drops them.
    fn from(html: Html<C, H>) -> Self {
        if html.is_empty() { Self::new() } else { Self::from_owner(html.buffer) }
    }
}

//! What a piece of HTML is made of, and what it promises not to contain: the two parameters of [`Html`](super::Html).
//!
//! A kind is what all roots of a piece fit in, named by the standard's content models (WHATWG HTML, 3.2.5 and 4).
//! Nothing here exists at run time.

use std::marker::PhantomData;

use super::place::{Closed, Inline, Open};

mod sealed {
    pub trait Sealed {}
}

/// A content kind: what the roots of a piece are. The first parameter of [`Html`](super::Html).
///
/// The kinds stand in [the table of pieces](super::Html#pieces); there are no others.
pub trait Kind: sealed::Sealed {
    /// How much of what an ancestor may forbid can be in such a piece.
    #[doc(hidden)]
    type Depth;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $depth:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// An example is at [`Html`](super::Html#pieces).
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl sealed::Sealed for $name {}

        impl Kind for $name {
            type Depth = $depth;
        }
    )*};
}

kinds! {
    /// What stands in a page: text, paragraphs, lists, tables, sections, forms. The usual kind, and the default.
    Flow: Open;
    /// What stands in a line: text, and elements such as `a`, `em`, `span`, `img`, `input`. It fits wherever [`Flow`]
    /// does.
    Phrasing: Inline;
    /// A whole page: [`DOCTYPE`](super::DOCTYPE) and `html`.
    Document: Open;
    /// What stands in `html`: `head` and `body`.
    PageParts: Open;
    /// What stands in `head`: `title`, `meta`, `link`, `style`, `script`.
    Metadata: Closed;
    /// What stands in `ul`, `ol` and `menu`: `li`.
    Items: Open;
    /// What stands in `dl`: `dt` and `dd`, or `div` around them.
    Terms: Open;
    /// What stands in `table`: `caption`, `colgroup`, `thead`, `tbody`, `tfoot`, and rows.
    TableParts: Open;
    /// What stands in `thead`, `tbody` and `tfoot`: `tr`. It fits in `table` too.
    Rows: Open;
    /// What stands in `tr`: `td` and `th`.
    Cells: Open;
    /// What stands in `colgroup`: `col`.
    Columns: Closed;
    /// What stands in `select` and `optgroup`: `option`, `optgroup`, `hr`.
    Options: Closed;
    /// What `audio` and `video` begin with: `source` and `track`.
    Sources: Closed;
    /// What stands in `picture`: `source` and `img`.
    Picture: Closed;
    /// What stands in `ruby`: phrasing content, `rt` and `rp`.
    Ruby: Inline;
    /// What stands in `svg` and `math`, whose content is not checked.
    Foreign: Closed;
}

/// What a piece may contain at any depth. The second parameter of [`Html`](super::Html).
///
/// The promises stand in [the table of pieces](super::Html#pieces); there are no others.
pub trait Promise: sealed::Sealed {}

macro_rules! promises {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// An example is at [`Html`](super::Html#pieces).
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl sealed::Sealed for $name {}

        impl Promise for $name {}
    )*};
}

promises! {
    /// No promise: the piece may contain whatever its kind allows. The default.
    Anything;
    /// No `form`: such a piece may stand in a `form`.
    NoForm;
    /// No `header` and no `footer`: such a piece may stand in these.
    NoHeader;
    /// What [`NoHeader`] promises, and no heading, `article`, `aside`, `nav`, `section` or `address`: such a piece may
    /// stand in `th`, `dt` and `address`.
    NoHeading;
    /// No link, no form control, nothing with `tabindex`, nothing else that is interactive: such a piece may stand in
    /// `a` and `button`.
    NoInteractive;
    /// All of these promises at once.
    Plain;
}

/// No `form`, and the controls of a field of type `T`: what a function promises that writes a part of a form of Skep.
/// `piece!` sees to it. An example is at `derive(Group)`.
#[derive(Clone, Copy, Debug)]
pub struct Controls<T>(PhantomData<fn() -> T>);

impl<T> sealed::Sealed for Controls<T> {}

impl<T> Promise for Controls<T> {}

/// What text is: it fits wherever text may stand, and contains no element. The [`Content`](super::Render::Content) of
/// strings and numbers.
///
/// ```
/// use skep_html::{Buffer, Render, Text};
///
/// struct Celsius(f32);
///
/// impl Render for Celsius {
///     type Content = Text;
///
///     fn render(&self, out: &mut Buffer) {
///         format_args!("{} °C", self.0).render(out);
///     }
/// }
///
/// assert_eq!(skep_html::html! { p { (Celsius(21.5)) } }.as_str(), "<p>21.5 °C</p>");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Text {}

/// What nobody looked at: it fits everywhere. The [`Content`](super::Render::Content) of
/// [`Trusted`](super::Trusted).
///
/// ```
/// use skep_html::Trusted;
///
/// assert_eq!(skep_html::html! { ul { (Trusted("<li>One")) } }.as_str(), "<ul><li>One</ul>");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Unchecked {}

/// The type of [`DOCTYPE`](super::DOCTYPE), where an example is: it stands before `html` only.
#[derive(Clone, Copy, Debug)]
pub struct Doctype(pub(super) ());

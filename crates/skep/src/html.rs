//! HTML: the crate `skep-html`. A module of this crate, so that the compiler names its types as an application does.
//!
//! The place decides what a splice may be and how it is escaped: [the table](skep_html#places). Here, services that
//! answer GET are [`Href`] and [`CodeUrl`], assets too, and `form (Comment::form(...)) { ... }` brings its
//! [`Attributes`](trait@Attributes). What `html!` understands is written at [`html!`](crate::html!).

#[doc(inline)]
pub use skep_html::{
    Anything, Attributes, Buffer, Cells, CodeUrl, Columns, Controls, Css, DOCTYPE, Doctype, Document, Fits, Flow,
    Foreign, Href, HrefPart, Html, Items, Json, Kind, Metadata, NoForm, NoHeader, NoHeading, NoInteractive, Options,
    PageParts, Phrasing, Picture, Plain, PlainText, Promise, Render, Rows, Ruby, Script, Sources, TableParts, Terms,
    Text, Trusted, Unchecked, element,
};
#[doc(hidden)]
pub use skep_html::{NamedControls, ProvedBy, UrlPlace, optional, piece, place, thing};

pub use skep_http::body::pages::stream;

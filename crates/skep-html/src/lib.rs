//! Pieces of HTML, escaping by place, and the macros that check them.
//!
#![doc = include_str!("../README.md")]
//!
//! # Places
//!
//! The place decides what a splice may be and how it is escaped; a value that does not fit its place does not compile:
//!
//! | place | what fits | written as |
//! |---|---|---|
//! | content | [`Render`]: text, numbers, [`Html`] of [a kind that fits](Html#pieces) | `&`, `<`, `>` escaped; [`Html`] as it is |
//! | attribute value, `textarea`, `title` | [`PlainText`]: text, numbers | `"` escaped too |
//! | URL attribute (`href`, `src`, `action`, ...) | [`Href`]: text, [`Destination`]s that say so | as an attribute; a scheme that runs code becomes `about:invalid` |
//! | URL of what the page executes (`script src`, `iframe src`, ...) | [`CodeUrl`]: [`Destination`], [`Trusted`] | as an attribute |
//! | script: `<script>`, `<style>`, `on...`, `x-data`, ... | [`Script`]: [`Json`], [`Trusted`] | JSON that cannot end the script |
//! | `srcdoc` | [`Html`] | as an attribute |
//! | between the name and the content of an element | [`Attributes`] | as the value decides |
//!
//! Nothing here escapes or marks anything later: once text is in a [`Buffer`] it is HTML. The only ways around the
//! escaping have "trusted" in their names. A carriage return is written `&#13;`, because a browser would turn a plain
//! one into a line feed; NUL has no form in HTML, and a browser drops or replaces it.
//!
//! Start reading at [`Html`] and [`Buffer`]; what `html!` understands is written at [`html!`].

// What the macros write names this crate `::skep_html`, also in here.
#[allow(unused_extern_crates, reason = "only what the macros write uses it")]
extern crate self as skep_html;

mod attributes;
#[cfg(feature = "axum")]
mod axum;
mod buffer;
mod code_url;
#[cfg(feature = "decimal")]
mod decimal;
mod destination;
mod escape;
mod fits;
mod href;
mod html;
mod kind;
mod number;
mod render;
mod script;

pub mod element;
#[cfg(feature = "jiff")]
#[doc(hidden)]
pub mod jiff;
#[cfg(feature = "nonce")]
pub mod nonce;
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations, reason = "named by written code and by rustc's messages only")]
pub mod piece;
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations, reason = "named by written code and by rustc's messages only")]
pub mod place;
#[doc(hidden)]
pub mod thing {
    pub use super::fits::{Form, Header, Heading, Interactive};
}

pub use attributes::{Attributes, NamedControls, optional};
pub use buffer::Buffer;
pub use code_url::{CodeUrl, Css};
#[doc(hidden)]
pub use destination::write_fragment;
pub use destination::{At, Destination};
pub use fits::Fits;
#[doc(hidden)]
pub use fits::ProvedBy;
pub use href::{Href, HrefPart, UrlPlace};
pub use html::{DOCTYPE, Html};
pub use kind::{
    Anything, Cells, Columns, Controls, Doctype, Document, Flow, Foreign, Items, Kind, Metadata, NoForm, NoHeader,
    NoHeading, NoInteractive, Options, PageParts, Phrasing, Picture, Plain, Promise, Rows, Ruby, Sources, TableParts,
    Terms, Text, Unchecked,
};
pub use render::{PlainText, Render};
pub use script::{Json, Script, Trusted};
#[doc = include_str!("syntax.md")]
pub use skep_html_macros::html;
/// [`html!`] without HTML's own rules: for markup that is meant to be wrong, or of a standard newer than this crate.
///
/// The syntax, the escaping and the places of values stay, and so does what would make a browser read something else
/// than what was written: no content in void elements, no element in `textarea`, no code in a URL.
///
/// ```
/// let quirk = skep_html::html_unchecked! { center { p { "5 < 6" } } };
/// assert_eq!(quirk.as_str(), "<center><p>5 &lt; 6</p></center>");
/// ```
pub use skep_html_macros::html_unchecked;
/// Writes a piece of HTML whose type comes from where it goes: what [`html!`] is for flow content, this is for all
/// other [kinds of pieces](Html#pieces).
///
/// ```
/// use skep_html::{Html, NoInteractive, Phrasing, html, piece};
///
/// fn day(date: &str) -> Html<Phrasing> {
///     piece! { time datetime=(date) { (date) } }
/// }
///
/// fn icon() -> Html<Phrasing, NoInteractive> {
///     piece! { img src="/bee.svg" alt="Bee"; }
/// }
///
/// let page = html! { p { "Written " (day("2026-11-21")) " " a href="/" { (icon()) } } };
/// assert!(page.as_str().contains("<time datetime=\"2026-11-21\">2026-11-21</time>"));
/// ```
///
/// The syntax is that of [`html!`]. An element that the type does not take, or that its promise rules out, does not
/// compile, and neither does a value of which that is not sure:
///
/// ```compile_fail,E0277
/// # use skep_html::{Html, Phrasing};
/// fn day(date: &str) -> Html<Phrasing> {
///     skep_html::piece! { div { (date) } } // `div` cannot stand in a piece of type `Html<Phrasing>`
/// }
/// ```
///
/// There are two macros because Rust has no default for a type that it infers: an `html!` whose type came from its
/// place would need an annotation wherever that is a `let` or a splice. Where nothing says what it is, a `piece!` does
/// not compile.
pub use skep_html_macros::piece;

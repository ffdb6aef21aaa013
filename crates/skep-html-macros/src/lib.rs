//! `html!`, `piece!` and `html_unchecked!`: HTML checked while an application is compiled.
//! Documented where they are re-exported: in `skep-html`.
//!
//! Each is there for `skep-html` and for `skep`; `src/home.rs` says why. Start reading at `src/expand.rs`. `names` says
//! what the name of an element or attribute means, `standard` has the rules as tables.
#![allow(missing_docs, reason = "documented where it is re-exported")]

use proc_macro::TokenStream;

use crate::home::Home;

#[macro_use]
mod words;

mod ast;
mod attribute;
mod check;
mod control;
mod diagnostic;
mod expand;
mod generate;
mod home;
mod names;
mod parse;
mod standard;

#[proc_macro]
pub fn html(template: TokenStream) -> TokenStream {
    expand::html(Home::Html, template.into()).into()
}

#[proc_macro]
pub fn html_of_skep(template: TokenStream) -> TokenStream {
    expand::html(Home::Skep, template.into()).into()
}

#[proc_macro]
pub fn piece(template: TokenStream) -> TokenStream {
    expand::piece(Home::Html, template.into()).into()
}

#[proc_macro]
pub fn piece_of_skep(template: TokenStream) -> TokenStream {
    expand::piece(Home::Skep, template.into()).into()
}

#[proc_macro]
pub fn html_unchecked(template: TokenStream) -> TokenStream {
    expand::unchecked(Home::Html, template.into()).into()
}

#[proc_macro]
pub fn html_unchecked_of_skep(template: TokenStream) -> TokenStream {
    expand::unchecked(Home::Skep, template.into()).into()
}

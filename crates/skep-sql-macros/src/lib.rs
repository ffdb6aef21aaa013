//! `sql!`: statements that SQLite itself checks while the application is compiled. Documented where it is re-exported: in `skep`.
//!
//! A crate of its own, so that what needs no SQL does not wait for SQLite. Nothing of it is linked into an application.
#![allow(missing_docs, reason = "documented where it is re-exported")]

use proc_macro::TokenStream;

mod access;
mod check;
mod directive;
mod infer;
mod input;
mod package;
mod page;
mod postgres;
mod schema;
mod stand_in;
mod statement;
mod text;
mod write;

#[proc_macro]
pub fn sql(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as input::Input);
    statement::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

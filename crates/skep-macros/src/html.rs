//! `html!`: parses tokens into a template, checks it and generates code.
//!
//! The steps are independent: [`parse`] knows the syntax, [`check`] knows HTML, [`generate`] knows `skep::html`.
//! [`names`] says what the name of an element or attribute means. User documentation is in `skep`, which re-exports the
//! macros.

#[macro_use]
mod words;

mod ast;
mod attribute;
mod check;
mod control;
mod diagnostic;
mod generate;
mod names;
mod parse;
mod standard;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use ast::Node;
use check::{Checked, Piece};
use diagnostic::Diagnostic;

/// `html!`.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    expand_with(tokens, Piece::FromRoots, |nodes| check::check(nodes, Piece::FromRoots))
}

/// `piece!`.
pub(crate) fn expand_piece(tokens: TokenStream) -> TokenStream {
    expand_with(tokens, Piece::Inferred, |nodes| check::check(nodes, Piece::Inferred))
}

/// `html_unchecked!`.
pub(crate) fn expand_unchecked(tokens: TokenStream) -> TokenStream {
    expand_with(tokens, Piece::FromRoots, check::unchecked)
}

/// Always generates an expression of type `Html`, so that an invalid template causes no further errors.
fn expand_with(tokens: TokenStream, piece: Piece, check: impl FnOnce(&[Node]) -> Checked<'_>) -> TokenStream {
    let (mut nodes, mut diagnostics) = parse::template(tokens);
    diagnostics.extend(generate::controls::bind(&mut nodes));
    let mut checked = check(&nodes);
    diagnostics.append(&mut checked.diagnostics);
    let code = generate::generate(&nodes, &checked, piece);
    if diagnostics.is_empty() {
        return code;
    }
    let errors = diagnostics.iter().map(Diagnostic::to_compile_error);
    quote_spanned!(Span::mixed_site()=> { #(#errors;)* #code })
}

#[cfg(test)]
#[path = "../tests/unit/html.rs"]
mod tests;

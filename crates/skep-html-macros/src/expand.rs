//! From the tokens of a template to an expression.
//!
//! The steps are independent: [`parse`] knows the syntax, [`check`](crate::check) knows HTML, [`generate`] knows
//! `skep-html`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::ast::Node;
use crate::check::{self, Checked, Piece};
use crate::diagnostic::Diagnostic;
use crate::home::Home;
use crate::{generate, parse};

/// `html!`.
pub(crate) fn html(home: Home, tokens: TokenStream) -> TokenStream {
    expand(home, tokens, Piece::FromRoots, |nodes| check::check(nodes, Piece::FromRoots, home))
}

/// `piece!`.
pub(crate) fn piece(home: Home, tokens: TokenStream) -> TokenStream {
    expand(home, tokens, Piece::Inferred, |nodes| check::check(nodes, Piece::Inferred, home))
}

/// `html_unchecked!`.
pub(crate) fn unchecked(home: Home, tokens: TokenStream) -> TokenStream {
    expand(home, tokens, Piece::FromRoots, |nodes| check::unchecked(nodes, home))
}

/// Always generates an expression of type `Html`, so that an invalid template causes no further errors.
fn expand(home: Home, tokens: TokenStream, piece: Piece, check: impl FnOnce(&[Node]) -> Checked<'_>) -> TokenStream {
    let (mut nodes, mut diagnostics) = parse::template(tokens, home);
    let mut proof = None;
    if home == Home::Skep {
        proof = generate::controls::proof(&nodes);
        diagnostics.extend(generate::controls::bind(&mut nodes, piece == Piece::Inferred));
    }
    let mut checked = check(&nodes);
    diagnostics.append(&mut checked.diagnostics);
    let code = generate::generate(&nodes, &checked, piece, home, proof);
    if diagnostics.is_empty() {
        return code;
    }
    let errors = diagnostics.iter().map(Diagnostic::to_compile_error);
    quote_spanned!(Span::mixed_site()=> { #(#errors;)* #code })
}

#[cfg(test)]
#[path = "../tests/unit/expand.rs"]
mod tests;

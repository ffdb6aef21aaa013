//! `html!`: tokens to a template, a template to diagnostics, and to code.
//!
//! The three steps know little of each other: [`parse`] knows the syntax, [`check`] knows HTML, [`generate`] knows
//! `skep::html`. What a name means to HTML stands in [`names`]. Documented where it is re-exported: in `skep`.

mod ast;
mod attribute;
mod check;
mod control;
mod diagnostic;
mod generate;
mod names;
mod parse;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use diagnostic::Diagnostic;

/// Always an expression of type `Html`, whatever is wrong: one mistake gives one message.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let (nodes, mut diagnostics) = parse::template(tokens);
    diagnostics.extend(check::check(&nodes));
    let code = generate::generate(&nodes);
    if diagnostics.is_empty() {
        return code;
    }
    let errors = diagnostics.iter().map(Diagnostic::to_compile_error);
    quote_spanned!(Span::mixed_site()=> { #(#errors;)* #code })
}

//! An error in a template, and its span.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use super::ast::Name;

/// A message for the author of a template: lower case, no full stop, with the correct form to write.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    pub(crate) message: String,
    start: Span,
    end: Span,
}

impl Diagnostic {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), start: span, end: span }
    }

    pub(crate) fn on(name: &Name, message: impl Into<String>) -> Self {
        Self { message: message.into(), start: name.start, end: name.end }
    }

    /// rustc underlines from the first to the last token of `compile_error!`.
    pub(crate) fn to_compile_error(&self) -> TokenStream {
        let message = &self.message;
        let (start, end) = (self.start, self.end);
        let braces = quote_spanned!(end=> { #message });
        quote_spanned!(start=> ::core::compile_error! #braces)
    }
}

impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        Self::new(error.span(), error.to_string())
    }
}

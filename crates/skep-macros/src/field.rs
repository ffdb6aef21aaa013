//! A field of the author's struct: its name as text, and the spans that errors about it are reported at.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, Type, Visibility};

/// The name without `r#`.
pub(crate) fn name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The span of a type, resolved in the author's code: rustc underlines the type if it lacks a trait.
pub(crate) fn span(tokens: &impl ToTokens) -> Span {
    tokens.span().resolved_at(Span::call_site())
}

/// A variable for the field's value, which no code of the author can name.
pub(crate) fn variable(ident: &Ident) -> Ident {
    format_ident!("field_{}", ident, span = Span::mixed_site())
}

/// `Name::field`, the constant that names an input of a form.
pub(crate) fn form_constant(visibility: &Visibility, ident: &Ident, kind: &Type, documentation: &str) -> TokenStream {
    let text = name(ident);
    quote! {
        #[doc = #documentation]
        #[allow(non_upper_case_globals, private_interfaces, dead_code)]
        #visibility const #ident: ::skep::form::Name<Self, #kind> = ::skep::form::Name::new(#text);
    }
}

//! The compile-time half of skep-language. Documented where it is re-exported: in `skep-language`.
#![allow(missing_docs, reason = "documented where they are re-exported")]

use proc_macro::TokenStream;

mod folder;
mod form;
mod languages;
mod text;

#[proc_macro]
pub fn languages(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as languages::Declaration);
    languages::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

#[proc_macro]
pub fn t(input: TokenStream) -> TokenStream {
    text::expand(&syn::parse_macro_input!(input as text::Use)).into()
}

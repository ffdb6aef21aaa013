//! Generates the part of `Served` that has the guards of a service check a request.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::DeriveInput;

use super::parameters::{Parameter, ParameterSource};
use crate::field;

/// The name of the struct that holds the values of the guards.
fn holder(name: &Ident) -> Ident {
    format_ident!("__GuardsOf{name}")
}

fn guarded(parameters: &[Parameter]) -> Vec<&Parameter> {
    parameters.iter().filter(|one| one.is_guard()).collect()
}

/// The struct that holds the values of the guards, with the visibility of the service: as a tuple, guards that are
/// private would be part of a public interface.
pub(super) fn values(input: &DeriveInput, parameters: &[Parameter]) -> Option<TokenStream> {
    let guarded = guarded(parameters);
    if guarded.is_empty() {
        return None;
    }
    let (holder, visibility) = (holder(&input.ident), &input.vis);
    let fields = guarded.iter().map(|Parameter { name, kind, .. }| quote!(#name: #kind));
    Some(quote! {
        #[doc(hidden)]
        #[allow(missing_debug_implementations, missing_docs, unreachable_pub)]
        #visibility struct #holder { #(#fields),* }
    })
}

/// `Guards`, `GUARDS`, `admit` and `unguarded`.
pub(super) fn checks(name: &Ident, parameters: &[Parameter]) -> TokenStream {
    let guarded = guarded(parameters);
    if guarded.is_empty() {
        return quote! {
            type Guards = ();
            const GUARDS: &'static [::skep::guard::GuardInfo] = &[];

            async fn admit(_: &mut ::skep::Cx<'_>) -> ::skep::Result<()> {
                ::core::result::Result::Ok(())
            }

            fn unguarded() -> ::core::option::Option<()> {
                ::core::option::Option::Some(())
            }
        };
    }
    let holder = holder(name);
    let infos = guarded.iter().map(|Parameter { kind, source, .. }| {
        let (at, text) = (field::span(kind), as_written(kind));
        let of = if matches!(source, ParameterSource::Guard { is_state: true }) { "of_state" } else { "of" };
        let of = Ident::new(of, at);
        quote_spanned!(at=> ::skep::guard::GuardInfo::#of::<#kind>(#text))
    });
    let cx = Ident::new("cx", Span::mixed_site());
    let checks = guarded.iter().map(|Parameter { name, kind, .. }| {
        let at = field::span(kind);
        let check = quote_spanned!(at=> <#kind as ::skep::guard::Guard>::check(#cx));
        quote!(#name: #check.await?)
    });
    quote! {
        type Guards = #holder;
        const GUARDS: &'static [::skep::guard::GuardInfo] = &[#(#infos),*];

        async fn admit(#cx: &mut ::skep::Cx<'_>) -> ::skep::Result<Self::Guards> {
            ::core::result::Result::Ok(#holder { #(#checks),* })
        }

        fn unguarded() -> ::core::option::Option<Self::Guards> {
            ::core::option::Option::None
        }
    }
}

/// The type without the spaces that tokens have.
fn as_written(kind: &syn::Type) -> String {
    quote!(#kind).to_string().replace(" < ", "<").replace(" >", ">").replace(" , ", ", ").replace(" :: ", "::")
}

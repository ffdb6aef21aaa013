//! Generates the part of `Served` that has the guards of a service check a request.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{DeriveInput, Type};

use super::declaration::Declaration;
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

/// `Guards`, `GUARDS`, `admit` and `unguarded`. What `guard = ...` names is checked first, and its value dropped.
pub(super) fn checks(name: &Ident, declaration: &Declaration, parameters: &[Parameter]) -> TokenStream {
    let (guarded, cx) = (guarded(parameters), Ident::new("cx", Span::mixed_site()));
    let check = |kind: &Type| {
        let check = quote_spanned!(field::span(kind)=> <#kind as ::skep::guard::Guard>::check(#cx));
        quote!(#check.await?)
    };
    let (kind_of_values, values) = if guarded.is_empty() {
        (quote!(()), quote!(()))
    } else {
        let (holder, names) = (holder(name), guarded.iter().map(|one| &one.name));
        let values = guarded.iter().map(|one| check(&one.kind));
        (quote!(#holder), quote!(#holder { #(#names: #values),* }))
    };
    let first = declaration.guard.as_ref().map(|kind| {
        let check = check(kind);
        quote!(#check;)
    });
    let fields = guarded.iter().map(|one| (&one.kind, matches!(one.source, ParameterSource::Guard { is_state: true })));
    let infos = declaration.guard.iter().map(|kind| (kind, false)).chain(fields).map(|(kind, is_state)| {
        let (at, text) = (field::span(kind), as_written(kind));
        let of = Ident::new(if is_state { "of_state" } else { "of" }, at);
        quote_spanned!(at=> ::skep::guard::GuardInfo::#of::<#kind>(#text))
    });
    let is_open = declaration.guard.is_none() && guarded.is_empty();
    let unguarded =
        if is_open { quote!(::core::option::Option::Some(())) } else { quote!(::core::option::Option::None) };
    quote! {
        type Guards = #kind_of_values;
        const GUARDS: &'static [::skep::guard::GuardInfo] = &[#(#infos),*];

        #[allow(unused_variables)]
        async fn admit(#cx: &mut ::skep::Cx<'_>) -> ::skep::Result<Self::Guards> {
            #first
            ::core::result::Result::Ok(#values)
        }

        fn unguarded() -> ::core::option::Option<Self::Guards> {
            #unguarded
        }
    }
}

/// The type without the spaces that tokens have.
fn as_written(kind: &Type) -> String {
    quote!(#kind).to_string().replace(" < ", "<").replace(" >", ">").replace(" , ", ", ").replace(" :: ", "::")
}

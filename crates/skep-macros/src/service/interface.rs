//! Generates the JSON response of a service, and its entry in the OpenAPI document.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Ident};

use super::declaration::Declaration;
use super::parameters::{Parameter, ParameterSource, about};
use super::pattern::Pattern;
use super::write::option;
use crate::field;

/// The handler of a service with a JSON response; authors write the others.
pub(super) fn answer(name: &Ident, declaration: &Declaration) -> TokenStream {
    let Some(kind) = &declaration.answers else {
        return quote! {
            const _: fn() = || {
                fn has_a_handler<S: ::skep::service::Handle>() {}
                has_a_handler::<#name>();
            };
        };
    };
    let at = field::span(kind);
    let status = declaration.answer_status();
    let (service, cx) = (Ident::new("self", Span::call_site()), Ident::new("cx", Span::mixed_site()));
    let function = Ident::new(if declaration.answers_nothing() { "answer_nothing" } else { "answer_json" }, at);
    let send = quote_spanned!(at=> ::skep::service::#function::<Self>(#service, #cx, #status).await);
    quote! {
        #[automatically_derived]
        impl ::skep::service::AnswersJson for #name {
            type Json = #kind;
        }
        #[automatically_derived]
        impl ::skep::service::Handle for #name {
            async fn handle(self, #cx: &mut ::skep::Cx<'_>) -> ::skep::Result {
                #send
            }
        }
    }
}

/// `Served::interface`, which exists only with the feature of `skep`.
pub(super) fn interface(
    input: &DeriveInput,
    declaration: &Declaration,
    pattern: &Pattern,
    parameters: &[Parameter],
) -> TokenStream {
    let text = about(&input.attrs);
    let listed = option(declaration.api.as_ref());
    let interface = Ident::new("interface", Span::mixed_site());
    let parameters = parameters.iter().map(|one| statement(&interface, one, pattern));
    let answer = declaration.answers.as_ref().map(|kind| {
        let status = declaration.answer_status();
        if declaration.answers_nothing() {
            return quote!(#interface.answers(#status, ::core::option::Option::None););
        }
        quote!(#interface.answers(#status, ::core::option::Option::Some((&&::skep::openapi::Probe::<#kind>::NEW).json()));)
    });
    quote! {
        ::skep::__described! {
            fn interface() -> ::skep::openapi::Interface {
                #[allow(unused_imports)]
                use ::skep::openapi::{HasControl as _, HasNoControl as _, HasNoSchema as _, HasNothing as _, HasSchema as _};
                let mut #interface = ::skep::openapi::Interface::new(#text, #listed);
                #(#parameters)*
                #answer
                #interface
            }
        }
    }
}

/// The statement that describes one parameter.
fn statement(interface: &Ident, parameter: &Parameter, pattern: &Pattern) -> TokenStream {
    let Parameter { name, kind, source, about } = parameter;
    let text = field::name(name);
    let shape = quote!((&&&::skep::openapi::Probe::<#kind>::NEW).parameter());
    let required = quote!(<#kind as ::skep::param::Field>::REQUIRED);
    match source {
        ParameterSource::Path(position) => {
            let is_tail = pattern.is_tail(*position);
            quote!(#interface.path(#text, #about, #shape, #is_tail);)
        }
        ParameterSource::Query { name, default: None } => quote!(#interface.query(#name, #about, #shape, #required);),
        ParameterSource::Query { name, default: Some(default) } => quote! {
            let default: #kind = #default;
            #interface.query_or(#name, #about, #shape, &default);
        },
        ParameterSource::Header(name) => quote!(#interface.header(#name, #about, #shape, #required);),
        ParameterSource::Form { name } => quote!(#interface.field(#name, #about);),
        ParameterSource::Guard { .. } => TokenStream::new(),
        ParameterSource::Json => {
            quote!(#interface.takes(#about, (&&::skep::openapi::Probe::<#kind>::NEW).json());)
        }
    }
}

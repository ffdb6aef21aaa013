//! Generates `Name::form(...)` and `Name::field`: the target of the form, and its inputs.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Ident, Visibility};

use super::declaration::Declaration;
use super::parameters::{Parameter, ParameterSource};
use super::pattern::Pattern;
use super::write::{link, path};
use crate::field;

/// `Name::form(...)`, whose arguments are the parameters that are not inputs, and a constant for each input.
pub(super) fn form(
    input: &DeriveInput,
    declaration: &Declaration,
    pattern: &Pattern,
    parameters: &[Parameter],
) -> TokenStream {
    let method = match declaration.method.to_string().as_str() {
        "GET" => "get",
        "POST" => "post",
        // HTML forms have no other methods (HTML, 4.10.18.6).
        _ => return TokenStream::new(),
    };
    let (name, visibility) = (&input.ident, &input.vis);
    let is_asked = |one: &&Parameter| match one.source {
        ParameterSource::Path(position) => !pattern.comes_from_query(position),
        ParameterSource::Query { .. } => method == "post",
        _ => false,
    };
    let arguments = parameters.iter().filter(is_asked).map(|Parameter { name, kind, .. }| quote!(#name: #kind));
    let value = |name: &Ident| quote!(&#name);
    let write = if method == "post" { link(pattern, parameters, &value) } else { path(pattern, parameters, &value) };
    let documentation = format!("The form that leads to [`{name}`].");
    let names = names(declaration, parameters, visibility);
    let cx = Ident::new("cx", Span::mixed_site());
    let (context, make) = if method == "post" {
        (Some(quote!(#cx: &::skep::Cx<'_>,)), quote!(of_post(#cx, |link| { #write })))
    } else {
        (None, quote!(of_get(|link| { #write })))
    };
    quote! {
        #[automatically_derived]
        #[allow(dead_code)]
        impl #name {
            #[doc = #documentation]
            #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
            #[must_use]
            #visibility fn form(#context #(#arguments),*) -> ::skep::form::Form<Self> {
                ::skep::form::Form::#make
            }
            #(#names)*
        }
    }
}

/// The parameters that are inputs of the form, with their names.
fn inputs<'p>(
    declaration: &Declaration,
    parameters: &'p [Parameter],
) -> impl Iterator<Item = (&'p Parameter, &'p String)> {
    let is_get = declaration.method == "GET";
    parameters.iter().filter_map(move |parameter| match &parameter.source {
        ParameterSource::Form { name } => Some((parameter, name)),
        ParameterSource::Query { name, .. } if is_get => Some((parameter, name)),
        _ => None,
    })
}

/// `Name::field`, for each input of the form.
fn names(declaration: &Declaration, parameters: &[Parameter], visibility: &Visibility) -> Vec<TokenStream> {
    let names = inputs(declaration, parameters).map(|(Parameter { name, kind, .. }, text)| {
        field::form_constant(visibility, name, kind, &format!("The field `{text}` of the form."))
    });
    names.collect()
}

/// `Service::FIELDS`: metadata of the inputs.
pub(super) fn fields(declaration: &Declaration, parameters: &[Parameter]) -> Vec<TokenStream> {
    let fields = inputs(declaration, parameters).map(|(Parameter { kind, source, .. }, text)| {
        let at = field::span(kind);
        match source {
            ParameterSource::Query { default: Some(_), .. } => {
                quote_spanned!(at=> ::skep::form::query_info::<#kind>(#text, false))
            }
            ParameterSource::Query { .. } => {
                quote_spanned!(at=> ::skep::form::query_info::<#kind>(#text, <#kind as ::skep::param::Field>::REQUIRED))
            }
            _ => quote_spanned!(at=> ::skep::form::info::<#kind>(#text)),
        }
    });
    fields.collect()
}

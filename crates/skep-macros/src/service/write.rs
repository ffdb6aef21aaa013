//! Writes the implementation of a service that was understood.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Ident};

use super::declaration::Declaration;
use super::form::form;
use super::parameters::{Parameter, Source};
use super::pattern::{Part, Pattern};

pub(super) fn service(
    input: &DeriveInput,
    declaration: &Declaration,
    pattern: &Pattern,
    parameters: &[Parameter],
) -> TokenStream {
    let name = &input.ident;
    let route = route(name, declaration, parameters);
    let fields = parameters.iter().map(read);
    let link = link(pattern, parameters, &|name| quote!(&self.#name));
    let link_trait = (declaration.method == "GET").then(|| links(name));
    let form = form(input, declaration, pattern, parameters);
    quote! {
        #[automatically_derived]
        impl ::skep::service::Service for #name {
            const ROUTE: &'static ::skep::service::Route = #route;

            fn parse(input: &::skep::service::Input<'_>) -> ::skep::Result<Self> {
                ::core::result::Result::Ok(Self { #(#fields),* })
            }

            fn write_link(&self, link: &mut ::skep::service::Link<'_>) {
                #link
            }
        }
        #form
        #link_trait
        const _: fn() = || {
            fn has_a_handler<S: ::skep::service::Handle>() {}
            has_a_handler::<#name>();
        };
    }
}

fn route(name: &Ident, declaration: &Declaration, parameters: &[Parameter]) -> TokenStream {
    let (method, path) = (&declaration.method, &declaration.path);
    let service = name.to_string();
    let query = parameters.iter().filter_map(|parameter| {
        let Source::Query { name, default } = &parameter.source else { return None };
        let kind = &parameter.kind;
        let required = match default {
            Some(_) => quote!(false),
            None => quote!(<#kind as ::skep::param::Field>::REQUIRED),
        };
        Some(quote!(::skep::service::QueryParameter { name: #name, required: #required }))
    });
    let body = if parameters.iter().any(|one| matches!(one.source, Source::Json)) {
        quote!(Json)
    } else if parameters.iter().any(|one| matches!(one.source, Source::Form { .. })) {
        quote!(Form)
    } else {
        quote!(Unread)
    };
    let limit = option(declaration.body.as_ref());
    let cross_origin = option(declaration.cross_origin.as_ref());
    quote! {
        &::skep::service::Route {
            service: #service,
            method: ::skep::Method::#method,
            pattern: #path,
            query: &[#(#query),*],
            body: ::skep::service::BodyKind::#body,
            body_limit: #limit,
            cross_origin: #cross_origin,
        }
    }
}

fn option(value: Option<&impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn read(parameter: &Parameter) -> TokenStream {
    let Parameter { name, kind, source } = parameter;
    let text = name.to_string();
    // What does not fit is said at the type that does not fit.
    let at = kind.span().resolved_at(Span::call_site());
    let value = match source {
        Source::Path(position) => quote_spanned!(at=> input.path::<#kind>(#position, #text)?),
        Source::Query { name, default: None } => quote_spanned!(at=> input.query::<#kind>(#name)?),
        Source::Query { name, default: Some(default) } => {
            quote_spanned!(at=> input.query::<::core::option::Option<#kind>>(#name)?.unwrap_or_else(|| #default))
        }
        Source::Form { name } => quote_spanned!(at=> input.form::<#kind>(#name)?),
        Source::Json => quote_spanned!(at=> input.json::<#kind>(#text)?),
        Source::Header(name) => quote_spanned!(at=> input.header::<#kind>(#name)?),
    };
    quote!(#name: #value)
}

/// Statements that write the link, from the values that `value` names.
pub(super) fn link(pattern: &Pattern, parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let path = path(pattern, parameters, value);
    let query: Vec<TokenStream> = parameters.iter().filter_map(|parameter| query(parameter, value)).collect();
    if query.is_empty() {
        return path;
    }
    quote! {
        #path
        let mut query = link.query();
        #(#query)*
    }
}

pub(super) fn path(pattern: &Pattern, parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let parts = pattern.parts().iter().map(|part| match part {
        Part::Literal(text) => quote!(link.literal(#text);),
        Part::Segment(position) | Part::Tail(position) => {
            let write = format_ident!("{}", if matches!(part, Part::Tail(_)) { "tail" } else { "segment" });
            let parameter = parameters.iter().find(|one| matches!(one.source, Source::Path(at) if at == *position));
            let value = value(&parameter.expect("checked: the path's parameters are fields").name);
            quote!(link.#write(#value);)
        }
    });
    quote!(#(#parts)*)
}

fn query(parameter: &Parameter, value: &dyn Fn(&Ident) -> TokenStream) -> Option<TokenStream> {
    let Source::Query { name, default } = &parameter.source else { return None };
    let value = value(&parameter.name);
    let kind = &parameter.kind;
    let at = kind.span().resolved_at(Span::call_site());
    let write = quote_spanned!(at=> <#kind as ::skep::param::Field>::write(#value, #name, &mut query););
    Some(match default {
        // One address for one page: a default is not written.
        Some(default) => quote!(if *#value != #default { #write }),
        None => write,
    })
}

/// A GET service may stand in `href`, by value and by reference.
pub(super) fn links(name: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::skep::html::Href for #name {
            fn write_href(&self, out: &mut ::skep::html::Buffer) {
                ::skep::service::write_href(self, out);
            }
        }
        #[automatically_derived]
        impl ::skep::html::Href for &#name {
            fn write_href(&self, out: &mut ::skep::html::Buffer) {
                ::skep::service::write_href(*self, out);
            }
        }
    }
}

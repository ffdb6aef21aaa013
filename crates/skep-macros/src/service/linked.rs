//! Generates `Name::link(...)`: a link that names the parameters it cares about.
//!
//! The value of a service is its link, too, but a literal has to name every field. A link made by this function has the
//! required parameters as arguments and a method for each of the others, so a parameter that is added later breaks no
//! link; and it has no guards.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::DeriveInput;

use super::declaration::Declaration;
use super::parameters::{Parameter, ParameterSource};
use super::pattern::Pattern;
use super::write::{href, link};
use crate::field::argument_of;

/// How a link gets the value of a parameter.
enum Way<'p> {
    /// As an argument of `link`.
    Argument,
    /// By a method; what it is without a call, and the type that the method takes.
    Method { default: TokenStream, takes: TokenStream, has_into: bool, parameter: &'p Parameter },
}

/// The type of the link, and the function that makes one.
pub(super) fn link_type(
    input: &DeriveInput,
    declaration: &Declaration,
    pattern: &Pattern,
    parameters: &[Parameter],
) -> Option<TokenStream> {
    if declaration.has_body() {
        return None;
    }
    let (name, visibility) = (&input.ident, &input.vis);
    let link_name = format_ident!("{name}Link");
    let linked: Vec<(&Parameter, Way<'_>)> =
        parameters.iter().filter(|one| is_in_link(one)).map(|one| (one, way(one))).collect();
    let fields = linked.iter().map(|(Parameter { name, kind, .. }, _)| quote!(#name: #kind));
    let arguments = linked.iter().filter(|(_, way)| matches!(way, Way::Argument));
    let arguments = arguments.map(|(Parameter { name, kind, .. }, _)| quote!(#name: #kind));
    let values = linked.iter().map(|(Parameter { name, .. }, way)| match way {
        Way::Argument => quote!(#name),
        Way::Method { default, .. } => quote!(#name: #default),
    });
    let methods = linked.iter().filter_map(|(_, way)| method(way, visibility));
    let write = link(pattern, parameters, &|name| quote!(&self.#name));
    let url = (!linked.iter().any(|(one, _)| one.name == "url")).then(|| {
        quote! {
            /// The URL: path and query.
            #visibility fn url(&self) -> ::std::string::String {
                let mut url = ::std::string::String::new();
                ::skep::link::Destination::write_url(self, &mut url);
                url
            }
        }
    });
    let href = href(&link_name);
    let page = (!declaration.external).then(|| form_page(name, &link_name, parameters));
    let about_type = format!("A link to [`{name}`]: see [`{name}::link`].");
    let about = format!(
        "A link to this service: its arguments are the required parameters, and methods of [`{link_name}`] set the others."
    );
    Some(quote! {
        #[doc = #about_type]
        #[allow(missing_debug_implementations, private_interfaces, dead_code)]
        #[must_use = "a link is a value: write it into a page or a redirect"]
        #visibility struct #link_name { #(#fields),* }

        #[automatically_derived]
        #[allow(dead_code, private_interfaces)]
        impl #name {
            #[doc = #about]
            #[allow(clippy::too_many_arguments)]
            #visibility fn link(#(#arguments),*) -> #link_name {
                #link_name { #(#values),* }
            }
        }

        #[automatically_derived]
        #[allow(dead_code, private_interfaces)]
        impl #link_name {
            #(#methods)*
            #url
        }

        #[automatically_derived]
        impl ::skep::link::Destination for #link_name {
            fn write_url(&self, out: &mut ::std::string::String) {
                let link = &mut ::skep::service::Link::new(out);
                #write
            }
        }
        #href
        #page
    })
}

fn is_in_link(parameter: &Parameter) -> bool {
    matches!(parameter.source, ParameterSource::Path(_) | ParameterSource::Query { .. })
}

/// What is optional is seen by the name of its type: a macro knows no more. Behind an alias it is an argument.
fn way(parameter: &Parameter) -> Way<'_> {
    let kind = &parameter.kind;
    match &parameter.source {
        ParameterSource::Query { default: Some(default), .. } => {
            Way::Method { default: quote!(#default), takes: quote!(#kind), has_into: false, parameter }
        }
        ParameterSource::Query { .. }
            if argument_of(kind, "Option").is_some() || argument_of(kind, "Vec").is_some() =>
        {
            let default = quote!(::core::default::Default::default());
            Way::Method { default, takes: quote!(#kind), has_into: true, parameter }
        }
        _ => Way::Argument,
    }
}

fn method(way: &Way<'_>, visibility: &syn::Visibility) -> Option<TokenStream> {
    let Way::Method { takes, has_into, parameter, .. } = way else { return None };
    let name = &parameter.name;
    let about = format!("Sets the parameter `{}`.", crate::field::name(name));
    let value = Ident::new("value", Span::mixed_site());
    let (kind, value_of) = if *has_into {
        (quote!(impl ::core::convert::Into<#takes>), quote!(::core::convert::Into::into(#value)))
    } else {
        (quote!(#takes), quote!(#value))
    };
    Some(quote! {
        #[doc = #about]
        #visibility fn #name(mut self, #value: #kind) -> Self {
            self.#name = #value_of;
            self
        }
    })
}

/// A link to a page that holds a form: the guards of the page check the request before it is shown again.
fn form_page(name: &Ident, link_name: &Ident, parameters: &[Parameter]) -> TokenStream {
    let (cx, guards) = (Ident::new("cx", Span::mixed_site()), Ident::new("guards", Span::mixed_site()));
    let fields = parameters.iter().map(|Parameter { name, kind, source, .. }| match source {
        ParameterSource::Guard { .. } => quote!(#name: #guards.#name),
        ParameterSource::Header(header) => {
            quote!(#name: ::skep::service::read_header::<#kind>(#cx.fields(), #header)?)
        }
        _ => quote!(#name: self.#name),
    });
    quote! {
        #[automatically_derived]
        impl ::skep::service::FormPage for #link_name {
            type Page = #name;

            fn address(&self) -> ::std::string::String {
                let mut url = ::std::string::String::new();
                ::skep::link::Destination::write_url(self, &mut url);
                url
            }

            #[allow(unused_variables)]
            async fn admitted(self, #cx: &mut ::skep::Cx<'_>) -> ::skep::Result<#name> {
                let #guards = <#name as ::skep::service::Served>::admit(#cx).await?;
                ::core::result::Result::Ok(#name { #(#fields),* })
            }
        }
    }
}

/// `Default`, which agrees with `#[query(default = ...)]`: for services all of whose parameters have a default.
pub(super) fn default(input: &DeriveInput, declaration: &Declaration, parameters: &[Parameter]) -> Option<TokenStream> {
    let name = &input.ident;
    let has_default = |one: &Parameter| matches!(one.source, ParameterSource::Query { default: Some(_), .. });
    let all = parameters.iter().map(|one| match (is_in_link(one), way(one)) {
        (true, Way::Method { default, .. }) => Some((&one.name, default)),
        _ => None,
    });
    let all: Vec<_> = all.collect::<Option<_>>()?;
    if declaration.has_body() || !parameters.iter().any(has_default) {
        return None;
    }
    let fields = all.iter().map(|(name, default)| quote!(#name: #default));
    Some(quote! {
        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                Self { #(#fields),* }
            }
        }
    })
}

//! `Name::form(...)`: where the form of a service goes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Ident};

use super::declaration::Declaration;
use super::parameters::{Parameter, Source};
use super::pattern::Pattern;
use super::write::{link, path};

/// `Name::form(...)`, from the parameters that are not the form's own inputs.
pub(super) fn form(
    input: &DeriveInput,
    declaration: &Declaration,
    pattern: &Pattern,
    parameters: &[Parameter],
) -> TokenStream {
    let method = match declaration.method.to_string().as_str() {
        "GET" => "get",
        "POST" => "post",
        // HTML's forms know no other methods (HTML, 4.10.18.6).
        _ => return TokenStream::new(),
    };
    let (name, visibility) = (&input.ident, &input.vis);
    let is_asked = |one: &&Parameter| match one.source {
        Source::Path(position) => !pattern.comes_from_query(position),
        Source::Query { .. } => method == "post",
        _ => false,
    };
    let arguments = parameters.iter().filter(is_asked).map(|Parameter { name, kind, .. }| quote!(#name: #kind));
    let value = |name: &Ident| quote!(&#name);
    let write = if method == "post" { link(pattern, parameters, &value) } else { path(pattern, parameters, &value) };
    let documentation = format!("Where a form that leads to [`{name}`] goes.");
    quote! {
        #[automatically_derived]
        impl #name {
            #[doc = #documentation]
            #[allow(dead_code, clippy::needless_pass_by_value, clippy::too_many_arguments)]
            #[must_use]
            #visibility fn form(#(#arguments),*) -> ::skep::service::FormTarget {
                ::skep::service::FormTarget::new(#method, |link| { #write })
            }
        }
    }
}

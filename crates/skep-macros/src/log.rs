//! `derive(Log)`: a category for a type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, LitStr, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    let category = match named(input)? {
        Some(category) => quote!(#category),
        None => quote!(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name))),
    };
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::skep::log::Log for #name #arguments #conditions {
            fn category() -> &'static ::skep::log::Category {
                static CATEGORY: ::skep::log::Category = ::skep::log::Category::new(#category);
                &CATEGORY
            }
        }
    })
}

/// The name of `#[log(category = "...")]`.
fn named(input: &DeriveInput) -> Result<Option<LitStr>> {
    let mut category = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("log")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("category") {
                return Err(meta.error("expected `category = \"...\"`"));
            }
            let name: LitStr = meta.value()?.parse()?;
            let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, ':' | '.' | '_' | '-');
            if name.value().is_empty() || !name.value().chars().all(fits) {
                let expected = "a category has letters, digits, `_` and `-`, and `::` or `.` between its parts";
                return Err(syn::Error::new(name.span(), expected));
            }
            category = Some(name);
            Ok(())
        })?;
    }
    Ok(category)
}

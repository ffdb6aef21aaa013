//! `derive(Group)`: a group of form fields, that several forms share or one form repeats.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Expr, Field, Fields, Ident, Result};

use crate::field::{self, variable, wrong};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return wrong(&input.generics, "a group cannot have generic parameters");
    }
    let help = match &input.data {
        Data::Struct(data) if matches!(&data.fields, Fields::Named(named) if named.named.is_empty()) => {
            "the group has no fields: add one"
        }
        _ => "a group is a struct with named fields, which are fields of the form",
    };
    let rules = rules(input)?;
    let parts: Vec<GroupField> = field::named(input, help)?.into_iter().map(GroupField::of).collect();
    Ok(write(input, &parts, rules.as_ref()))
}

/// The function that validates the fields together: `#[group(rules = Self::rules)]`.
fn rules(input: &DeriveInput) -> Result<Option<Expr>> {
    let mut rules = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("group")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("rules") {
                return Err(meta.error("expected `rules = function`"));
            }
            rules = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(rules)
}

/// A field of the group, and the code for it.
struct GroupField {
    name: Ident,
    read: TokenStream,
    info: TokenStream,
    give: TokenStream,
    constant: TokenStream,
}

impl GroupField {
    fn of(field: &Field) -> Self {
        let name = field.ident.clone().expect("only named fields come here");
        let (kind, text, at) = (&field.ty, field::name(&name), field::span(&field.ty));
        let variable = variable(&name);
        Self {
            read: quote_spanned!(at=> let #variable = sent.field::<#kind>(#text);),
            info: quote_spanned!(at=> ::skep::form::info::<#kind>(#text)),
            give: quote_spanned! {at=>
                <#kind as ::skep::form::FormField>::give(&self.#name, #text, &mut |name, text| each(&name, text));
            },
            constant: field::form_constant(&field.vis, &name, kind, &format!("The field `{text}` of the group.")),
            name,
        }
    }
}

fn write(input: &DeriveInput, parts: &[GroupField], rules: Option<&Expr>) -> TokenStream {
    let name = &input.ident;
    let (read, info) = (parts.iter().map(|part| &part.read), parts.iter().map(|part| &part.info));
    let (give, constants) = (parts.iter().map(|part| &part.give), parts.iter().map(|part| &part.constant));
    let fields = parts.iter().map(|part| {
        let (field, variable) = (&part.name, variable(&part.name));
        quote!(#field: #variable?)
    });
    let made = match rules {
        Some(rules) => quote!(sent.judged(Self { #(#fields),* }, #rules)),
        None => quote!(::core::option::Option::Some(Self { #(#fields),* })),
    };
    quote! {
        #[automatically_derived]
        impl ::skep::param::Param for #name {
            fn expected() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed("a group of fields")
            }
            fn parse(_: &str) -> ::core::option::Option<Self> {
                ::core::option::Option::None
            }
            fn write(&self, _: &mut ::std::string::String) {}
        }
        #[automatically_derived]
        impl ::skep::form::Control for #name {
            type Look = ::skep::form::Grouped;
            const GROUP: &'static [::skep::form::FieldInfo] = &[#(#info),*];

            fn of_group(sent: &::skep::form::Sent<'_>) -> ::core::option::Option<Self> {
                #(#read)*
                #made
            }
            fn give_group(&self, each: &mut dyn FnMut(&str, ::std::string::String)) {
                #(#give)*
            }
        }
        #[automatically_derived]
        impl #name {
            #(#constants)*
        }
        // Reports what cannot be in a group here, not where the group is used.
        const _: () = {
            let _ = <#name as ::skep::form::Control>::GROUP;
        };
    }
}

//! `derive(Group)`: several fields of a form that are repeated together.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    const HELP: &str = "a group is a struct whose fields have names: they are the fields of each row";
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "a group has no type parameters and borrows nothing"));
    }
    let Data::Struct(data) = &input.data else { return Err(Error::new(input.ident.span(), HELP)) };
    let Fields::Named(fields) = &data.fields else { return Err(Error::new(input.ident.span(), HELP)) };
    if fields.named.is_empty() {
        return Err(Error::new(input.ident.span(), "a group without fields has nothing to be given: add one"));
    }
    let parts: Vec<Part> = fields.named.iter().map(Part::of).collect();
    Ok(write(input, &parts))
}

/// A field of the group, its name in a form, and the code that has to do with it.
struct Part {
    name: Ident,
    read: TokenStream,
    info: TokenStream,
    give: TokenStream,
    constant: TokenStream,
}

impl Part {
    fn of(field: &Field) -> Self {
        let name = field.ident.clone().expect("only named fields come here");
        let (kind, text) = (&field.ty, name.to_string().trim_start_matches("r#").to_owned());
        // What does not fit is said at the type that does not fit.
        let at = kind.span().resolved_at(Span::call_site());
        let variable = variable(&name);
        let documentation = format!("The field `{text}` of each row.");
        let visibility = &field.vis;
        Self {
            read: quote_spanned!(at=> let #variable = row.field::<#kind>(#text);),
            info: quote_spanned!(at=> ::skep::form::row_info::<#kind>(#text)),
            give: quote_spanned! {at=>
                <#kind as ::skep::form::FormField>::give(&self.#name, #text, &mut |name, text| each(&name, text));
            },
            constant: quote! {
                #[doc = #documentation]
                #[allow(non_upper_case_globals, private_interfaces, dead_code)]
                #visibility const #name: ::skep::form::Name<Self, #kind> = ::skep::form::Name::new(#text);
            },
            name,
        }
    }
}

fn variable(name: &Ident) -> Ident {
    format_ident!("field_{}", name, span = Span::mixed_site())
}

fn write(input: &DeriveInput, parts: &[Part]) -> TokenStream {
    let name = &input.ident;
    let [read, info, give, constants] = [
        parts.iter().map(|part| &part.read).collect::<Vec<_>>(),
        parts.iter().map(|part| &part.info).collect(),
        parts.iter().map(|part| &part.give).collect(),
        parts.iter().map(|part| &part.constant).collect(),
    ];
    let fields = parts.iter().map(|part| {
        let (field, variable) = (&part.name, variable(&part.name));
        quote!(#field: #variable?)
    });
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

            fn of_row(row: &::skep::form::Sent<'_>) -> ::core::option::Option<Self> {
                #(#read)*
                ::core::option::Option::Some(Self { #(#fields),* })
            }
            fn give_row(&self, each: &mut dyn FnMut(&str, ::std::string::String)) {
                #(#give)*
            }
        }
        #[automatically_derived]
        impl #name {
            #(#constants)*
        }
        // A list of groups in a group is found here, and not where the group is used.
        const _: () = {
            let _ = <#name as ::skep::form::Control>::GROUP;
        };
    }
}

//! What a field of an account is worth as a text, a column and a language.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Field, LitStr, Type};

use crate::field;

pub(super) fn member(field: &Field) -> &Ident {
    field.ident.as_ref().expect("only named fields come here")
}

/// The column, as `derive(Row)` names it.
pub(super) fn column(field: &Field) -> String {
    let mut column = field::name(member(field));
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        // What is wrong there, `derive(Row)` says.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("column") {
                column = meta.value()?.parse::<LitStr>()?.value();
            }
            Ok(())
        });
    }
    column
}

fn is_optional(field: &Field) -> bool {
    matches!(&field.ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// The text of a field: rustc underlines the type of anything else.
pub(super) fn text(field: &Field) -> TokenStream {
    let member = member(field);
    quote_spanned!(at(field)=> ::core::convert::AsRef::<str>::as_ref(&self.#member))
}

pub(super) fn optional(field: &Field) -> TokenStream {
    let (member, text) = (member(field), text(field));
    if is_optional(field) { quote!(self.#member.as_deref()) } else { quote!(::core::option::Option::Some(#text)) }
}

pub(super) fn or_empty(field: &Field) -> TokenStream {
    let (member, text) = (member(field), text(field));
    if is_optional(field) { quote!(self.#member.as_deref().unwrap_or_default()) } else { text }
}

/// `Account::notice_address`: the address, whatever the account's name is.
pub(super) fn notice_address(email: &Field) -> TokenStream {
    let email = text(email);
    quote! {
        fn notice_address(&self) -> ::core::option::Option<&str> {
            ::core::option::Option::Some(#email)
        }
    }
}

/// `Account::language` of a text or of the enum of `languages!`.
pub(super) fn language(field: &Field) -> TokenStream {
    let is_text = matches!(&field.ty, Type::Path(path) if path.path.is_ident("String"));
    let tag = if is_optional(field) || is_text {
        optional(field)
    } else {
        let member = member(field);
        quote_spanned!(at(field)=> ::core::option::Option::Some(::skep::param::Choice::value(&self.#member)))
    };
    quote! {
        fn language(&self) -> ::core::option::Option<&str> {
            #tag
        }
    }
}

fn at(field: &Field) -> Span {
    field::span(&field.ty)
}

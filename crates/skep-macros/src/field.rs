//! The fields of the author's struct: their names and documentation as text, and the spans for errors about them.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, GenericArgument, Ident, Lit, Meta,
    MetaNameValue, PathArguments, Result, Type, Visibility,
};

/// An error at these tokens.
pub(crate) fn wrong<T>(at: &impl Spanned, help: impl Display) -> Result<T> {
    Err(Error::new(at.span(), help))
}

/// The fields of a struct; anything without named fields is an error.
pub(crate) fn named<'f>(input: &'f DeriveInput, help: &str) -> Result<Vec<&'f Field>> {
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) && !data.fields.is_empty() => {
            Ok(data.fields.iter().collect())
        }
        _ => wrong(&input.ident, help),
    }
}

/// The lines of the doc comments.
pub(crate) fn documentation(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(MetaNameValue { path, value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. })
            if path.is_ident("doc") =>
        {
            Some(text.value())
        }
        _ => None,
    })
}

/// The name without `r#`.
pub(crate) fn name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The first argument of a generic type of this name: a macro sees no more of a type than its name.
pub(crate) fn argument_of<'t>(kind: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(kind)) => Some(kind),
        _ => None,
    }
}

/// The name of a type, without the path to it.
pub(crate) fn last_name(kind: &Type) -> Option<&Ident> {
    let Type::Path(path) = kind else { return None };
    path.path.segments.last().map(|last| &last.ident)
}

/// The span of a type, resolved in the author's code: rustc underlines the type if it lacks a trait.
pub(crate) fn span(tokens: &impl ToTokens) -> Span {
    tokens.span().resolved_at(Span::call_site())
}

/// A variable for the field's value, which no code of the author can name.
pub(crate) fn variable(ident: &Ident) -> Ident {
    format_ident!("field_{}", ident, span = Span::mixed_site())
}

/// `Name::field`, the constant that names an input of a form.
pub(crate) fn form_constant(visibility: &Visibility, ident: &Ident, kind: &Type, documentation: &str) -> TokenStream {
    let text = name(ident);
    quote! {
        #[doc = #documentation]
        #[allow(non_upper_case_globals, private_interfaces, dead_code)]
        #visibility const #ident: ::skep::form::Name<Self, #kind> = ::skep::form::Name::new(#text);
    }
}

/// Splits a name into lower-case words: `NewestFirst` is `newest` and `first`, `HTTPOnly` is `http` and `only`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase()));
        if begins || letter == '_' || words.is_empty() {
            words.push(String::new());
        }
        let word = words.last_mut().expect("a word was begun");
        word.extend(letter.to_lowercase().filter(|letter| *letter != '_'));
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
#[path = "../tests/unit/field.rs"]
mod tests;

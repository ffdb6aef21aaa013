//! `derive(Param)`: an enum of unit variants as parameter, form choice and SQL column.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Token, Variant};

use crate::field::{self, wrong};

/// A variant, its value in URLs, forms and SQL, and its label.
struct Choice {
    variant: Ident,
    value: LitStr,
    label: LitStr,
    /// Labels in other languages, by language.
    translations: Vec<(LitStr, LitStr)>,
    /// `t!(open)`: a text of all languages, instead of both.
    text: Option<syn::Macro>,
}

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return wrong(
            &input.ident,
            "`derive(Param)` is for enums of unit variants; for other types, write `impl Param`",
        );
    };
    if !input.generics.params.is_empty() {
        return wrong(&input.generics, "`derive(Param)` does not support generic parameters");
    }
    if data.variants.is_empty() {
        return wrong(&input.ident, "the enum has no variants: add one");
    }
    let choices: Vec<Choice> = data.variants.iter().map(choice).collect::<Result<_>>()?;
    for (position, one) in choices.iter().enumerate() {
        if let Some(other) = choices[..position].iter().find(|other| other.value.value() == one.value.value()) {
            let (first, second, value) = (&other.variant, &one.variant, one.value.value());
            let help = format!(
                "`{first}` and `{second}` have the same value \"{value}\": change one with `#[param(\"...\")]`"
            );
            return wrong(&one.value, help);
        }
    }
    Ok(write(&input.ident, &choices))
}

fn choice(variant: &Variant) -> Result<Choice> {
    if !matches!(variant.fields, Fields::Unit) {
        return wrong(&variant.fields, "a variant cannot have fields; for other types, write `impl Param`");
    }
    let words = field::words(&field::name(&variant.ident));
    let span = variant.ident.span();
    let mut choice = Choice {
        variant: variant.ident.clone(),
        value: LitStr::new(&words.join("-"), span),
        label: LitStr::new(&sentence(&words), span),
        translations: Vec::new(),
        text: None,
    };
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("param")) {
        choice.read(attribute)?;
    }
    Ok(choice)
}

impl Choice {
    /// `#[param("value", label = "What people read", label(de = "Was man liest"))]`, any of them.
    fn read(&mut self, attribute: &Attribute) -> Result<()> {
        const HELP: &str = "`#[param(\"value\")]`, `#[param(label = \"What people read\")]`, `#[param(label(de = \"...\"))]` for other \
                            languages, or several with commas";
        attribute.parse_args_with(|input: ParseStream<'_>| {
            if input.is_empty() {
                return Err(input.error(HELP));
            }
            while !input.is_empty() {
                if input.peek(LitStr) {
                    self.value = input.parse()?;
                    if self.value.value().is_empty() {
                        let help = "the value must not be empty: a form sends an empty value for no choice";
                        return wrong(&self.value, help);
                    }
                } else {
                    let name: Ident = input.parse().map_err(|error| Error::new(error.span(), HELP))?;
                    if name != "label" {
                        return wrong(&name, format!("unknown option `{name}`: expected {HELP}"));
                    }
                    if input.peek(syn::token::Paren) {
                        self.read_translations(input)?;
                    } else {
                        input.parse::<Token![=]>()?;
                        if input.peek(Ident) {
                            self.text = Some(input.parse()?);
                        } else {
                            self.label = input.parse()?;
                        }
                    }
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })
    }

    /// What people read, in the default language.
    fn shown(&self) -> TokenStream {
        match (&self.text, &self.label) {
            (Some(syn::Macro { path, tokens, .. }), _) => quote!(#path!(@label #tokens)),
            (None, label) => quote!(#label),
        }
    }

    /// `(de = "Offen", "pt-BR" = "Aberto")`
    fn read_translations(&mut self, input: ParseStream<'_>) -> Result<()> {
        let content;
        syn::parenthesized!(content in input);
        while !content.is_empty() {
            let language = if content.peek(LitStr) {
                content.parse()?
            } else {
                let name: Ident = content.parse()?;
                LitStr::new(&field::name(&name), name.span())
            };
            content.parse::<Token![=]>()?;
            self.translations.push((language, content.parse()?));
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }
}

fn sentence(words: &[String]) -> String {
    let text = words.join(" ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn write(name: &Ident, choices: &[Choice]) -> TokenStream {
    let variants: Vec<&Ident> = choices.iter().map(|choice| &choice.variant).collect();
    let values: Vec<&LitStr> = choices.iter().map(|choice| &choice.value).collect();
    let labels = choices.iter().map(Choice::shown);
    let translations = translations(choices);
    let expected = skep_units::any_of(choices.iter().map(|choice| choice.value.value()));
    let (texts, columns) = (texts(name, &expected), columns(name, &expected));
    quote! {
        #[automatically_derived]
        impl ::skep::param::Param for #name {
            fn expected() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#expected)
            }

            fn expectation() -> ::skep::form::Expected {
                ::skep::form::Expected::Choice(#expected)
            }

            fn parse(text: &str) -> ::core::option::Option<Self> {
                match text {
                    #(#values => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }

            fn write(&self, out: &mut ::std::string::String) {
                out.push_str(::skep::param::Choice::value(self));
            }
        }
        #[automatically_derived]
        impl ::skep::param::Choice for #name {
            const ALL: &'static [Self] = &[#(Self::#variants),*];

            fn value(&self) -> &'static str {
                match self { #(Self::#variants => #values,)* }
            }

            fn label(&self) -> &'static str {
                match self { #(Self::#variants => #labels,)* }
            }

            #translations
        }
        #texts
        #columns
    }
}

/// A column, and a parameter by value.
fn columns(name: &Ident, expected: &str) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::skep::sql::ToValue for #name {
            type Sql = ::skep::sql::kind::Text;

            fn to_value(&self) -> ::core::result::Result<::skep::sql::Value<'_>, ::skep::sql::Unfit> {
                ::skep::sql::ToValue::to_value(::skep::param::Choice::value(self))
            }
        }
        #[automatically_derived]
        impl<'q> ::skep::sql::Parameter<'q> for #name {
            type Sql = ::skep::sql::kind::Text;

            fn into_value(self) -> ::core::result::Result<::skep::sql::Value<'q>, ::skep::sql::Unfit> {
                let text = ::skep::param::Choice::value(&self);
                ::core::result::Result::Ok(::skep::sql::Value::Text(::std::borrow::Cow::Borrowed(text)))
            }
        }
        #[automatically_derived]
        impl ::skep::sql::FromValue for #name {
            type Sql = ::skep::sql::kind::Text;

            fn from_value(value: ::skep::sql::Value<'_>) -> ::core::result::Result<Self, ::skep::sql::Unfit> {
                let text = <::std::string::String as ::skep::sql::FromValue>::from_value(value)?;
                <Self as ::skep::param::Param>::parse(&text)
                    .ok_or_else(|| ::skep::sql::Unfit::because(::std::format!("{text:?} is not {}", #expected)))
            }
        }
        #[automatically_derived]
        impl ::skep::sql::Element for #name {
            type Sql = ::skep::sql::kind::NotNull<::skep::sql::kind::Text>;
        }
    }
}

/// Text as Rust has it: `parse` and `to_string`.
fn texts(name: &Ident, expected: &str) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::core::str::FromStr for #name {
            type Err = ::skep::form::FieldError;

            fn from_str(text: &::core::primitive::str) -> ::core::result::Result<Self, ::skep::form::FieldError> {
                <Self as ::skep::param::Param>::parse(text)
                    .ok_or(::skep::form::FieldError::Expected(::skep::form::Expected::Choice(#expected)))
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(::skep::param::Choice::value(self))
            }
        }
    }
}

/// Empty if no choice is translated.
fn translations(choices: &[Choice]) -> TokenStream {
    if choices.iter().all(|choice| choice.translations.is_empty() && choice.text.is_none()) {
        return TokenStream::new();
    }
    let arms = choices.iter().map(|Choice { variant, translations, text, .. }| {
        let pairs = translations.iter().map(|(language, label)| quote!((#language, #label)));
        match text {
            Some(syn::Macro { path, tokens, .. }) => quote!(Self::#variant => #path!(@labels #tokens)),
            None => quote!(Self::#variant => &[#(#pairs),*]),
        }
    });
    quote! {
        fn translations(&self) -> &'static [(&'static ::core::primitive::str, &'static ::core::primitive::str)] {
            match self { #(#arms,)* }
        }
    }
}

//! `derive(Param)`: an enum of unit variants as parameter, form choice and SQL column.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Token, Variant};

use crate::field;

/// A variant, its value in URLs, forms and SQL, and its label.
struct Choice {
    variant: Ident,
    value: LitStr,
    label: LitStr,
}

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        let help = "`derive(Param)` is for enums of unit variants; for other types, write `impl Param`";
        return Err(Error::new(input.ident.span(), help));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "`derive(Param)` does not support generic parameters"));
    }
    if data.variants.is_empty() {
        return Err(Error::new(input.ident.span(), "the enum has no variants: add one"));
    }
    let choices: Vec<Choice> = data.variants.iter().map(choice).collect::<Result<_>>()?;
    for (position, one) in choices.iter().enumerate() {
        if let Some(other) = choices[..position].iter().find(|other| other.value.value() == one.value.value()) {
            let (first, second, value) = (&other.variant, &one.variant, one.value.value());
            let help = format!(
                "`{first}` and `{second}` have the same value \"{value}\": change one with `#[param(\"...\")]`"
            );
            return Err(Error::new(one.value.span(), help));
        }
    }
    Ok(write(&input.ident, &choices))
}

fn choice(variant: &Variant) -> Result<Choice> {
    if !matches!(variant.fields, Fields::Unit) {
        let help = "a variant cannot have fields; for other types, write `impl Param`";
        return Err(Error::new(variant.fields.span(), help));
    }
    let words = words(&field::name(&variant.ident));
    let span = variant.ident.span();
    let mut choice = Choice {
        variant: variant.ident.clone(),
        value: LitStr::new(&words.join("-"), span),
        label: LitStr::new(&sentence(&words), span),
    };
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("param")) {
        choice.read(attribute)?;
    }
    Ok(choice)
}

impl Choice {
    /// `#[param("value", label = "What people read")]`, either or both.
    fn read(&mut self, attribute: &Attribute) -> Result<()> {
        const HELP: &str = "`#[param(\"value\")]`, `#[param(label = \"What people read\")]`, or both with a comma";
        attribute.parse_args_with(|input: ParseStream<'_>| {
            if input.is_empty() {
                return Err(input.error(HELP));
            }
            while !input.is_empty() {
                if input.peek(LitStr) {
                    self.value = input.parse()?;
                    if self.value.value().is_empty() {
                        return Err(Error::new(
                            self.value.span(),
                            "the value must not be empty: a form sends an empty value for no choice",
                        ));
                    }
                } else {
                    let name: Ident = input.parse().map_err(|error| Error::new(error.span(), HELP))?;
                    if name != "label" {
                        return Err(Error::new(name.span(), format!("unknown option `{name}`: expected {HELP}")));
                    }
                    input.parse::<Token![=]>()?;
                    self.label = input.parse()?;
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })
    }
}

/// Splits a name into lower-case words: `NewestFirst` is `newest` and `first`, `HTTPOnly` is `http` and `only`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase()));
        if letter == '_' {
            words.push(String::new());
            continue;
        }
        if begins || words.is_empty() {
            words.push(String::new());
        }
        let word = words.last_mut().expect("a word was begun");
        word.extend(letter.to_lowercase());
    }
    words.retain(|word| !word.is_empty());
    words
}

fn sentence(words: &[String]) -> String {
    let text = words.join(" ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn write(name: &Ident, choices: &[Choice]) -> TokenStream {
    let variants: Vec<&Ident> = choices.iter().map(|choice| &choice.variant).collect();
    let values: Vec<&LitStr> = choices.iter().map(|choice| &choice.value).collect();
    let labels = choices.iter().map(|choice| &choice.label);
    let expected = expected(&values);
    quote! {
        #[automatically_derived]
        impl ::skep::param::Param for #name {
            fn expected() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#expected)
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
        }
        #[automatically_derived]
        impl ::skep::sql::ToValue for #name {
            fn to_value(&self) -> ::core::result::Result<::skep::sql::Value<'_>, ::skep::sql::Unfit> {
                ::skep::sql::ToValue::to_value(::skep::param::Choice::value(self))
            }
        }
        #[automatically_derived]
        impl ::skep::sql::FromValue for #name {
            fn from_value(value: ::skep::sql::Value<'_>) -> ::core::result::Result<Self, ::skep::sql::Unfit> {
                let text = <::std::string::String as ::skep::sql::FromValue>::from_value(value)?;
                <Self as ::skep::param::Param>::parse(&text)
                    .ok_or_else(|| ::skep::sql::Unfit::because(::std::format!("{text:?} is not {}", #expected)))
            }
        }
    }
}

/// "a, b or c".
fn expected(values: &[&LitStr]) -> String {
    let values: Vec<String> = values.iter().map(|value| value.value()).collect();
    match values.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_split_into_words() {
        for (name, expected) in [
            ("Newest", "newest"),
            ("NewestFirst", "newest-first"),
            ("HTTPOnly", "http-only"),
            ("OnlyHTTP", "only-http"),
            ("Utf8Text", "utf8-text"),
            ("snake_case", "snake-case"),
            ("ÄrgerÜber", "ärger-über"),
            ("A", "a"),
        ] {
            assert_eq!(words(name).join("-"), expected);
        }
        assert_eq!(sentence(&words("NewestFirst")), "Newest first");
    }
}

//! `t!`: a text in the language of a request.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Result, Token};

use crate::languages::item;

/// `t!(cx, greeting.title, name = user.name)`
pub(crate) struct Use {
    language: Spoken,
    id: Ident,
    arguments: Vec<(Ident, Expr)>,
}

/// In which language.
enum Spoken {
    /// In that of this expression.
    In(Box<Expr>),
    /// In the default one: `@label`, for `derive(Param)`.
    Default,
    /// In each: `@labels`.
    Each,
}

impl Parse for Spoken {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.parse::<Option<Token![@]>>()?.is_none() {
            let language = Self::In(Box::new(input.parse()?));
            input.parse::<Token![,]>()?;
            return Ok(language);
        }
        let kind: Ident = input.parse()?;
        if kind == "label" { Ok(Self::Default) } else { Ok(Self::Each) }
    }
}

impl Parse for Use {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let language = input.parse()?;
        let mut id: Ident = input.parse().map_err(|error| {
            syn::Error::new(
                error.span(),
                "expected the id of a text, with `_` for `-`: `t!(cx, greeting, name = user.name)`",
            )
        })?;
        if input.parse::<Option<Token![.]>>()?.is_some() {
            let attribute: Ident = input.parse()?;
            id = Ident::new(&item(&format!("{id}.{attribute}")), id.span());
        } else {
            id = syn::parse_str::<Ident>(&id.to_string())
                .map_or_else(|_| Ident::new_raw(&id.to_string(), id.span()), |_| id.clone());
        }
        let mut arguments = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let name: Ident = input.parse()?;
            let value = match input.parse::<Option<Token![=]>>()? {
                Some(_) => input.parse()?,
                None => syn::parse_quote!(#name),
            };
            arguments.push((name, value));
        }
        if input.is_empty() { Ok(Self { language, id, arguments }) } else { Err(input.error("expected `,`")) }
    }
}

pub(crate) fn expand(text: &Use) -> TokenStream {
    let Use { language, id, arguments } = text;
    let fields =
        arguments.iter().map(|(name, value)| quote!(#name: ::skep_language::ToArgument::to_argument(&(#value))));
    let text = quote!(crate::ftl::#id { #(#fields),* });
    match language {
        Spoken::In(language) => {
            quote!(::skep_language::Translated::text(#text, ::skep_language::InLanguage::in_language(&(#language))))
        }
        Spoken::Default => {
            quote!(::skep_language::Translated::text(#text, <crate::Language as ::skep_language::Languages>::at(0)))
        }
        Spoken::Each => quote! {{
            static LABELS: ::std::sync::LazyLock<::skep_language::Labels> = ::std::sync::LazyLock::new(|| {
                ::skep_language::labels(|language: crate::Language| ::skep_language::Translated::text(#text, language))
            });
            &LABELS
        }},
    }
}

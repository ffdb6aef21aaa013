//! `t!`: a text in the language of a request.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Result, Token};

use crate::languages::{ident, item};

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
        let id = input.call(Ident::parse_any).map_err(|error| {
            syn::Error::new(
                error.span(),
                "expected the id of a text, with `_` for `-`: `t!(cx, greeting, name = user.name)`",
            )
        })?;
        let mut name = id.unraw().to_string();
        if input.parse::<Option<Token![.]>>()?.is_some() {
            name = item(&format!("{name}.{}", input.call(Ident::parse_any)?.unraw()));
        }
        let id = ident(&name, id.span());
        let mut arguments = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            let name = ident(&name.unraw().to_string(), name.span());
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

//! `languages!`: an application's languages, and an item for each of its texts.

use std::env;
use std::path::PathBuf;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use skep_fluent::{Kind, Language, Message, RESERVED, TextFile, Texts};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Result, Token};

use crate::folder::{self, Files};
use crate::form;

/// `languages!("languages", default = "en")`
pub(crate) struct Declaration {
    folder: LitStr,
    default: LitStr,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let help = |error: Error| Error::new(error.span(), "expected `languages!(\"folder\", default = \"en\")`");
        let folder = input.parse().map_err(help)?;
        input.parse::<Token![,]>().map_err(help)?;
        let name: Ident = input.parse().map_err(help)?;
        if name != "default" {
            return Err(help(Error::new(name.span(), "")));
        }
        input.parse::<Token![=]>().map_err(help)?;
        let default = input.parse().map_err(help)?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { folder, default })
    }
}

pub(crate) fn expand(declaration: &Declaration) -> Result<TokenStream> {
    let Declaration { folder, default } = declaration;
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut found = folder::read(&package, &folder.value())
        .map_err(|error| Error::new(folder.span(), format!("cannot read the folder `{}`: {error}", folder.value())))?;
    let tag = default.value();
    let Some(first) = found.remove_entry(&tag) else {
        let all: Vec<_> = found.keys().map(String::as_str).collect();
        let help = format!("the folder has no `{tag}.ftl`, only files for: {}", all.join(", "));
        return Err(Error::new(default.span(), help));
    };
    let languages: Vec<(String, Files)> = std::iter::once(first).chain(found).collect();
    let sources: Vec<Vec<TextFile<'_>>> = languages.iter().map(|(_, files)| sources(files)).collect();
    let read: Vec<_> = languages.iter().zip(&sources).map(|((tag, _), files)| Language { tag, files }).collect();
    let texts = Texts::read(&read).map_err(|problems| complaints(folder, &problems))?;
    Ok(write(folder.span(), &languages, &texts))
}

fn sources(files: &Files) -> Vec<TextFile<'_>> {
    files.iter().map(|(shown, _, text)| TextFile { path: shown, text }).collect()
}

fn complaints(folder: &LitStr, problems: &[skep_fluent::Problem]) -> Error {
    let mut errors = problems.iter().map(|problem| Error::new(folder.span(), problem.to_string()));
    let first = errors.next().unwrap_or_else(|| Error::new(folder.span(), "no texts"));
    errors.fold(first, |mut all, one| {
        all.combine(one);
        all
    })
}

/// All items have the span of the folder's name, so that the compiler warns of texts that nothing uses.
fn write(span: Span, languages: &[(String, Files)], texts: &Texts<'_>) -> TokenStream {
    let variants: Vec<Ident> = languages.iter().map(|(tag, _)| variant(tag, span)).collect();
    let tags: Vec<&str> = languages.iter().map(|(tag, _)| tag.as_str()).collect();
    let has_name = texts.messages().iter().any(|message| message.id == "language-name");
    let names = (0..languages.len())
        .map(|at| if has_name { texts.text(at, "language-name", &[]) } else { tags[at].to_owned() });
    let numbers = 0..languages.len();
    let texts_of = write_set(&tags, languages, texts);
    let items = texts.messages().iter().map(|message| write_item(span, message));
    let terms = texts.unused_terms().iter().map(|(id, file, line)| {
        let (name, about) =
            (format_ident!("term_{}", id[1..].replace('-', "_"), span = span), format!("`{id}`, {file}:{line}."));
        quote_spanned!(span=> #[doc = #about] pub(crate) struct #name;)
    });
    let messages = form::write(&variants, &tags);
    quote_spanned! {span=>
        /// A language of the application.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::skep::param::Param)]
        pub enum Language {
            #(
                #[doc = #tags]
                #[param(#tags, label = #names)]
                #variants,
            )*
        }

        impl ::skep_language::Languages for Language {
            const TAGS: &'static [&'static str] = &[#(#tags),*];

            fn place(self) -> usize {
                self as usize
            }

            fn at(number: usize) -> Self {
                match number {
                    #(#numbers => Self::#variants,)*
                    _ => panic!("there is no language with this number"),
                }
            }

            fn texts() -> &'static ::skep_language::TextSet {
                static TEXTS: ::skep_language::TextSet = #texts_of;
                &TEXTS
            }

            fn messages(self) -> ::skep::form::Messages {
                use ::skep_language::Translated as _;
                #messages
            }
        }

        impl ::skep_language::InLanguage<Language> for Language {
            fn in_language(&self) -> Language {
                *self
            }
        }

        /// A struct for each text of the folder of languages: `t!` makes and writes them.
        #[allow(non_camel_case_types, missing_docs, clippy::pedantic)]
        pub(crate) mod ftl {
            use super::Language;
            #(#items)*
        }

        /// A struct for each term that nothing refers to: the compiler warns of it.
        #[allow(non_camel_case_types, clippy::pedantic)]
        mod ftl_terms {
            #(#terms)*
        }
    }
}

/// The files, as they are in the executable, and what they must have when they are read again.
fn write_set(tags: &[&str], languages: &[(String, Files)], texts: &Texts<'_>) -> TokenStream {
    let files = languages.iter().map(|(_, files)| {
        let files = files.iter().map(|(shown, path, _)| {
            let path = path.to_string_lossy();
            // Only a debug build reads the file again: no other names a folder of the machine that compiled it.
            let place = quote!(if ::core::cfg!(debug_assertions) { #path } else { "" });
            quote!((#shown, #place, ::core::include_str!(#path)))
        });
        quote!(&[#(#files),*])
    });
    let signatures = texts.messages().iter().map(skep_fluent::Message::signature);
    quote! {{
        type File = (&'static ::core::primitive::str, &'static ::core::primitive::str, &'static ::core::primitive::str);
        const LANGUAGES: &[(&::core::primitive::str, &[File])] = &[#((#tags, #files)),*];
        ::skep_language::TextSet::new(LANGUAGES, &[#(#signatures),*], ::core::cfg!(debug_assertions))
    }}
}

fn write_item(span: Span, message: &Message) -> TokenStream {
    let name = ident(&item(&message.id), span);
    let id = &message.id;
    let about = format!("`{id}`, {}:{}.", message.place.0, message.place.1);
    // What other messages contain is used, and the framework uses its own.
    let allowed = (message.is_referenced || id.starts_with(RESERVED) || id == "language-name")
        .then(|| quote!(#[allow(dead_code)]));
    if message.arguments.is_empty() {
        return quote_spanned! {span=>
            #[doc = #about]
            #allowed
            pub(crate) struct #name {}
            impl ::skep_language::Translated<Language> for #name {
                type Text = &'static ::core::primitive::str;

                fn text(self, language: Language) -> Self::Text {
                    ::skep_language::fixed(language, #id)
                }
            }
        };
    }
    let names: Vec<Ident> = message.arguments.iter().map(|(name, _)| ident(&name.replace('-', "_"), span)).collect();
    let keys = message.arguments.iter().map(|(name, _)| name);
    let kinds = message.arguments.iter().map(|(_, kind)| match kind {
        Kind::Any => quote!(::skep_language::Any),
        Kind::Text => quote!(::skep_language::Text),
        Kind::Number => quote!(::skep_language::Number),
        Kind::Date => quote!(::skep_language::Date),
    });
    quote_spanned! {span=>
        #[doc = #about]
        #allowed
        pub(crate) struct #name<'a> { #(pub(crate) #names: ::skep_language::Typed<'a, #kinds>),* }
        impl ::skep_language::Translated<Language> for #name<'_> {
            type Text = ::std::string::String;

            fn text(self, language: Language) -> Self::Text {
                ::skep_language::text(language, #id, &[#((#keys, self.#names.into_argument())),*])
            }
        }
    }
}

/// The name of a text's struct: `sign-in.title` is `sign_in__title`.
pub(crate) fn item(id: &str) -> String {
    id.replace('-', "_").replace('.', "__")
}

/// A name that may be a word of Rust: `continue`.
pub(crate) fn ident(name: &str, span: Span) -> Ident {
    // `languages!` refuses texts with these names; elsewhere the compiler does.
    let is_never_raw = ["self", "Self", "super", "crate", "_"].contains(&name);
    if is_never_raw { Ident::new(name, span) } else { Ident::new_raw(name, span) }
}

/// `PtBr` for `pt-BR`.
fn variant(tag: &str, span: Span) -> Ident {
    let part = |part: &str| {
        let (first, rest) = part.split_at(1.min(part.len()));
        first.to_uppercase() + &rest.to_lowercase()
    };
    Ident::new(&tag.split('-').map(part).collect::<String>(), span)
}

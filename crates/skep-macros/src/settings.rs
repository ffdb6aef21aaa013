//! `derive(Settings)`: each field is a setting of its name.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{
    DeriveInput, Error, Expr, ExprLit, ExprUnary, Field, GenericArgument, Lit, LitStr, PathArguments, Result, Type,
    UnOp,
};

use crate::field::{self, wrong};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "settings are of one type: this struct cannot be generic"));
    }
    let help = "`derive(Settings)` needs a struct with named fields, each of which is a setting";
    let fields = field::named(input, help)?;
    let table = table(input)?;
    let settings = fields.into_iter().map(Setting::read).collect::<Result<Vec<_>>>()?;
    let name = &input.ident;
    let descriptions = settings.iter().map(Setting::description);
    let reads = settings.iter().enumerate().map(|(at, setting)| setting.reading(at));
    let idents: Vec<_> = settings.iter().map(|setting| &setting.field.ident).collect();
    let section = section(name, &table);
    Ok(quote! {
        #[automatically_derived]
        impl ::skep::settings::Settings for #name {
            const TABLE: &'static ::core::primitive::str = #table;
            const FIELDS: &'static [::skep::settings::Field] = &[#(#descriptions),*];

            fn read(reader: &mut ::skep::settings::Reader<'_>) -> ::core::option::Option<Self> {
                // All are read, so that all problems are found.
                let fields = (#(#reads,)*);
                let (#(#idents,)*) = fields;
                ::core::option::Option::Some(Self { #(#idents: #idents?),* })
            }
        }

        #section
    })
}

/// A component carries its settings in a section that its host can read.
fn section(name: &syn::Ident, table: &str) -> TokenStream {
    if table.is_empty() {
        return TokenStream::new();
    }
    quote! {
        #[cfg(target_family = "wasm")]
        const _: () = {
            const FIELDS: &[::skep::settings::Field] = <#name as ::skep::settings::Settings>::FIELDS;
            #[unsafe(link_section = "skep:settings")]
            #[used]
            static SECTION: [::core::primitive::u8; ::skep::settings::section::size(#table, FIELDS)] =
                ::skep::settings::section::bytes(#table, FIELDS);
        };
    }
}

/// The table that the struct names. A struct that is nested in another has none.
fn table(input: &DeriveInput) -> Result<String> {
    let mut table = String::new();
    for attribute in &input.attrs {
        if attribute.path().is_ident("setting") {
            return wrong(
                attribute,
                "`#[setting(...)]` belongs to a field; on the struct write `#[settings(table = \"name\")]`",
            );
        }
        if !attribute.path().is_ident("settings") {
            continue;
        }
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("table") {
                return Err(meta.error("expected `table = \"name\"`"));
            }
            if !table.is_empty() {
                return Err(meta.error("the struct has a table already: remove one of the two"));
            }
            let name: LitStr = meta.value()?.parse()?;
            table = name.value();
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            if table.is_empty() || !table.bytes().all(fits) {
                let help = "the name of a table has lower-case letters, digits and `_`: `table = \"helpdesk\"`";
                return wrong(&name, help);
            }
            Ok(())
        })?;
    }
    Ok(table)
}

/// A field, and what its attributes say.
struct Setting<'f> {
    field: &'f Field,
    name: String,
    help: String,
    /// The words of its attributes.
    words: Vec<String>,
    default: Option<String>,
}

impl<'f> Setting<'f> {
    fn read(field: &'f Field) -> Result<Self> {
        let name = field.ident.as_ref().map(field::name).unwrap_or_default();
        let mut setting = Self { field, name, help: help(field), words: Vec::new(), default: None };
        for attribute in &field.attrs {
            if attribute.path().is_ident("settings") {
                return wrong(
                    attribute,
                    "`#[settings(...)]` belongs to the struct; on a field write `#[setting(...)]`",
                );
            }
            if attribute.path().is_ident("setting") {
                attribute.parse_nested_meta(|meta| setting.word(&meta))?;
            }
        }
        setting.check()?;
        Ok(setting)
    }

    fn word(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let word = meta.path.get_ident().map(field::name).unwrap_or_default();
        if self.is(&word) {
            return Err(meta.error(format!("this field has `{word}` already: remove one of the two")));
        }
        match word.as_str() {
            "default" => self.default = Some(default(&meta.value()?.parse()?)?),
            "secret" | "from_str" | "nested" => {}
            _ => return Err(meta.error("expected `default = ...`, `secret`, `from_str` or `nested`")),
        }
        self.words.push(word);
        Ok(())
    }

    fn is(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    fn check(&self) -> Result<()> {
        let at = &self.field.ident;
        if self.is("nested") && self.words.len() > 1 {
            return wrong(at, "a nested struct has neither a default nor a secret: its fields have");
        }
        if self.is("secret") && self.default.is_some() {
            let help =
                "a secret has no default, which would be in the executable: leave it required, or make it an `Option`";
            return wrong(at, help);
        }
        if self.help.is_empty() && !self.is("nested") {
            return wrong(at, "a setting needs a doc comment: it is the help text of `--help` and of the reference");
        }
        Ok(())
    }

    /// The type in `Option<...>`.
    fn optional(&self) -> Option<&Type> {
        let Type::Path(path) = &self.field.ty else { return None };
        let last = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
        let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        })
    }

    fn description(&self) -> TokenStream {
        let Self { name, help, field, .. } = self;
        let (ty, value) = (&field.ty, quote!(::skep::settings::SettingValue));
        let (default, has_default) = (self.default.as_deref().unwrap_or_default(), self.default.is_some());
        let said_secret = self.is("secret");
        let (kind, required, nested) = if self.is("nested") {
            (quote!(::skep::settings::Kind::Text), quote!(false), quote!(<#ty as ::skep::settings::Settings>::FIELDS))
        } else if self.is("from_str") {
            let required = !has_default && self.optional().is_none();
            (quote!(::skep::settings::Kind::Text), quote!(#required), quote!(&[]))
        } else {
            // `bool` is false where nothing is said.
            (quote!(<#ty as #value>::KIND), quote!(!#has_default && !<#ty as #value>::IS_OPTIONAL), quote!(&[]))
        };
        let is_secret = if said_secret || self.is("nested") || self.is("from_str") {
            quote!(#said_secret)
        } else {
            quote!(<#ty as #value>::IS_SECRET)
        };
        quote! {
            ::skep::settings::Field {
                name: #name,
                kind: #kind,
                default: #default,
                is_required: #required,
                is_secret: #is_secret,
                help: #help,
                nested: #nested,
            }
        }
    }

    fn reading(&self, at: usize) -> TokenStream {
        let (ty, field) = (&self.field.ty, quote!(&<Self as ::skep::settings::Settings>::FIELDS[#at]));
        match (self.is("nested"), self.is("from_str"), self.optional()) {
            (true, ..) => quote!(reader.nested::<#ty>(#field)),
            (_, true, Some(inner)) => quote!(reader.optional_from_str::<#inner>(#field)),
            (_, true, None) => quote!(reader.from_str::<#ty>(#field)),
            _ => quote!(reader.value::<#ty>(#field)),
        }
    }
}

/// A default as it would stand in skep.toml.
fn default(value: &Expr) -> Result<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value().is_empty() => wrong(
            text,
            "an empty default has no effect: leave it out, and make the type an `Option` if the setting may be missing",
        ),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.value()),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Bool(on), .. }) => Ok(on.value.to_string()),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. })
            if matches!(&**expr, Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. })) =>
        {
            Ok(format!("-{}", default(expr)?))
        }
        _ => {
            let help = "a default is written as in skep.toml: `default = \"30s\"`, `default = 25`";
            Err(Error::new_spanned(value, help))
        }
    }
}

/// The doc comment, in one line.
fn help(field: &Field) -> String {
    let lines = field::documentation(&field.attrs).map(|line| line.trim().to_owned());
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

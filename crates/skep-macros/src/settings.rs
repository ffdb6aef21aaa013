//! `derive(Settings)`: each field is a setting of its name.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, GenericArgument, Lit, LitStr, PathArguments, Result, Type,
};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "settings are of one type: this struct cannot be generic"));
    }
    let fields = named_fields(input)?;
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

fn named_fields(input: &DeriveInput) -> Result<Vec<&Field>> {
    if let Data::Struct(data) = &input.data
        && let Fields::Named(fields) = &data.fields
        && !fields.named.is_empty()
    {
        return Ok(fields.named.iter().collect());
    }
    let text = "`derive(Settings)` needs a struct with named fields, each of which is a setting";
    Err(Error::new_spanned(&input.ident, text))
}

/// The table that the struct names. A struct that is nested in another has none.
fn table(input: &DeriveInput) -> Result<String> {
    let mut table = String::new();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("settings")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("table") {
                return Err(meta.error("expected `table = \"name\"`"));
            }
            let name: LitStr = meta.value()?.parse()?;
            table = name.value();
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            if table.is_empty() || !table.bytes().all(fits) {
                let text = "the name of a table has lower-case letters, digits and `_`: `table = \"helpdesk\"`";
                return Err(Error::new(name.span(), text));
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
    default: Option<LitStr>,
    is_secret: bool,
    is_from_str: bool,
    is_nested: bool,
}

impl<'f> Setting<'f> {
    fn read(field: &'f Field) -> Result<Self> {
        let name = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
        let mut setting = Self {
            field,
            name,
            help: help(field),
            default: None,
            is_secret: false,
            is_from_str: false,
            is_nested: false,
        };
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("setting")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("default") {
                    setting.default = Some(default(&meta.value()?.parse()?)?);
                } else if meta.path.is_ident("secret") {
                    setting.is_secret = true;
                } else if meta.path.is_ident("from_str") {
                    setting.is_from_str = true;
                } else if meta.path.is_ident("nested") {
                    setting.is_nested = true;
                } else {
                    return Err(meta.error("expected `default = ...`, `secret`, `from_str` or `nested`"));
                }
                Ok(())
            })?;
        }
        setting.check()?;
        Ok(setting)
    }

    fn check(&self) -> Result<()> {
        if self.is_nested && (self.default.is_some() || self.is_secret || self.is_from_str) {
            let text = "a nested struct has neither a default nor a secret: its fields have";
            return Err(Error::new_spanned(&self.field.ident, text));
        }
        if self.help.is_empty() && !self.is_nested {
            let text = "a setting needs a doc comment: it is the help text of `--help` and of the reference";
            return Err(Error::new_spanned(&self.field.ident, text));
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
        let Self { name, help, is_secret, field, .. } = self;
        let (ty, value) = (&field.ty, quote!(::skep::settings::SettingValue));
        let default = self.default.as_ref().map(LitStr::value).unwrap_or_default();
        let has_default = self.default.is_some();
        let (kind, required, nested) = if self.is_nested {
            (quote!(::skep::settings::Kind::Text), quote!(false), quote!(<#ty as ::skep::settings::Settings>::FIELDS))
        } else if self.is_from_str {
            let required = !has_default && self.optional().is_none();
            (quote!(::skep::settings::Kind::Text), quote!(#required), quote!(&[]))
        } else {
            // `bool` is false where nothing is said.
            (quote!(<#ty as #value>::KIND), quote!(!#has_default && !<#ty as #value>::IS_OPTIONAL), quote!(&[]))
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
        match (self.is_nested, self.is_from_str, self.optional()) {
            (true, ..) => quote!(reader.nested::<#ty>(#field)),
            (_, true, Some(inner)) => quote!(reader.optional_from_str::<#inner>(#field)),
            (_, true, None) => quote!(reader.from_str::<#ty>(#field)),
            _ => quote!(reader.value::<#ty>(#field)),
        }
    }
}

/// A default as it would stand in skep.toml.
fn default(value: &Expr) -> Result<LitStr> {
    let text = match value {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            Lit::Float(number) => Some(number.base10_digits().to_owned()),
            Lit::Bool(on) => Some(on.value.to_string()),
            _ => None,
        },
        _ => None,
    };
    let text = text.ok_or_else(|| {
        Error::new_spanned(value, "a default is written as in skep.toml: `default = \"30s\"`, `default = 25`")
    })?;
    Ok(LitStr::new(&text, syn::spanned::Spanned::span(value)))
}

/// The doc comment, in one line.
fn help(field: &Field) -> String {
    let lines = field.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        }
    });
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: TokenStream) -> String {
        syn::parse2(input).and_then(|input| derive(&input)).unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_struct_is_refused_with_what_is_expected() {
        assert!(error(quote! { struct Shop(String); }).contains("needs a struct with named fields"));
        assert!(error(quote! { struct Shop<T> { name: T } }).contains("cannot be generic"));
        let capital = quote! { #[settings(table = "Shop")] struct Shop { #[doc = "A name."] name: String } };
        assert!(error(capital).contains("lower-case letters"));
        assert!(error(quote! { #[settings(name = "shop")] struct Shop { name: String } }).contains("expected `table"));
    }

    #[test]
    fn a_wrong_field_is_refused_with_what_is_expected() {
        assert!(error(quote! { struct Shop { name: String } }).contains("needs a doc comment"));
        let hidden = quote! { struct Shop { #[doc = "A name."] #[setting(hidden)] name: String } };
        assert!(error(hidden).contains("`secret`, `from_str` or `nested`"));
        let computed = quote! { struct Shop { #[doc = "A number."] #[setting(default = 2 + 2)] number: u32 } };
        assert!(error(computed).contains("as in skep.toml"));
        let nested = quote! { struct Shop { #[setting(nested, secret)] mail: Mail } };
        assert!(error(nested).contains("neither a default nor a secret"));
    }
}

//! Parses the fields of a service: where each is read from.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Field, Fields, Ident, LitStr, Result, Token, Type};

use super::pattern::Pattern;
use crate::field::{self, wrong};

/// A field and its source.
pub(super) struct Parameter {
    pub(super) name: Ident,
    pub(super) kind: Type,
    pub(super) source: ParameterSource,
    /// Its documentation.
    pub(super) about: String,
}

pub(super) enum ParameterSource {
    Path(usize),
    Query {
        name: String,
        default: Option<Box<Expr>>,
    },
    Form {
        name: String,
    },
    Json,
    Header(LitStr),
    /// A guard, or with `true` a value of the application: neither is read from the request.
    Guard {
        is_state: bool,
    },
}

impl Parameter {
    pub(super) fn is_guard(&self) -> bool {
        matches!(self.source, ParameterSource::Guard { .. })
    }
}

pub(super) fn parameters(input: &DeriveInput, pattern: &Pattern) -> Result<Vec<Parameter>> {
    let Data::Struct(data) = &input.data else {
        return wrong(&input.ident, "a service is a struct: its fields are its parameters");
    };
    match &data.fields {
        Fields::Named(fields) => fields.named.iter().map(|field| parameter(field, pattern)).collect(),
        Fields::Unit => Ok(Vec::new()),
        Fields::Unnamed(fields) => {
            wrong(fields, "the fields of a service need names: they are the names of its parameters")
        }
    }
}

fn parameter(field: &Field, pattern: &Pattern) -> Result<Parameter> {
    let name = field.ident.clone().expect("only named fields come here");
    let text = field::name(&name);
    let source = match (source(field, &text)?, pattern.position(&text)) {
        (None, Some(position)) => ParameterSource::Path(position),
        (None, None) => ParameterSource::Query { name: text, default: None },
        (Some((_, source)), None) => source,
        (Some((span, _)), Some(_)) => {
            return Err(Error::new(span, format!("`{text}` is in the path already: remove this attribute")));
        }
    };
    Ok(Parameter { name, kind: field.ty.clone(), source, about: about(&field.attrs) })
}

/// The text of the doc comments.
pub(super) fn about(attributes: &[Attribute]) -> String {
    let lines = field::documentation(attributes);
    let lines: Vec<String> = lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

/// The source that an attribute names, and the span of the attribute.
fn source(field: &Field, name: &str) -> Result<Option<(Span, ParameterSource)>> {
    let mut found = None;
    for attribute in &field.attrs {
        let path = attribute.path();
        let source = if path.is_ident("form") {
            ParameterSource::Form { name: name.to_owned() }
        } else if path.is_ident("json") {
            ParameterSource::Json
        } else if path.is_ident("header") {
            let name: LitStr = attribute
                .parse_args()
                .map_err(|error| Error::new(error.span(), "name the header field: `#[header(\"accept-language\")]`"))?;
            lower_case(&name)?;
            ParameterSource::Header(name)
        } else if path.is_ident("guard") || path.is_ident("state") {
            if !matches!(attribute.meta, syn::Meta::Path(_)) {
                return wrong(
                    attribute,
                    "`#[guard]` and `#[state]` have no options: the type of the field says it all",
                );
            }
            ParameterSource::Guard { is_state: path.is_ident("state") }
        } else if path.is_ident("query") {
            ParameterSource::Query { name: name.to_owned(), default: default(attribute)? }
        } else {
            continue;
        };
        if found.is_some() {
            return wrong(attribute, "a field is read from one place: remove one of its attributes");
        }
        found = Some((attribute.span(), source));
    }
    Ok(found)
}

fn lower_case(name: &LitStr) -> Result<()> {
    let text = name.value();
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if text.is_empty() || !text.bytes().all(fits) {
        return wrong(name, "a header name must be lower-case, such as \"accept-language\"");
    }
    Ok(())
}

fn default(attribute: &Attribute) -> Result<Option<Box<Expr>>> {
    if matches!(attribute.meta, syn::Meta::Path(_)) {
        return Ok(None);
    }
    attribute.parse_args_with(|input: ParseStream<'_>| {
        let name: Ident = input.parse()?;
        if name != "default" {
            return wrong(&name, format!("unknown option `{name}`: expected `#[query(default = expression)]`"));
        }
        input.parse::<Token![=]>()?;
        input.parse().map(Some)
    })
}

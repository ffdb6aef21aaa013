//! `derive(Service)`.
//!
//! First the declaration is understood ([`Declaration`], [`Parameter`]), with everything that is wrong said at the word
//! that is wrong; then the implementation is written.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, Field, Fields, Ident, LitInt, LitStr, Result, Token, Type};

use self::pattern::{Part, Pattern};

mod pattern;

/// As many as `skep::service::MAX_PATH_PARAMETERS`.
const MAX_PATH_PARAMETERS: usize = 8;

/// What `#[service(...)]` says.
struct Declaration {
    method: Ident,
    path: LitStr,
    body: Option<LitInt>,
    cross_origin: Option<LitStr>,
}

/// A field, and where it is read from.
struct Parameter {
    name: Ident,
    kind: Type,
    source: Source,
}

enum Source {
    Path(usize),
    Query { name: String, default: Option<Box<Expr>> },
    Form { name: String },
    Json,
    Header(LitStr),
}

/// What is wrong is said once: the struct counts as a service all the same, so that nothing else complains about it.
pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    understand(&input).unwrap_or_else(|error| {
        let (name, error) = (&input.ident, error.to_compile_error());
        let links = links(name);
        quote! {
            #error
            impl ::skep::service::Service for #name {
                const ROUTE: &'static ::skep::service::Route = &::skep::service::Route {
                    service: "",
                    method: ::skep::Method::GET,
                    pattern: "/",
                    query: &[],
                    body: ::skep::service::BodyKind::Unread,
                    body_limit: ::core::option::Option::None,
                    cross_origin: ::core::option::Option::None,
                };

                fn parse(_: &::skep::service::Input<'_>) -> ::skep::Result<Self> {
                    ::core::unreachable!()
                }

                fn write_link(&self, _: &mut ::skep::service::Link<'_>) {}
            }
            #links
        }
    })
}

fn understand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "a service has no type parameters and borrows nothing"));
    }
    let declaration = declaration(input)?;
    let pattern = Pattern::parse(&declaration.path)?;
    let parameters = parameters(input, &pattern)?;
    check(&declaration, &pattern, &parameters)?;
    Ok(write(input, &declaration, &pattern, &parameters))
}

fn declaration(input: &DeriveInput) -> Result<Declaration> {
    let mut found = input.attrs.iter().filter(|attribute| attribute.path().is_ident("service"));
    let Some(attribute) = found.next() else {
        let help = "say where the service is: `#[service(GET \"/path\")]`";
        return Err(Error::new(input.ident.span(), help));
    };
    if let Some(second) = found.next() {
        return Err(Error::new(second.span(), "a service has one address: remove one of the two `#[service(...)]`"));
    }
    attribute.parse_args()
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let method: Ident =
            input.parse().map_err(|error| Error::new(error.span(), "a method is expected first: `GET \"/path\"`"))?;
        if !METHODS.iter().any(|known| method == known) {
            let known = METHODS.join(", ");
            return Err(Error::new(method.span(), format!("`{method}` is no method a service can have: {known}")));
        }
        let path = input
            .parse()
            .map_err(|error| Error::new(error.span(), format!("a path in quotes is expected: `{method} \"/path\"`")))?;
        let mut declaration = Self { method, path, body: None, cross_origin: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            declaration.option(input)?;
        }
        Ok(declaration)
    }
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl Declaration {
    fn option(&mut self, input: ParseStream<'_>) -> Result<()> {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        if name == "body" {
            self.body = Some(input.parse()?);
        } else if name == "cross_origin" {
            self.cross_origin = Some(input.parse()?);
        } else {
            let help = format!("`{name}` is unknown here: `body = BYTES` or `cross_origin = \"reason\"`");
            return Err(Error::new(name.span(), help));
        }
        Ok(())
    }

    fn has_body(&self) -> bool {
        self.method != "GET"
    }
}

fn parameters(input: &DeriveInput, pattern: &Pattern) -> Result<Vec<Parameter>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a service is a struct: its fields are its parameters"));
    };
    match &data.fields {
        Fields::Named(fields) => fields.named.iter().map(|field| parameter(field, pattern)).collect(),
        Fields::Unit => Ok(Vec::new()),
        Fields::Unnamed(fields) => {
            Err(Error::new(fields.span(), "the fields of a service need names: they are the names of its parameters"))
        }
    }
}

fn parameter(field: &Field, pattern: &Pattern) -> Result<Parameter> {
    let name = field.ident.clone().expect("only named fields come here");
    let text = name.to_string().trim_start_matches("r#").to_owned();
    let source = match (source(field, &text)?, pattern.position(&text)) {
        (None, Some(position)) => Source::Path(position),
        (None, None) => Source::Query { name: text, default: None },
        (Some((_, source)), None) => source,
        (Some((span, _)), Some(_)) => {
            return Err(Error::new(span, format!("`{text}` is in the path already: remove this attribute")));
        }
    };
    Ok(Parameter { name, kind: field.ty.clone(), source })
}

/// What the attribute of a field says, and where it says so.
fn source(field: &Field, name: &str) -> Result<Option<(Span, Source)>> {
    let mut found = None;
    for attribute in &field.attrs {
        let path = attribute.path();
        let source = if path.is_ident("form") {
            Source::Form { name: name.to_owned() }
        } else if path.is_ident("json") {
            Source::Json
        } else if path.is_ident("header") {
            let name: LitStr = attribute
                .parse_args()
                .map_err(|error| Error::new(error.span(), "name the header field: `#[header(\"accept-language\")]`"))?;
            lower_case(&name)?;
            Source::Header(name)
        } else if path.is_ident("query") {
            Source::Query { name: name.to_owned(), default: default(attribute)? }
        } else {
            continue;
        };
        if found.is_some() {
            return Err(Error::new(attribute.span(), "a field is read from one place: remove one of its attributes"));
        }
        found = Some((attribute.span(), source));
    }
    Ok(found)
}

fn lower_case(name: &LitStr) -> Result<()> {
    let text = name.value();
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if !text.is_empty() && text.bytes().all(fits) {
        return Ok(());
    }
    Err(Error::new(name.span(), "a header name is written in lower case here, such as \"accept-language\""))
}

fn default(attribute: &syn::Attribute) -> Result<Option<Box<Expr>>> {
    if matches!(attribute.meta, syn::Meta::Path(_)) {
        return Ok(None);
    }
    attribute.parse_args_with(|input: ParseStream<'_>| {
        let name: Ident = input.parse()?;
        if name != "default" {
            return Err(Error::new(name.span(), format!("`{name}` is unknown here: `#[query(default = expression)]`")));
        }
        input.parse::<Token![=]>()?;
        input.parse().map(Some)
    })
}

fn check(declaration: &Declaration, pattern: &Pattern, parameters: &[Parameter]) -> Result<()> {
    let taken = |position| parameters.iter().any(|one| matches!(one.source, Source::Path(at) if at == position));
    let names: Vec<&str> = pattern.names().collect();
    for (position, name) in names.iter().enumerate() {
        if !taken(position) {
            let help = format!("the path has `{{{name}}}`, and the struct has no field `{name}`");
            return Err(Error::new(declaration.path.span(), help));
        }
    }
    if names.len() > MAX_PATH_PARAMETERS {
        let help = format!("a path has at most {MAX_PATH_PARAMETERS} parameters; these are {}", names.len());
        return Err(Error::new(declaration.path.span(), help));
    }
    let mut body: Option<&Parameter> = None;
    for parameter in parameters.iter().filter(|one| matches!(one.source, Source::Form { .. } | Source::Json)) {
        if !declaration.has_body() {
            let help = "a GET service has no body: leave the attribute out to read from the query, or make it POST";
            return Err(Error::new(parameter.name.span(), help));
        }
        let alone = |one: &Parameter| matches!(one.source, Source::Json);
        if body.is_some_and(|other| alone(other) || alone(parameter)) {
            let help = "the body is JSON for one field, or a form for several, and not both";
            return Err(Error::new(parameter.name.span(), help));
        }
        body = Some(parameter);
    }
    Ok(())
}

fn write(input: &DeriveInput, declaration: &Declaration, pattern: &Pattern, parameters: &[Parameter]) -> TokenStream {
    let name = &input.ident;
    let route = route(name, declaration, parameters);
    let fields = parameters.iter().map(read);
    let link = link(pattern, parameters, &|name| quote!(&self.#name));
    let link_trait = (declaration.method == "GET").then(|| links(name));
    let form = form(input, declaration, pattern, parameters);
    quote! {
        #[automatically_derived]
        impl ::skep::service::Service for #name {
            const ROUTE: &'static ::skep::service::Route = #route;

            fn parse(input: &::skep::service::Input<'_>) -> ::skep::Result<Self> {
                ::core::result::Result::Ok(Self { #(#fields),* })
            }

            fn write_link(&self, link: &mut ::skep::service::Link<'_>) {
                #link
            }
        }
        #form
        #link_trait
        const _: fn() = || {
            fn has_a_handler<S: ::skep::service::Handle>() {}
            has_a_handler::<#name>();
        };
    }
}

fn route(name: &Ident, declaration: &Declaration, parameters: &[Parameter]) -> TokenStream {
    let (method, path) = (&declaration.method, &declaration.path);
    let service = name.to_string();
    let query = parameters.iter().filter_map(|parameter| {
        let Source::Query { name, default } = &parameter.source else { return None };
        let kind = &parameter.kind;
        let required = match default {
            Some(_) => quote!(false),
            None => quote!(<#kind as ::skep::param::Field>::REQUIRED),
        };
        Some(quote!(::skep::service::QueryParameter { name: #name, required: #required }))
    });
    let body = if parameters.iter().any(|one| matches!(one.source, Source::Json)) {
        quote!(Json)
    } else if parameters.iter().any(|one| matches!(one.source, Source::Form { .. })) {
        quote!(Form)
    } else {
        quote!(Unread)
    };
    let limit = option(declaration.body.as_ref());
    let cross_origin = option(declaration.cross_origin.as_ref());
    quote! {
        &::skep::service::Route {
            service: #service,
            method: ::skep::Method::#method,
            pattern: #path,
            query: &[#(#query),*],
            body: ::skep::service::BodyKind::#body,
            body_limit: #limit,
            cross_origin: #cross_origin,
        }
    }
}

fn option(value: Option<&impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn read(parameter: &Parameter) -> TokenStream {
    let Parameter { name, kind, source } = parameter;
    let text = name.to_string();
    // What does not fit is said at the type that does not fit.
    let at = kind.span().resolved_at(Span::call_site());
    let value = match source {
        Source::Path(position) => quote_spanned!(at=> input.path::<#kind>(#position, #text)?),
        Source::Query { name, default: None } => quote_spanned!(at=> input.query::<#kind>(#name)?),
        Source::Query { name, default: Some(default) } => {
            quote_spanned!(at=> input.query::<::core::option::Option<#kind>>(#name)?.unwrap_or_else(|| #default))
        }
        Source::Form { name } => quote_spanned!(at=> input.form::<#kind>(#name)?),
        Source::Json => quote_spanned!(at=> input.json::<#kind>(#text)?),
        Source::Header(name) => quote_spanned!(at=> input.header::<#kind>(#name)?),
    };
    quote!(#name: #value)
}

/// Statements that write the link, from the values that `value` names.
fn link(pattern: &Pattern, parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let path = path(pattern, parameters, value);
    let query: Vec<TokenStream> = parameters.iter().filter_map(|parameter| query(parameter, value)).collect();
    if query.is_empty() {
        return path;
    }
    quote! {
        #path
        let mut query = link.query();
        #(#query)*
    }
}

fn path(pattern: &Pattern, parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let parts = pattern.parts().iter().map(|part| match part {
        Part::Literal(text) => quote!(link.literal(#text);),
        Part::Segment(position) | Part::Tail(position) => {
            let write = format_ident!("{}", if matches!(part, Part::Tail(_)) { "tail" } else { "segment" });
            let parameter = parameters.iter().find(|one| matches!(one.source, Source::Path(at) if at == *position));
            let value = value(&parameter.expect("checked: the path's parameters are fields").name);
            quote!(link.#write(#value);)
        }
    });
    quote!(#(#parts)*)
}

fn query(parameter: &Parameter, value: &dyn Fn(&Ident) -> TokenStream) -> Option<TokenStream> {
    let Source::Query { name, default } = &parameter.source else { return None };
    let value = value(&parameter.name);
    let kind = &parameter.kind;
    let at = kind.span().resolved_at(Span::call_site());
    let write = quote_spanned!(at=> <#kind as ::skep::param::Field>::write(#value, #name, &mut query););
    Some(match default {
        // One address for one page: a default is not written.
        Some(default) => quote!(if *#value != #default { #write }),
        None => write,
    })
}

/// A GET service may stand in `href`, by value and by reference.
fn links(name: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::skep::html::Href for #name {
            fn write_href(&self, out: &mut ::skep::html::Buffer) {
                ::skep::service::write_href(self, out);
            }
        }
        #[automatically_derived]
        impl ::skep::html::Href for &#name {
            fn write_href(&self, out: &mut ::skep::html::Buffer) {
                ::skep::service::write_href(*self, out);
            }
        }
    }
}

/// `Name::form(...)`, from the parameters that are not the form's own inputs.
fn form(input: &DeriveInput, declaration: &Declaration, pattern: &Pattern, parameters: &[Parameter]) -> TokenStream {
    let method = match declaration.method.to_string().as_str() {
        "GET" => "get",
        "POST" => "post",
        // HTML's forms know no other methods (HTML, 4.10.18.6).
        _ => return TokenStream::new(),
    };
    let (name, visibility) = (&input.ident, &input.vis);
    let is_asked = |one: &&Parameter| match one.source {
        Source::Path(_) => true,
        Source::Query { .. } => method == "post",
        _ => false,
    };
    let arguments = parameters.iter().filter(is_asked).map(|Parameter { name, kind, .. }| quote!(#name: #kind));
    let value = |name: &Ident| quote!(&#name);
    let write = if method == "post" { link(pattern, parameters, &value) } else { path(pattern, parameters, &value) };
    let documentation = format!("Where a form that leads to [`{name}`] goes.");
    quote! {
        #[automatically_derived]
        impl #name {
            #[doc = #documentation]
            #[allow(dead_code, clippy::needless_pass_by_value)]
            #[must_use]
            #visibility fn form(#(#arguments),*) -> ::skep::service::FormTarget {
                ::skep::service::FormTarget::new(#method, |link| { #write })
            }
        }
    }
}

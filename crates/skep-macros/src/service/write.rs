//! Generates the implementation of a parsed service.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Ident};

use super::declaration::Declaration;
use super::form::{fields, form};
use super::guards;
use super::interface::{answer, interface};
use super::linked;
use super::parameters::{Parameter, ParameterSource};
use super::pattern::{PathPart, Pattern};
use crate::field;

pub(super) fn service(
    input: &DeriveInput,
    declaration: &Declaration,
    pattern: &Pattern,
    parameters: &[Parameter],
) -> TokenStream {
    let name = &input.ident;
    let route = route(name, declaration, parameters);
    let fields = fields(declaration, parameters);
    let headers = parameters.iter().filter_map(|parameter| match &parameter.source {
        ParameterSource::Header(name) => Some(name),
        _ => None,
    });
    let link = link(pattern, parameters, &|name| quote!(&self.#name));
    let link_trait = (declaration.method == "GET").then(|| links(name));
    let form = form(input, declaration, pattern, parameters);
    let linked = linked::link_type(input, declaration, pattern, parameters);
    let default = linked::default(input, declaration, parameters);
    let served =
        if declaration.external { external(name, parameters) } else { served(input, declaration, pattern, parameters) };
    quote! {
        #[automatically_derived]
        impl ::skep::service::Service for #name {
            const ROUTE: &'static ::skep::service::Route = #route;
            const FIELDS: &'static [::skep::form::FieldInfo] = &[#(#fields),*];
            const HEADERS: &'static [&'static str] = &[#(#headers),*];

            fn write_link(&self, link: &mut ::skep::service::Link<'_>) {
                #link
            }
        }
        #served
        #form
        #link_trait
        #linked
        #default
    }
}

/// The part of a service that is mounted.
fn served(input: &DeriveInput, declaration: &Declaration, pattern: &Pattern, parameters: &[Parameter]) -> TokenStream {
    let name = &input.ident;
    let interface = interface(input, declaration, pattern, parameters);
    let answer = answer(name, declaration);
    let (values, checks) = (guards::values(input, parameters), guards::checks(name, declaration, parameters));
    let parse = parse(declaration, parameters, pattern);
    let page = page(declaration, parameters, pattern);
    let listed = (!declaration.optional).then(|| quote!(::skep::__declare_service!(#name);));
    quote! {
        #values
        #[automatically_derived]
        impl ::skep::service::Served for #name {
            #checks
            #parse
            #page
            #interface
        }
        #answer
        const _: () = {
            // Reports an invalid field type at the declaration, not only where the service is mounted.
            let _ = <#name as ::skep::service::Service>::FIELDS;
            #listed
        };
    }
}

/// Uses the fields of an external service: not constructing or reading it is no mistake.
fn external(name: &Ident, parameters: &[Parameter]) -> TokenStream {
    let fields: Vec<&Ident> = parameters.iter().map(|parameter| &parameter.name).collect();
    let kinds = parameters.iter().map(|parameter| &parameter.kind);
    quote! {
        const _: () = {
            #[allow(dead_code, clippy::too_many_arguments)]
            fn make(#(#fields: #kinds),*) -> #name {
                #name { #(#fields),* }
            }
            #[allow(dead_code)]
            fn read(value: #name) {
                #(let _ = value.#fields;)*
            }
        };
    }
}

fn route(name: &Ident, declaration: &Declaration, parameters: &[Parameter]) -> TokenStream {
    let (method, path) = (&declaration.method, &declaration.path);
    let service = name.to_string();
    let query = parameters.iter().filter_map(|parameter| {
        let ParameterSource::Query { name, default } = &parameter.source else { return None };
        let kind = &parameter.kind;
        let required = match default {
            Some(_) => quote!(false),
            None => quote!(<#kind as ::skep::param::Field>::REQUIRED),
        };
        Some(quote!(::skep::service::QueryParameter { name: #name, required: #required }))
    });
    let secrets = parameters.iter().filter_map(|Parameter { name, kind, source, .. }| {
        let name = match source {
            ParameterSource::Path(_) => field::name(name),
            ParameterSource::Query { name, .. } => name.clone(),
            _ => return None,
        };
        let is_read_as_field = declaration.method == "GET" && matches!(source, ParameterSource::Query { .. });
        Some(if is_read_as_field {
            quote!((#name, <#kind as ::skep::param::Field>::IS_SECRET))
        } else {
            quote!((#name, ::skep::param::is_secret::<#kind>()))
        })
    });
    let once = option(
        declaration.once.as_ref().map(|(_, seconds)| quote!(::core::time::Duration::from_secs(#seconds))).as_ref(),
    );
    let body = if parameters.iter().any(|one| matches!(one.source, ParameterSource::Json)) {
        quote!(::skep::service::BodyKind::Json)
    } else if declaration.once.is_some()
        || parameters.iter().any(|one| matches!(one.source, ParameterSource::Form { .. }))
    {
        quote!(::skep::form::body_of(<Self as ::skep::service::Service>::FIELDS))
    } else {
        quote!(::skep::service::BodyKind::Unread)
    };
    let prefix =
        declaration.prefix.as_ref().map_or_else(|| quote!(::skep::link::Prefix::NONE), |prefix| quote!(#prefix));
    let when = option(declaration.when.as_ref().map(|(name, value)| quote!((#name, #value))).as_ref());
    let from_query = declaration.from_query.is_some();
    let limit = option(declaration.body.as_ref());
    let cross_origin = option(declaration.cross_origin.as_ref());
    let open = option(declaration.open.as_ref());
    let answers_json = declaration.answers.is_some();
    quote! {
        &::skep::service::Route {
            service: #service,
            method: ::skep::Method::#method,
            prefix: ::skep::link::Prefix::as_str(#prefix),
            pattern: #path,
            query: &[#(#query),*],
            secrets: &[#(#secrets),*],
            when: #when,
            from_query: #from_query,
            body: #body,
            body_limit: #limit,
            cross_origin: #cross_origin,
            answers_json: #answers_json,
            once: #once,
            open: #open,
            source: (::core::file!(), ::core::line!()),
        }
    }
}

pub(super) fn option(value: Option<&impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Path, query and header are parsed first: without a valid URL there is no form to show again.
fn parse(declaration: &Declaration, parameters: &[Parameter], pattern: &Pattern) -> TokenStream {
    let input = input();
    let is_form = |one: &&Parameter| matches!(one.source, ParameterSource::Form { .. });
    let guards = Ident::new("guards", Span::mixed_site());
    let others = parameters.iter().filter(|one| !is_form(one) && !one.is_guard()).map(|one| {
        let (variable, value) = (variable(one), read(one, pattern));
        quote!(let #variable = #value?;)
    });
    let read_forms = parameters.iter().filter(is_form).map(|one| {
        let (variable, value) = (variable(one), read(one, pattern));
        quote!(let #variable = #value;)
    });
    let forms: Vec<Ident> = parameters.iter().filter(is_form).map(variable).collect();
    let judge = (!forms.is_empty()).then(|| {
        quote! {
            let (#(::core::option::Option::Some(#forms),)*) = (#(#forms,)*) else {
                return ::core::result::Result::Err(#input.refused());
            };
        }
    });
    let fields = parameters.iter().map(|one| {
        let (name, variable) = (&one.name, variable(one));
        if one.is_guard() { quote!(#name: #guards.#name) } else { quote!(#name: #variable) }
    });
    let service = Ident::new("service", Span::mixed_site());
    let garde = declaration.garde.map(|at| quote_spanned!(at=> ::skep::__judge_by_garde!(&#service, &mut refusal);));
    let rules = declaration.rules.as_ref().map(|rules| quote!((#rules)(&#service, &mut refusal);));
    let rules = (garde.is_some() || rules.is_some()).then(|| {
        quote! {
            let mut refusal = ::skep::form::Refusal::<Self>::new();
            #garde
            #rules
            refusal.judge()?;
        }
    });
    quote! {
        #[allow(unused_variables)]
        fn parse(#input: &::skep::service::Input<'_>, #guards: Self::Guards) -> ::skep::Result<Self> {
            #(#others)*
            #(#read_forms)*
            #judge
            let #service = Self { #(#fields),* };
            #rules
            ::core::result::Result::Ok(#service)
        }
    }
}

/// The expression of the author sees path and query parameters by name, and no variables of ours.
fn page(declaration: &Declaration, parameters: &[Parameter], pattern: &Pattern) -> Option<TokenStream> {
    let page = declaration.page.as_ref()?;
    let (input, cx) = (input(), Ident::new("cx", Span::mixed_site()));
    let shown = Ident::new("shown", Span::mixed_site());
    let seen =
        parameters.iter().filter(|one| matches!(one.source, ParameterSource::Path(_) | ParameterSource::Query { .. }));
    let seen = seen.map(|one| {
        let (name, value) = (&one.name, read(one, pattern));
        quote!(let #name = #value?;)
    });
    let seen: Vec<TokenStream> = seen.collect();
    Some(quote! {
        #[allow(unused_variables)]
        fn page_url(#input: &::skep::service::Input<'_>) -> ::skep::Result<::core::option::Option<::std::string::String>> {
            #(#seen)*
            let #shown = #page;
            ::core::result::Result::Ok(::core::option::Option::Some(::skep::service::FormPage::address(&#shown)))
        }

        #[allow(unused_variables)]
        fn show_page<'c>(
            #input: &::skep::service::Input<'_>,
            #cx: &'c mut ::skep::Cx<'_>,
        ) -> ::skep::Result<::core::option::Option<::skep::service::ResponseFuture<'c>>> {
            #(#seen)*
            let #shown = #page;
            ::core::result::Result::Ok(::core::option::Option::Some(::std::boxed::Box::pin(async move {
                let #shown = ::skep::service::FormPage::admitted(#shown, #cx).await?;
                ::skep::service::Handle::handle(#shown, #cx).await
            })))
        }
    })
}

fn input() -> Ident {
    Ident::new("input", Span::mixed_site())
}

fn variable(parameter: &Parameter) -> Ident {
    field::variable(&parameter.name)
}

/// The expression that parses a parameter: a `Result`, or an `Option` for a form field.
fn read(parameter: &Parameter, pattern: &Pattern) -> TokenStream {
    let Parameter { name, kind, source, .. } = parameter;
    let (text, input, at) = (field::name(name), input(), field::span(kind));
    match source {
        ParameterSource::Path(position) if pattern.is_tail(*position) => {
            quote_spanned!(at=> #input.tail::<#kind>(#position, #text))
        }
        ParameterSource::Path(position) => quote_spanned!(at=> #input.path::<#kind>(#position, #text)),
        ParameterSource::Query { name, default: None } => quote_spanned!(at=> #input.query::<#kind>(#name)),
        ParameterSource::Query { name, default: Some(default) } => {
            quote_spanned!(at=> #input.query_or::<#kind>(#name, || #default))
        }
        ParameterSource::Form { name } => quote_spanned!(at=> #input.form::<#kind>(#name)),
        ParameterSource::Json => quote_spanned!(at=> #input.json::<#kind>()),
        ParameterSource::Header(name) => quote_spanned!(at=> #input.header::<#kind>(#name)),
        ParameterSource::Guard { .. } => unreachable!("a guard is no part of the request"),
    }
}

/// Statements that write the link, from the expressions that `value` returns.
pub(super) fn link(pattern: &Pattern, parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let path = parts(&pattern.parts, parameters, value);
    let when = pattern.when.as_ref().map(|(name, value)| quote!(query.fixed(#name, #value);));
    let query: Vec<TokenStream> = parameters.iter().filter_map(|parameter| query(parameter, value)).collect();
    if query.is_empty() && when.is_none() {
        return path;
    }
    quote! {
        #path
        let mut query = link.query();
        #when
        #(#query)*
    }
}

/// Statements that write the path of a GET form, whose fields become the query.
pub(super) fn path(pattern: &Pattern, parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    parts(&pattern.without_suffix(), parameters, value)
}

fn parts(parts: &[PathPart], parameters: &[Parameter], value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let value = |position: usize| {
        let parameter = parameters.iter().find(|one| matches!(one.source, ParameterSource::Path(at) if at == position));
        value(&parameter.expect("checked: the path's parameters are fields").name)
    };
    let statements = parts.iter().map(|part| match part {
        PathPart::Prefix(prefix) => quote!(link.literal(::skep::link::Prefix::as_str(#prefix));),
        PathPart::Literal(text) => quote!(link.literal(#text);),
        PathPart::Segment(position) => {
            let value = value(*position);
            quote!(link.segment(#value);)
        }
        PathPart::Tail(position) => {
            let value = value(*position);
            quote!(link.tail(#value);)
        }
    });
    quote!(#(#statements)*)
}

fn query(parameter: &Parameter, value: &dyn Fn(&Ident) -> TokenStream) -> Option<TokenStream> {
    let ParameterSource::Query { name, default } = &parameter.source else { return None };
    let value = value(&parameter.name);
    let kind = &parameter.kind;
    let at = field::span(kind);
    let write = quote_spanned!(at=> <#kind as ::skep::param::Field>::write(#value, #name, &mut query););
    Some(match default {
        // Each page has one URL: a default is omitted.
        Some(default) => quote!(if *#value != #default { #write }),
        None => write,
    })
}

/// A GET service can be linked to.
pub(super) fn links(name: &Ident) -> TokenStream {
    let href = href(name);
    quote! {
        #[automatically_derived]
        impl ::skep::link::Destination for #name {
            fn write_url(&self, out: &mut ::std::string::String) {
                ::skep::service::Service::write_link(self, &mut ::skep::service::Link::new(out));
            }
        }
        #href
    }
}

/// A destination can be the value of `href`, by value and by reference.
pub(super) fn href(name: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::skep::html::Href for #name {
            fn write_href(&self, out: &mut ::skep::html::Buffer) {
                ::skep::html::Buffer::push_encoded(out, |url| ::skep::link::Destination::write_url(self, url));
            }
        }
        #[automatically_derived]
        impl ::skep::html::Href for &#name {
            fn write_href(&self, out: &mut ::skep::html::Buffer) {
                ::skep::html::Buffer::push_encoded(out, |url| ::skep::link::Destination::write_url(*self, url));
            }
        }
    }
}

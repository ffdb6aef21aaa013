//! `derive(Service)`.
//!
//! Parses the declaration ([`Declaration`], [`Parameter`]), reporting errors at the tokens that cause them, and then
//! generates the implementation ([`write`]).

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

use self::declaration::Declaration;
use self::parameters::{Parameter, ParameterSource};
use self::pattern::Pattern;
use crate::field::wrong;

mod declaration;
mod form;
mod guards;
mod interface;
mod linked;
mod parameters;
mod pattern;
mod write;

/// Equal to `skep::service::MAX_PATH_PARAMETERS`.
const MAX_PATH_PARAMETERS: usize = 8;

/// An invalid declaration still implements the traits, so that it causes no further errors.
pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    understand(&input).unwrap_or_else(|error| {
        let (name, error) = (&input.ident, error.to_compile_error());
        let links = write::links(name);
        quote! {
            #error
            impl ::skep::service::Service for #name {
                const ROUTE: &'static ::skep::service::Route = &::skep::service::Route::NONE;

                fn write_link(&self, _: &mut ::skep::service::Link<'_>) {}
            }
            impl ::skep::service::Served for #name {
                type Guards = ();
                const GUARDS: &'static [::skep::guard::GuardInfo] = &[];

                async fn admit(_: &mut ::skep::Cx<'_>) -> ::skep::Result<()> {
                    ::core::unreachable!()
                }

                fn unguarded() -> ::core::option::Option<()> {
                    ::core::unreachable!()
                }

                fn parse(_: &::skep::service::Input<'_>, (): ()) -> ::skep::Result<Self> {
                    ::core::unreachable!()
                }
            }
            #links
        }
    })
}

fn understand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return wrong(&input.generics, "a service cannot have generic parameters");
    }
    let declaration = Declaration::of(input)?;
    let pattern = Pattern::of(&declaration)?;
    let parameters = parameters::parameters(input, &pattern)?;
    check(&declaration, &pattern, &parameters)?;
    Ok(write::service(input, &declaration, &pattern, &parameters))
}

fn check(declaration: &Declaration, pattern: &Pattern, parameters: &[Parameter]) -> Result<()> {
    let taken =
        |position| parameters.iter().any(|one| matches!(one.source, ParameterSource::Path(at) if at == position));
    let names = &pattern.names;
    for (position, name) in names.iter().enumerate() {
        if !taken(position) {
            return wrong(
                &declaration.path,
                format!("the path has `{{{name}}}`, but the struct has no field `{name}`"),
            );
        }
    }
    if names.len() > MAX_PATH_PARAMETERS {
        let help = format!("a path has at most {MAX_PATH_PARAMETERS} parameters, not {}", names.len());
        return wrong(&declaration.path, help);
    }
    let unread = |one: &&Parameter| {
        matches!(one.source, ParameterSource::Json | ParameterSource::Header(_) | ParameterSource::Guard { .. })
    };
    if let Some(parameter) = parameters.iter().filter(|_| declaration.external).find(unread) {
        return wrong(&parameter.name, "an external service has only path, query and form fields");
    }
    if let Some((name, _)) = &declaration.when
        && let Some(taken) =
            parameters.iter().find(|one| matches!(&one.source, ParameterSource::Query { name: own, .. } if own == name))
    {
        return wrong(&taken.name, format!("`{name}` has a fixed value from `when`, so it cannot be a parameter"));
    }
    forms(declaration, parameters)?;
    let mut body: Option<&Parameter> = None;
    for parameter in
        parameters.iter().filter(|one| matches!(one.source, ParameterSource::Form { .. } | ParameterSource::Json))
    {
        if !declaration.has_body() {
            let help =
                "a GET service has no body: remove the attribute to read from the query, or change the method to POST";
            return wrong(&parameter.name, help);
        }
        let alone = |one: &Parameter| matches!(one.source, ParameterSource::Json);
        if body.is_some_and(|other| alone(other) || alone(parameter)) {
            return wrong(
                &parameter.name,
                "a body is read into one `#[json]` field or into `#[form]` fields, not both",
            );
        }
        body = Some(parameter);
    }
    if let Some((text, _)) = &declaration.once
        && let Some(json) = parameters.iter().find(|one| matches!(one.source, ParameterSource::Json))
    {
        let help = format!("`once = \"{}\"` is for forms: a JSON request has no hidden field", text.value());
        return wrong(&json.name, help);
    }
    Ok(())
}

/// Checks options that need a form, and the reserved field name.
fn forms(declaration: &Declaration, parameters: &[Parameter]) -> Result<()> {
    let is_form = |one: &&Parameter| matches!(one.source, ParameterSource::Form { .. });
    let is_input = |one: &&Parameter| {
        is_form(one) || !declaration.has_body() && matches!(one.source, ParameterSource::Query { .. })
    };
    if let Some(taken) = parameters.iter().filter(is_input).find(|one| one.name == "form") {
        let help = "a field of a form cannot be named `form`, because `Name::form` is the form of the service";
        return wrong(&taken.name, help);
    }
    if let Some(taken) = parameters.iter().filter(|_| !declaration.has_body()).find(|one| one.name == "link") {
        let help = "a field of a GET service cannot be named `link`, because `Name::link` makes a link to the service";
        return wrong(&taken.name, help);
    }
    let has_form = declaration.once.is_some() || parameters.iter().any(|one| is_form(&one));
    if let Some(page) = declaration.page.as_ref().filter(|_| !has_form) {
        return wrong(page, "`page` needs `#[form]` fields: it shows their form again");
    }
    Ok(())
}

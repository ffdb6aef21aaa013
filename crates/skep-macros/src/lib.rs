//! The compile-time half of skep. Documented where it is re-exported: in `skep`.
#![allow(missing_docs, reason = "documented where they are re-exported")]

use proc_macro::TokenStream;

mod account;
mod assets;
mod field;
mod group;
mod handler;
mod log;
mod param;
mod service;
mod settings;

/// Implements [`Service`](trait.Service.html) for a struct: its route, how its fields are parsed, and its link.
///
/// ```text
/// #[derive(Service)]
/// #[service(POST "/writings/{page}/comments", body = "64KiB")]
/// struct Comment {
///     page: Slug,                          // in the path, because the path names it
///     #[query(default = false)] quiet: bool, // in the query, as is every field without an attribute
///     #[form] author: String,              // in the form
///     #[header("accept-language")] language: Option<String>,
/// }
/// ```
///
/// | on the struct | means |
/// |---|---|
/// | `GET "/path/{field}/{*rest}"` | method and path; `{*rest}` matches the rest of the path, slashes included |
/// | `body = "64KiB"` | maximum size of the body, instead of the configured limit; also a number of bytes |
/// | `page = Article { page }` | the GET service whose page holds the form; it is shown again if validation fails. The expression may name path and query parameters |
/// | `rules = Self::rules` | a `fn(&Self, &mut Refusal<Self>)` that validates the fields together: [`Refusal`](form/struct.Refusal.html) |
/// | `once = "2h"` | a submission is accepted once, within this duration after its form was shown |
/// | `cross_origin = "reason"` | forms of other sites may reach this service |
/// | `answers = Type` | a JSON response: implement [`Answer`](service/trait.Answer.html) instead of `Handle` |
/// | `status = 201` | the status of the JSON response, instead of 200 (204 for `answers = ()`) |
/// | `api = false` | omits the service from the OpenAPI document; `true` includes a service without JSON |
///
/// | on a field | it is read from |
/// |---|---|
/// | nothing, and the path names it | that segment of the path |
/// | nothing, or `#[query]` | the query; `Option` and `Vec` as in [`Field`](param/trait.Field.html) |
/// | `#[query(default = expression)]` | the query, or this value; a link leaves it out where it equals it |
/// | `#[form]` | the form in the body; its type is a [`FormField`](form/trait.FormField.html) |
/// | `#[json]` | the whole body, as JSON (`serde::Deserialize`) |
/// | `#[header("name")]` | the header field |
///
/// For GET and POST it also generates `Name::form(...)`, the [`Form`](form/struct.Form.html) that submits to this
/// service, and a constant `Name::field` for each field of the form, which controls name. The form of a POST service
/// takes the request (`cx`), then the path and query parameters. The form of a GET service takes only the path
/// parameters: its inputs become the query.
#[proc_macro_derive(Service, attributes(service, query, form, json, header, guard, state))]
pub fn derive_service(input: TokenStream) -> TokenStream {
    service::derive(syn::parse_macro_input!(input as syn::DeriveInput)).into()
}

/// A service as a function: [`Service`](trait.Service.html) and [`Handle`](trait.Handle.html) in one, with the options
/// of [`derive(Service)`](derive.Service.html). [`Response::csv`](struct.Response.html#method.csv) has a whole example.
///
/// ```text
/// /// Cancels a booking.
/// #[handler(POST "/courses/{id}/cancel")]
/// pub async fn Cancel(cx: &mut Cx<'_>, id: i64, #[guard] user: Signed<User>) -> Result {
///     // ...
///     Ok(Response::see_other(Show::link(id)))
/// }
/// ```
///
/// The function becomes a struct of its name, which is written as that of a type: `services![Cancel]`,
/// `Cancel::form(cx, id)`, and in a page `a href=(Show::link(id))`. The parameters behind the request are its fields,
/// with the same attributes, and as visible as the function is; those with `#[guard]`, `#[state]` and `#[header]` are
/// private. `-> Result` and `-> Result<Response>` are a response; `-> Result<T>` sends `T` as JSON, without
/// `answers = T`, which only a type under another name needs.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, input: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(input as syn::ItemFn);
    handler::expand(arguments.into(), &function).into()
}

/// For `skep-people`, where it is documented.
#[proc_macro_derive(Account, attributes(account, row))]
pub fn derive_account(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    account::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

#[proc_macro_derive(Param, attributes(param))]
pub fn derive_param(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    param::derive(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

#[proc_macro_derive(Group, attributes(group))]
pub fn derive_group(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    group::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Embeds a folder in the executable; documented as `skep::assets`.
#[proc_macro]
pub fn assets(input: TokenStream) -> TokenStream {
    assets::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

#[proc_macro_derive(Settings, attributes(settings, setting))]
pub fn derive_settings(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    settings::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives a type a category in the log; documented at `skep::log`.
#[proc_macro_derive(Log, attributes(log))]
pub fn derive_log(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    log::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

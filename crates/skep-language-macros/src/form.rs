//! The framework's own messages, from the texts whose ids begin with `skep-`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

/// Fields of `skep::form::Messages` without arguments.
const PLAIN: [&str; 16] = [
    "missing",
    "repeated",
    "not_one_line",
    "control_characters",
    "not_email",
    "not_url",
    "not_number",
    "not_whole",
    "not_date",
    "not_time",
    "not_date_time",
    "not_choice",
    "expired",
    "no_cookie",
    "spent",
    "conflict",
];

/// Those that are functions, and the names of their arguments.
const FUNCTIONS: [(&str, &[&str]); 9] = [
    ("too_short", &["min"]),
    ("too_long", &["max", "length"]),
    ("too_small", &["min"]),
    ("too_large", &["max"]),
    ("too_precise", &["places"]),
    ("file_kind", &["accept"]),
    ("expected", &["expected"]),
    ("time_left_out", &["from", "to"]),
    ("time_twice", &["time"]),
];

/// The arguments of what is wrong with parameters and bodies, and of what was wanted: fields in `skep_language`.
const INPUT: [&str; 4] = ["kind", "name", "value", "expected"];
const WANTED: [&str; 3] = ["kind", "first", "last"];

/// A `match` with the messages of each language: functions without state, as `Messages` needs them.
pub(crate) fn write(variants: &[Ident], tags: &[&str]) -> TokenStream {
    let input: Vec<Ident> = INPUT.iter().map(|name| format_ident!("{name}")).collect();
    let wanted: Vec<Ident> = WANTED.iter().map(|name| format_ident!("{name}")).collect();
    let arms = variants.iter().zip(tags).map(|(variant, tag)| {
        let plain = PLAIN.iter().map(|field| {
            let (field, text) = (format_ident!("{field}"), format_ident!("skep_{field}"));
            quote!(#field: ftl::#text {}.text(Self::#variant))
        });
        let functions = FUNCTIONS.iter().map(|(field, arguments)| {
            let (field, text) = (format_ident!("{field}"), format_ident!("skep_{field}"));
            let arguments: Vec<Ident> = arguments.iter().map(|name| format_ident!("{name}")).collect();
            quote! {
                #field: |#(#arguments),*| ftl::#text {
                    #(#arguments: ::skep_language::ToArgument::to_argument(&#arguments)),*
                }.text(Self::#variant)
            }
        });
        quote! {
            Self::#variant => ::skep::form::Messages {
                language: #tag,
                to_first_page: ftl::skep_to_first_page {}.text(Self::#variant),
                #(#plain,)*
                #(#functions,)*
                file_too_large: |limit| ftl::skep_file_too_large {
                    limit: ::skep_language::ToArgument::to_argument(&::skep_language::file_size(Self::#variant, limit)),
                }.text(Self::#variant),
                changed: |now| match now {
                    "" => ftl::skep_changed__empty {}.text(Self::#variant).to_owned(),
                    _ => ftl::skep_changed { now: ::skep_language::ToArgument::to_argument(&now) }.text(Self::#variant),
                },
                input: |error, messages| ftl::skep_input {
                    #(#input: ::skep_language::ToArgument::to_argument(&::skep_language::input(error, messages).#input)),*
                }.text(Self::#variant),
                wanted: |expected| ftl::skep_wanted {
                    #(#wanted: ::skep_language::ToArgument::to_argument(&::skep_language::wanted(expected).#wanted)),*
                }.text(Self::#variant),
                error: |status| {
                    let title = ftl::skep_error__title { status: ::skep_language::ToArgument::to_argument(&status) };
                    let text = ftl::skep_error { status: ::skep_language::ToArgument::to_argument(&status) };
                    (title.text(Self::#variant).into(), text.text(Self::#variant).into())
                },
            }
        }
    });
    quote!(match self { #(#arms,)* })
}

//! The compile-time half of skep. Documented where it is re-exported: in `skep`.

mod migrations;
mod row;

use proc_macro::TokenStream;

/// Embeds the SQL files of a folder, given relative to the crate's `Cargo.toml`, as `skep::sql::Migrations`.
///
/// The files are named `0001_name.sql`: four digits, an underline, then small letters, digits and underlines. Another
/// name, or a number that two files have, does not compile.
///
/// ```ignore
/// const MIGRATIONS: skep::sql::Migrations = skep::sql::migrations!("migrations");
/// ```
#[proc_macro]
pub fn migrations(input: TokenStream) -> TokenStream {
    migrations::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Reads each field of a struct from the column of its name; `#[row(column = "name")]` names another.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    row::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

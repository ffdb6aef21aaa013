//! `sql!`, `derive(Row)` and `migrations!`: SQLite itself checks statements while the application is compiled.
//! Documented where they are re-exported: in `skep-sql`.
//!
//! Each is there for `skep-sql` and for `skep`; `src/home.rs` says why. Nothing of it is linked into an application.
#![allow(missing_docs, reason = "documented where it is re-exported")]

use proc_macro::TokenStream;

use crate::home::Home;

mod access;
mod check;
mod columns;
mod companion;
mod directive;
mod home;
mod infer;
mod input;
mod migrations;
mod package;
mod page;
mod parameter;
mod postgres;
mod row;
mod schema;
mod stand_in;
mod statement;
mod stored;
mod text;
mod typed;
mod write;

#[proc_macro]
pub fn sql(input: TokenStream) -> TokenStream {
    checked(Home::Sql, input)
}

#[proc_macro]
pub fn sql_of_skep(input: TokenStream) -> TokenStream {
    checked(Home::Skep, input)
}

fn checked(home: Home, input: TokenStream) -> TokenStream {
    expand(home, input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand(home: Home, input: proc_macro2::TokenStream) -> syn::Result<proc_macro2::TokenStream> {
    let parser = |input: syn::parse::ParseStream<'_>| input::Input::of(home, package::dialect(), input);
    match columns::expand(home, input)? {
        columns::Expanded::Asks(call) => Ok(call),
        columns::Expanded::Input(input, structs) => {
            statement::expand(&input::Input { structs, ..syn::parse::Parser::parse2(parser, input)? })
        }
    }
}

/// Embeds the SQL files of a folder, given relative to the crate's `Cargo.toml`, as `Migrations`.
///
/// The files are named `0001_name.sql`: four digits, an underscore, then lower-case letters, digits and underscores.
/// Another name or a duplicate number does not compile. A folder `postgres` inside has the files for PostgreSQL, named
/// in the same way.
///
/// ```ignore
/// const MIGRATIONS: Migrations = migrations!("migrations");
/// ```
#[proc_macro]
pub fn migrations(input: TokenStream) -> TokenStream {
    embedded(Home::Sql, input)
}

/// Embeds the SQL files of a folder, given relative to the crate's `Cargo.toml`, as `skep::sql::Migrations`.
///
/// The files are named `0001_name.sql`: four digits, an underscore, then lower-case letters, digits and underscores.
/// Another name or a duplicate number does not compile. A folder `postgres` inside has the files for PostgreSQL, named
/// in the same way.
///
/// ```ignore
/// const MIGRATIONS: skep::sql::Migrations = skep::sql::migrations!("migrations");
/// ```
#[proc_macro]
pub fn migrations_of_skep(input: TokenStream) -> TokenStream {
    embedded(Home::Skep, input)
}

fn embedded(home: Home, input: TokenStream) -> TokenStream {
    migrations::expand(home, input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Reads each field of a struct from the column of the same name; `#[row(column = "name")]` names another.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    derived(Home::Sql, input)
}

/// Reads each field of a struct from the column of the same name; `#[row(column = "name")]` names another.
#[proc_macro_derive(RowOfSkep, attributes(row))]
pub fn row_of_skep(input: TokenStream) -> TokenStream {
    derived(Home::Skep, input)
}

fn derived(home: Home, input: TokenStream) -> TokenStream {
    row::expand(home, input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

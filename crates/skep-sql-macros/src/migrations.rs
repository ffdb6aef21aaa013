//! `migrations!`: embeds the SQL files of a folder, in order.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream};
use quote::quote;
use skep_sql_lock::{FILE, FOLDER};
use syn::{Error, LitStr};

use crate::home::Home;

pub(crate) fn expand(home: Home, input: TokenStream) -> syn::Result<TokenStream> {
    let folder: LitStr = syn::parse2(input)?;
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let sqlite = of_folder(home, &root, &folder.value()).map_err(|text| Error::new(folder.span(), text))?;
    let below = format!("{}/{FOLDER}", folder.value());
    if !root.join(&below).is_dir() {
        return Ok(sqlite);
    }
    let postgres = of_folder(home, &root, &below).map_err(|text| Error::new(folder.span(), text))?;
    Ok(quote!(#sqlite.with_postgres(const { &#postgres })))
}

/// An expression with the migrations of a folder, which is given relative to the root.
fn of_folder(home: Home, root: &Path, folder: &str) -> Result<TokenStream, String> {
    let home = home.path(Span::call_site());
    let numbered = numbered(names(&root.join(folder))?)?;
    let migrations = numbered.iter().map(|(number, name)| {
        let path = format!("/{folder}/{name}");
        // `include_str!` makes Cargo rebuild when a file changes.
        quote! {
            #home::Migration::new(
                #number, #name, ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #path)),
            )
        }
    });
    let below = format!("/{folder}");
    Ok(quote! {
        #home::Migrations::new(const { &[#(#migrations),*] })
            .from_folder(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #below))
    })
}

/// The sorted names of the files in a folder, without hidden files, the folder for PostgreSQL and the lock file in
/// that.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let unreadable = |error| format!("the folder {} cannot be read: {error}", folder.display());
    let mut names = Vec::new();
    for file in fs::read_dir(folder).map_err(unreadable)? {
        let name = file.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && name != FOLDER && name != FILE {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The files with their numbers, in order.
fn numbered(names: Vec<String>) -> Result<Vec<(u32, String)>, String> {
    let mut numbered: Vec<(u32, String)> = Vec::new();
    for name in names {
        let number = number(&name).ok_or_else(|| {
            format!("invalid migration name `{name}`: expected four digits, `_`, then `a` to `z`, `0` to `9` and `_`, such as `0001_posts.sql`")
        })?;
        if let Some((_, before)) = numbered.last().filter(|(last, _)| *last == number) {
            return Err(format!("`{before}` and `{name}` have the same number; give one of them another"));
        }
        numbered.push((number, name));
    }
    Ok(numbered)
}

fn number(name: &str) -> Option<u32> {
    let (digits, rest) = name.strip_suffix(".sql")?.split_once('_')?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let digits_fit = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let rest_fits = !rest.is_empty() && rest.bytes().all(is_plain);
    if digits_fit && rest_fits { digits.parse().ok().filter(|&number| number > 0) } else { None }
}

#[cfg(test)]
#[path = "../tests/unit/migrations.rs"]
mod tests;

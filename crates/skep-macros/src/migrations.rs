//! `migrations!`: the SQL files of a folder, embedded in their order.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, LitStr};

pub(crate) fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let folder: LitStr = syn::parse2(input)?;
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let names = names(&root.join(folder.value())).map_err(|text| Error::new(folder.span(), text))?;
    let numbered = numbered(names).map_err(|text| Error::new(folder.span(), text))?;
    let migrations = numbered.iter().map(|(number, name)| {
        let path = format!("/{}/{name}", folder.value());
        // The compiler notes each file that is included, and Cargo builds anew when one changes.
        quote! {
            ::skep::sql::Migration::new(
                #number, #name, ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #path)),
            )
        }
    });
    let below = format!("/{}", folder.value());
    Ok(quote! {
        ::skep::sql::Migrations::new(const { &[#(#migrations),*] })
            .from_folder(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #below))
    })
}

/// The names of the files in a folder. Those that begin with a dot belong to editors and the like.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let unreadable = |error| format!("the folder {} cannot be read: {error}", folder.display());
    let mut names = Vec::new();
    for file in fs::read_dir(folder).map_err(unreadable)? {
        let name = file.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Each with its number, in order.
fn numbered(names: Vec<String>) -> Result<Vec<(u32, String)>, String> {
    let mut numbered: Vec<(u32, String)> = Vec::new();
    for name in names {
        let number = number(&name).ok_or_else(|| {
            format!("`{name}` is no name for a migration; one is `0001_posts.sql`: four digits, `_`, then `a` to `z`, `0` to `9` and `_`")
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
mod tests {
    use super::*;

    fn check(names: &[&str]) -> Result<Vec<(u32, String)>, String> {
        numbered(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn files_are_taken_in_the_order_of_their_numbers() {
        let expected = [(1, "0001_posts.sql".to_owned()), (10, "0010_tags_2.sql".to_owned())];
        assert_eq!(check(&["0001_posts.sql", "0010_tags_2.sql"]).unwrap(), expected);
    }

    #[test]
    fn a_name_of_another_form_is_an_error_that_shows_the_form() {
        for name in [
            "posts.sql",
            "1_posts.sql",
            "0000_posts.sql",
            "0001_Posts.sql",
            "0001_.sql",
            "0001_posts.txt",
            "+001_x.sql",
        ] {
            let error = check(&[name]).unwrap_err();
            assert!(error.starts_with(&format!("`{name}` is no name")) && error.contains("0001_posts.sql"), "{error}");
        }
    }

    #[test]
    fn two_files_with_one_number_are_both_named() {
        let error = check(&["0001_a.sql", "0001_b.sql"]).unwrap_err();
        assert!(error.starts_with("`0001_a.sql` and `0001_b.sql` have the same number"), "{error}");
    }
}

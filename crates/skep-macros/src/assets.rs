//! `assets!`: embeds a folder in the executable, with a constant for each file.
//!
//! Reads the folder at compile time. Contents are included with `include_bytes!`, so that Cargo rebuilds when a file
//! changes. In debug builds, the executable also knows where the folder is, and serves what is in it by then.

mod pack;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use skep_units::percent_encoded;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitStr, Result, Token, Visibility};

use crate::field::wrong;

/// A deeper nesting is taken for a cycle of symlinks.
const MAX_DEPTH: usize = 32;

/// The maximum size of a compressed copy, in per cent of the file.
const WORTHWHILE_PERCENT: usize = 95;

/// Extensions of compressed formats, which are not compressed again.
const PACKED: &[&str] = &[
    "7z", "aac", "apng", "avif", "br", "bz2", "docx", "epub", "flac", "gif", "gz", "heic", "jpeg", "jpg", "jxl", "m4a",
    "m4v", "mkv", "mov", "mp3", "mp4", "odp", "ods", "odt", "ogg", "oga", "ogv", "opus", "pdf", "png", "pptx", "weba",
    "webm", "webp", "woff", "woff2", "xlsx", "zip", "zst",
];

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    match syn::parse2(input)? {
        Input::Folder(folder) => {
            let files = embedded(&folder, "")?;
            let (count, on_disk) = (files.len(), on_disk(&folder));
            Ok(quote! {{
                static FILES: [::skep::files::EmbeddedFile; #count] = [#(#files),*];
                ::skep::files::Assets::of(::core::option::Option::None, #on_disk, &FILES)
            }})
        }
        Input::Named(named) => named.expand(),
    }
}

/// The arguments of the macro.
enum Input {
    /// `"static"`: an expression.
    Folder(LitStr),
    /// `pub Static = "static" at "/static"`: an item.
    Named(Named),
}

struct Named {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    folder: LitStr,
    prefix: LitStr,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Folder(input.parse()?));
        }
        let attributes = input.call(Attribute::parse_outer)?;
        let (visibility, name) = (input.parse()?, input.parse()?);
        input.parse::<Token![=]>()?;
        let folder = input.parse()?;
        let at: Ident = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "expected `at \"/prefix\"`: where the files are mounted"))?;
        if at != "at" {
            return wrong(&at, "expected `at`");
        }
        let prefix: LitStr = input.parse()?;
        let value = prefix.value();
        if !value.is_empty() && (!value.starts_with('/') || value.ends_with('/')) {
            return wrong(&prefix, "a prefix must start with a slash and must not end with one (\"\" for the root)");
        }
        Ok(Self::Named(Named { attributes, visibility, name, folder, prefix }))
    }
}

impl Named {
    fn expand(&self) -> Result<TokenStream> {
        let Self { attributes, visibility, name, folder, prefix } = self;
        let files = embedded(folder, &prefix.value())?;
        let constants = self.constants(&files)?;
        let (count, on_disk) = (files.len(), on_disk(folder));
        let about =
            format!("The files of `{}`, inside the executable and served at `{}`.", folder.value(), prefix.value());
        Ok(quote! {
            #(#attributes)*
            #[doc = #about]
            #[derive(Clone, Copy, Debug)]
            #visibility struct #name;

            const _: () = {
                static FILES: [::skep::files::EmbeddedFile; #count] = [#(#files),*];

                #[allow(dead_code, reason = "a file may be there without a link to it")]
                impl #name {
                    #(#constants)*

                    /// All files.
                    #visibility const fn assets() -> ::skep::files::Assets {
                        ::skep::files::Assets::of(::core::option::Option::Some(#prefix), #on_disk, &FILES)
                    }

                    /// All files, to mount.
                    #visibility fn files() -> ::skep::files::Files {
                        Self::assets().into()
                    }
                }

                impl ::core::convert::From<#name> for ::skep::files::Files {
                    fn from(_: #name) -> Self {
                        #name::files()
                    }
                }
            };
        })
    }

    /// A constant for each file. Two files with the same constant are an error.
    fn constants(&self, files: &[File]) -> Result<Vec<TokenStream>> {
        let mut taken: HashMap<String, &str> = HashMap::new();
        let mut constants = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let constant = constant(&file.name);
            if let Some(other) = taken.insert(constant.clone(), &file.name) {
                let text = format!(
                    "`{other}` and `{}` would both be `{}::{constant}`: rename one of them",
                    file.name, self.name
                );
                return wrong(&self.folder, text);
            }
            let (visibility, constant) = (&self.visibility, Ident::new(&constant, self.name.span()));
            let about = format!("`{}`, {} bytes.", file.name, file.content.len());
            constants.push(quote! {
                #[doc = #about]
                #visibility const #constant: ::skep::files::Asset = ::skep::files::Asset::of(&FILES[#index]);
            });
        }
        Ok(constants)
    }
}

/// `css/site.min.css` is `CSS_SITE_MIN_CSS`: upper case, and `_` for all that is neither an ASCII letter nor a digit;
/// with a leading `_` where it would start with a digit or be a single `_`.
fn constant(name: &str) -> String {
    let upper = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let constant: String = name.chars().map(upper).collect();
    let needs_more = constant.starts_with(|first: char| first.is_ascii_digit()) || constant == "_";
    if needs_more { format!("_{constant}") } else { constant }
}

/// A file with its content.
struct File {
    name: String,
    /// Relative to the package.
    path: String,
    hashed_name: String,
    url: String,
    hash: String,
    content: Vec<u8>,
}

/// Where the folder is, for debug builds; the profile of the crate that calls the macro decides. A component has no
/// disk.
fn on_disk(folder: &LitStr) -> TokenStream {
    let path = format!("/{}", folder.value().trim_end_matches('/'));
    quote! {
        if ::core::cfg!(all(debug_assertions, not(target_family = "wasm"))) {
            ::core::option::Option::Some(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #path))
        } else {
            ::core::option::Option::None
        }
    }
}

/// All files below the folder, sorted by name, without hidden files.
fn embedded(folder: &LitStr, prefix: &str) -> Result<Vec<File>> {
    let fail = |text: String| syn::Error::new(folder.span(), text);
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| fail("CARGO_MANIFEST_DIR is not set".to_owned()))?;
    let value = folder.value();
    let value = value.trim_end_matches('/');
    let root = Path::new(&package).join(value);
    if !root.is_dir() {
        return Err(fail(format!("no folder `{value}` next to this package's Cargo.toml")));
    }
    let mut names = Vec::new();
    collect(&root, "", 0, &mut names).map_err(fail)?;
    names.sort();
    let mut files = Vec::with_capacity(names.len());
    for name in &names {
        let content =
            fs::read(root.join(name)).map_err(|error| fail(format!("`{value}/{name}` cannot be read: {error}")))?;
        let file = File::new(name, format!("/{value}/{name}"), prefix, content);
        if names.binary_search(&file.hashed_name).is_ok() {
            return Err(fail(format!("`{}` is the hashed name of `{name}`: remove or rename it", file.hashed_name)));
        }
        files.push(file);
    }
    Ok(files)
}

fn collect(root: &Path, below: &str, depth: usize, names: &mut Vec<String>) -> std::result::Result<(), String> {
    let folder = root.join(below);
    let unreadable = |error| format!("`{below}` cannot be read: {error}");
    if depth > MAX_DEPTH {
        return Err(format!("`{below}` is nested too deep: is it a circle of symlinks?"));
    }
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let name = name
            .to_str()
            .ok_or_else(|| format!("`{}` in `{below}` is not UTF-8, so no link can name it", name.display()))?;
        if name.starts_with('.') {
            continue;
        }
        if name.contains('\\') {
            return Err(format!("`{below}{name}` has a backslash in its name and would never be served"));
        }
        let path = format!("{below}{name}");
        let real = fs::canonicalize(root.join(&path)).map_err(|error| format!("`{path}` cannot be read: {error}"))?;
        if !fs::canonicalize(root).is_ok_and(|root| real.starts_with(root)) {
            return Err(format!("`{path}` is a symlink that leads out of the folder"));
        }
        match fs::metadata(&real) {
            Ok(found) if found.is_dir() => collect(root, &format!("{path}/"), depth + 1, names)?,
            Ok(found) if found.is_file() => names.push(path),
            _ => return Err(format!("`{path}` is neither a file nor a folder")),
        }
    }
    Ok(())
}

impl File {
    fn new(name: &str, path: String, prefix: &str, content: Vec<u8>) -> Self {
        let hash = format!("{:016x}", hash(&content));
        let hashed_name = hashed_name(name, &hash[..8]);
        let url = format!("{prefix}/{}", percent_encoded(&hashed_name));
        Self { name: name.to_owned(), path, hashed_name, url, hash, content }
    }

    /// The compressed content, if it is small enough.
    fn packed(&self, pack: impl Fn(&[u8]) -> Option<Vec<u8>>) -> TokenStream {
        let extension = self.name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        if !PACKED.contains(&extension.as_str())
            && let Some(packed) = pack(&self.content)
            && packed.len() * 100 <= self.content.len() * WORTHWHILE_PERCENT
        {
            let packed = Literal::byte_string(&packed);
            return quote!(::core::option::Option::Some(#packed));
        }
        quote!(::core::option::Option::None)
    }
}

impl quote::ToTokens for File {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { name, path, hashed_name, url, hash, .. } = self;
        let (brotli, gzip) = (self.packed(pack::brotli), self.packed(pack::gzip));
        let path = LitStr::new(path, Span::call_site());
        tokens.extend(quote! {
            ::skep::files::EmbeddedFile {
                name: #name,
                hashed_name: #hashed_name,
                url: #url,
                hash: #hash,
                bytes: ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #path)),
                brotli: #brotli,
                gzip: #gzip,
            }
        });
    }
}

/// `css/style.css` and `3f2a9c1b` give `css/style.3f2a9c1b.css`.
fn hashed_name(name: &str, hash: &str) -> String {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (&name[..=folder.len()], file));
    match file.rsplit_once('.') {
        Some((stem, extension)) => format!("{folder}{stem}.{hash}.{extension}"),
        None => format!("{folder}{file}.{hash}"),
    }
}

/// 128-bit FNV-1a, folded to 64 bits. Independent of compiler and machine, so that all nodes of a cluster use the
/// same names. It protects against accidents, not against the author of the files.
fn hash(content: &[u8]) -> u64 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    let hash = content.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    #[expect(clippy::cast_possible_truncation, reason = "folding keeps the lower half on purpose")]
    let folded = (hash ^ (hash >> 64)) as u64;
    folded
}

#[cfg(test)]
#[path = "../tests/unit/assets.rs"]
mod tests;

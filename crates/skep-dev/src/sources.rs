//! Which files make the application, and what a change of one of them asks for.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use crate::package::Package;

/// What a change asks for, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// The browser fetches style sheets again.
    Style,
    /// The browser loads the page again.
    Asset,
    /// The server reads its settings again.
    Settings,
    /// The compiler.
    Source,
}

/// Files of packages that are always watched for, beside those that the compiler read.
const MANIFESTS: [&str; 5] = ["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain.toml", "clippy.toml"];

/// What counts before the compiler has said what it reads.
const EXTENSIONS: [&str; 10] = ["css", "ftl", "html", "js", "json", "md", "rs", "sql", "svg", "toml"];

/// The files of an application.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// What the compiler has read, folders of build scripts included.
    files: HashSet<PathBuf>,
    /// Where a new file may be one of them.
    folders: HashSet<PathBuf>,
    /// The folders of `assets!`, if the application reads them.
    assets: Vec<PathBuf>,
    settings: PathBuf,
    roots: Vec<PathBuf>,
}

impl Sources {
    /// Before the first build. `here` is where the application runs.
    pub(crate) fn new(package: &Package, here: &Path) -> Self {
        Self { settings: here.join("skep.toml"), roots: package.roots.clone(), ..Self::default() }
    }

    /// Reads what cargo notes beside the executable: every file of this package and of those that it has by a path.
    pub(crate) fn read(&mut self, package: &Package, executable: &Path, reads_assets: bool) {
        let Ok(noted) = fs::read_to_string(executable.with_extension("d")) else { return };
        self.files = noted_files(&noted).map(|file| package.workspace.join(file)).collect();
        let is_root = |folder: &&Path| package.roots.iter().any(|root| root == folder);
        let parents = self.files.iter().filter_map(|file| file.parent()).filter(|folder| !is_root(folder));
        let own = self.files.iter().map(PathBuf::as_path).filter(|file| file.is_dir());
        self.folders = parents.chain(own).map(Path::to_owned).collect();
        self.assets = if reads_assets { self.find_assets(package) } else { Vec::new() };
    }

    /// What a change of this file asks for; none if it is no file of the application.
    pub(crate) fn change(&self, file: &Path) -> Option<Change> {
        let name = file.file_name()?.to_str()?;
        // What editors leave beside a file.
        if name.starts_with('.') || name.ends_with('~') || name == "4913" {
            return None;
        }
        if file == self.settings {
            return Some(Change::Settings);
        }
        if self.files.contains(file) && file.is_file() && self.assets.iter().any(|folder| file.starts_with(folder)) {
            let is_style = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("css"));
            return Some(if is_style { Change::Style } else { Change::Asset });
        }
        // A debug build reads texts again when they change.
        if self.files.contains(file) && file.is_file() && file.extension().is_some_and(|extension| extension == "ftl") {
            return Some(Change::Asset);
        }
        let parent = file.parent()?;
        let is_known = self.files.contains(file) || self.folders.contains(parent) || MANIFESTS.contains(&name);
        let may_be =
            self.files.is_empty() && file.extension().is_some_and(|own| EXTENSIONS.iter().any(|one| own == *one));
        (is_known || may_be).then_some(Change::Source)
    }

    /// The number of files that are watched, and the names of the packages they are in.
    pub(crate) fn describe(&self) -> String {
        let names: Vec<_> = self.roots.iter().filter_map(|root| root.file_name()?.to_str()).collect();
        let noun = if self.files.len() == 1 { "file" } else { "files" };
        format!("{} {noun} of {}", self.files.len(), names.join(", "))
    }

    /// The folders that `assets!` names in the source.
    fn find_assets(&self, package: &Package) -> Vec<PathBuf> {
        let is_rust = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "rs");
        let mut found = Vec::new();
        for file in self.files.iter().filter(is_rust) {
            let Some(root) =
                package.roots.iter().filter(|root| file.starts_with(root)).max_by_key(|root| root.as_os_str().len())
            else {
                continue;
            };
            let text = fs::read_to_string(file).unwrap_or_default();
            // Most files have none, and need no lexer.
            if text.contains("assets!")
                && let Ok(tokens) = text.parse()
            {
                let mut folders = Vec::new();
                asset_folders(tokens, &mut folders);
                found.extend(folders.into_iter().map(|folder| root.join(folder.trim_end_matches('/'))));
            }
        }
        found
    }
}

/// The files of `target: file file`, with blanks escaped by a backslash.
fn noted_files(noted: &str) -> impl Iterator<Item = String> {
    let lines = noted.lines().filter_map(|line| line.split_once(": ")).map(|(_, files)| files.to_owned());
    lines.flat_map(|files| {
        let files = files.replace("\\ ", "\u{0}");
        let files: Vec<String> = files.split_whitespace().map(|file| file.replace('\u{0}', " ")).collect();
        files
    })
}

/// The first text in the arguments of each `assets!`.
fn asset_folders(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let is_named = |back: usize, name: &str| at >= back && tokens[at - back].to_string() == name;
        if is_named(1, "!") && is_named(2, "assets") {
            let literals = group.stream().into_iter().filter_map(|token| match token {
                TokenTree::Literal(literal) => Some(literal.to_string()),
                _ => None,
            });
            found.extend(literals.map(|text| text.trim_matches('"').to_owned()).next());
        } else {
            asset_folders(group.stream(), found);
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/sources.rs"]
mod tests;

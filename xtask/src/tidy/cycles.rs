//! Import cycles inside a crate.
//!
//! The files of a strongly connected component can only be read, moved and tested together, so a component has at most
//! [`LARGEST`] files. `cargo xtask tidy --cycles [CRATE]` prints each component with the imports that tie it together,
//! those first without which it would fall apart most.
//!
//! A module that names its own submodule owns it; that is how Rust is written, and no import. The other direction, a
//! submodule that names its parent (`super::`), is one. [`modules`] says which paths count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Complaint;
use super::modules::{self, Import, Modules};
use super::source::{Source, Tree};

/// Files of one component.
const LARGEST: usize = 8;

/// The crates of the product.
fn crates(tree: &Tree) -> BTreeSet<&str> {
    let paths = tree.paths.iter().filter_map(|path| path.strip_prefix("crates/"));
    paths.filter_map(|path| path.split('/').next()).filter(|name| tree.has(&format!("crates/{name}/src"))).collect()
}

fn imports(tree: &Tree, name: &str) -> (usize, Vec<Import>) {
    let modules = Modules::read(tree, &format!("crates/{name}/src"));
    let imports = modules.imports().into_iter().filter(|import| !owns(&import.from, &import.to)).collect();
    (modules.files().count(), imports)
}

/// Whether the second file is a submodule, at any depth, of the first.
fn owns(parent: &str, child: &str) -> bool {
    parent.strip_suffix(".rs").and_then(|folder| child.strip_prefix(folder)).is_some_and(|rest| rest.starts_with('/'))
}

/// No component is larger than allowed.
pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    crates(tree).into_iter().filter_map(|name| complaint(tree, name)).collect()
}

fn complaint(tree: &Tree, name: &str) -> Option<Complaint> {
    let (_, imports) = imports(tree, name);
    let largest = modules::cycles(&imports).first().map_or(0, BTreeSet::len);
    let text = || {
        format!(
            "a cycle of imports ties {largest} files together; {LARGEST} at most (`cargo xtask tidy --cycles {name}`)"
        )
    };
    (largest > LARGEST).then(|| Source::new(format!("crates/{name}/src/lib.rs"), "").complaint(1, text()))
}

/// All components of the crates of this name, or of all, for a person.
pub(crate) fn report(tree: &Tree, only: Option<&str>) -> Result<String, String> {
    let crates: Vec<_> = crates(tree).into_iter().filter(|name| only.is_none_or(|only| only == *name)).collect();
    if crates.is_empty() {
        return Err(format!("there is no folder crates/{}/src", only.unwrap_or_default()));
    }
    Ok(crates.iter().map(|name| of_crate(tree, name)).collect())
}

fn of_crate(tree: &Tree, name: &str) -> String {
    let (files, imports) = imports(tree, name);
    let cycles = modules::cycles(&imports);
    let sizes: Vec<_> = cycles.iter().map(|cycle| cycle.len().to_string()).collect();
    let mut text = format!("{name}: {files} files; components of {}\n", or_none(&sizes.join(", ")));
    for cycle in &cycles {
        let inside: Vec<_> =
            imports.iter().filter(|import| cycle.contains(&import.from) && cycle.contains(&import.to)).collect();
        let _ = writeln!(text, "\n  {} files, {} imports:", cycle.len(), inside.len());
        let mut by_gain: BTreeMap<(usize, &str, usize), &Import> = BTreeMap::new();
        for import in &inside {
            by_gain.insert((largest_without(&inside, import), &import.from, import.line), import);
        }
        for ((left, ..), import) in by_gain {
            let Import { from, to, line, path } = import;
            let gain = if left < cycle.len() { format!("   [without it: {left}]") } else { String::new() };
            let _ = writeln!(text, "    {}:{line} -> {}   {path}{gain}", short(from, name), short(to, name));
        }
    }
    text.push('\n');
    text
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "no" } else { text }
}

fn short<'a>(path: &'a str, name: &str) -> &'a str {
    path.strip_prefix("crates/")
        .and_then(|path| path.strip_prefix(name))
        .map_or(path, |path| path.trim_start_matches("/src/"))
}

/// How many files the largest component has without this import.
fn largest_without(imports: &[&Import], without: &Import) -> usize {
    modules::cycles(imports.iter().copied().filter(|import| *import != without)).first().map_or(1, BTreeSet::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let sources: Vec<_> = files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
        Tree { paths: sources.iter().map(|source| source.path.clone()).collect(), sources }
    }

    /// A crate with a circle of this many files.
    fn circle(files: usize) -> Tree {
        let names: Vec<_> = (0..files).map(|number| format!("crates/new/src/m{number}.rs")).collect();
        let texts: Vec<_> = (0..files).map(|number| format!("use crate::m{};", (number + 1) % files)).collect();
        tree(&names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect::<Vec<_>>())
    }

    #[test]
    fn eight_files_may_import_each_other_and_nine_may_not() {
        assert_eq!(complaints(&circle(8)).len(), 0);
        assert_eq!(complaints(&circle(9)).len(), 1);
    }

    #[test]
    fn a_parent_owns_its_submodules() {
        let tree = tree(&[
            ("crates/new/src/a.rs", "mod b; use b::B; fn f() { crate::a::b::c() }"),
            ("crates/new/src/a/b.rs", "use super::A;"),
        ]);
        assert_eq!(report(&tree, Some("new")).unwrap(), "new: 2 files; components of no\n\n");
    }

    #[test]
    fn the_report_names_what_ties_files_together() {
        let text = report(&circle(2), None).unwrap();
        assert!(text.contains("    m0.rs:1 -> m1.rs   crate::m1   [without it: 1]\n"), "{text}");
        assert!(report(&circle(2), Some("other")).unwrap_err().contains("crates/other/src"));
    }
}

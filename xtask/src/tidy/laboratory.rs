//! The laboratory (`tools`) depends on the product, and never the other way round: nothing that a user compiles, and no
//! test of it, needs a file of `tools`.

use super::Complaint;
use super::source::Source;

const LABORATORY: &str = "tools/";

/// No manifest and no module of the product names a path into the laboratory.
pub(super) fn is_not_named(source: &Source) -> Vec<Complaint> {
    let is_manifest = source.file_name() == "Cargo.toml";
    if !is_of_the_product(&source.path) || !(is_manifest || source.is_rust()) {
        return Vec::new();
    }
    let leads_there = |line: &str| {
        let path = path(line, is_manifest)?;
        below(&source.path, path).filter(|path| path.starts_with(LABORATORY))
    };
    let complain = |(number, line)| {
        let path = leads_there(line)?;
        let text = format!("{path} is of the laboratory; what tests of the product need is in crates/testing");
        Some(source.complaint(number, text))
    };
    source.lines().filter_map(complain).collect()
}

fn is_of_the_product(path: &str) -> bool {
    path == "Cargo.toml" || ["crates/", "examples/", "xtask/"].iter().any(|top| path.starts_with(top))
}

/// What stands behind `path =`, in a manifest or in the attribute of a module.
fn path(line: &str, is_manifest: bool) -> Option<&str> {
    let line = line.trim_start();
    let (_, rest) = if is_manifest { line.split_once("path = \"") } else { line.split_once("#[path = \"") }?;
    rest.split('"').next()
}

/// A path from the root of the repository, of one that is relative to the folder of a file.
fn below(file: &str, path: &str) -> Option<String> {
    let mut parts: Vec<_> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn no_path_of_the_product_leads_into_the_laboratory() {
        let found = |path, text| lines(is_not_named, path, text);
        assert_eq!(found("Cargo.toml", "[a]\nb = { path = \"tools/b\" }\n"), [2]);
        assert_eq!(found("crates/a/Cargo.toml", "b = { path = \"../../tools/b\", version = \"1\" }\n"), [1]);
        assert_eq!(found("examples/a/Cargo.toml", "[dependencies.b]\npath = \"../../tools/b\"\n"), [2]);
        assert_eq!(found("xtask/Cargo.toml", "b = { path = \"../tools/b\" }\n"), [1]);
        assert_eq!(found("crates/a/tests/b.rs", "    #[path = \"../../../tools/b/src/c.rs\"]\nmod c;\n"), [1]);
    }

    #[test]
    fn other_paths_and_those_of_the_laboratory_are_right() {
        let found = |path, text| lines(is_not_named, path, text);
        assert_eq!(found("Cargo.toml", "b = { path = \"crates/testing/b\" }\n"), [0; 0]);
        assert_eq!(found("crates/a/Cargo.toml", "a = { path = \".\" }\nb = { path = \"../tools/b\" }\n"), [0; 0]);
        assert_eq!(found("tools/a/Cargo.toml", "b = { path = \"../b\" }\n"), [0; 0]);
        assert_eq!(found("crates/a/src/b.rs", "let path = \"tools/b\";\n"), [0; 0]);
    }
}

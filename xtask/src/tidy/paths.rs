//! Paths of the repository that documentation names in code marks: `like/this.rs`; and pages that comments name.

use std::path::Path;

use super::Complaint;
use super::source::{Source, Tree};

/// Records, which are as they were.
const HISTORY: &str = "docs/decisions/";

/// A path of the repository that the manual or a page at the root names is there: from the root if it begins with a
/// folder of the root, and otherwise, for a file of Rust, as the end of some path.
pub(super) fn exist(page: &Source, tree: &Tree) -> Vec<Complaint> {
    let is_read = !page.path.contains('/') || page.path.starts_with("docs/");
    if !page.is_markdown() || !is_read || page.path.starts_with(HISTORY) {
        return Vec::new();
    }
    let complain = |(line, path): (usize, &str)| {
        let text = format!("there is no `{path}` in the repository; mend or delete the path");
        (!is_there(path, tree)).then(|| page.complaint(line, text))
    };
    paths(page).filter_map(complain).collect()
}

/// A page of documentation that a comment of Rust names is there.
pub(super) fn pages_exist(source: &Source, tree: &Tree) -> Vec<Complaint> {
    let is_read = source.is_rust() && !source.is_test();
    let comments = source.lines().filter(|(_, line)| is_read && line.trim_start().starts_with("//"));
    let named = comments.flat_map(|(number, line)| pages(line).map(move |page| (number, page)));
    let gone = named.filter(|(_, page)| !tree.has(page));
    let complain = |(line, page)| source.complaint(line, format!("there is no page {page}; mend or delete its name"));
    gone.map(complain).collect()
}

fn pages(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '/' | '.' | '_' | '-'));
    words.map(|word| word.trim_end_matches('.')).filter(|word| word.starts_with("docs/") && is_of_kind(word, "md"))
}

/// What stands in code marks and reads as a path, with its line. Blocks of code are a user's own.
fn paths(page: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    let prose = page.lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    });
    prose.flat_map(|(number, line)| {
        let marked = line.split('`').skip(1).step_by(2).map(|text| text.trim_start_matches('…'));
        marked.filter(|text| is_path(text)).map(move |path| (number, path))
    })
}

fn is_path(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    text.contains('/') && !text.starts_with('.') && text.chars().all(is_plain)
}

fn is_of_kind(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|is| is == extension)
}

fn is_there(path: &str, tree: &Tree) -> bool {
    let path = path.trim_matches('/');
    let root = path.split('/').next().unwrap_or_default();
    if tree.has(root) {
        return tree.has(path);
    }
    let is_end = |known: &str| known.strip_suffix(path).is_some_and(|before| before.ends_with('/'));
    !is_of_kind(path, "rs") || tree.paths.iter().any(|known| is_end(known))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let paths = ["crates/skep/src/application/site/logged.rs", "docs/guides/run/top.md"].map(str::to_owned);
        let tree = Tree { sources: vec![Source::new(path, text)], paths: BTreeSet::from(paths) };
        exist(&tree.sources[0], &tree).iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn a_path_from_the_root_is_there() {
        let good = "`crates/skep/src`, `crates/skep/src/application/site/logged.rs` and `docs/guides/`";
        assert_eq!(lines("ARCHITECTURE.md", good), [0; 0]);
        assert_eq!(lines("docs/a.md", "`crates/skep/site.rs`\n\nand `docs/guides/top.md`"), [1, 3]);
    }

    #[test]
    fn a_file_of_rust_is_the_end_of_a_path() {
        assert_eq!(lines("README.md", "`site/logged.rs`, `…/logged.rs`"), [0; 0]);
        assert_eq!(lines("README.md", "`src/logged.rs`\n`…/log.rs`"), [1, 2]);
    }

    #[test]
    fn a_page_that_a_comment_names_is_there() {
        let of = |text: &str| {
            let paths = BTreeSet::from(["docs/guides/run/top.md".to_owned()]);
            let tree = Tree { sources: vec![Source::new("crates/skep/src/lib.rs", text)], paths };
            pages_exist(&tree.sources[0], &tree).len()
        };
        assert_eq!(of("/// `docs/guides/run/top.md` shows it (docs/guides/run/top.md).\nlet a = \"docs/a.md\";"), 0);
        assert_eq!(of("//! `docs/guides/top.md` shows it.\n// So does docs/top.md."), 2);
    }

    #[test]
    fn what_is_no_path_of_the_repository_is_left_alone() {
        let other = "`text/html`, `/-/live`, `crates/*/src`, `data/secret`\n\n```sh\ncat docs/none.md\n```\n";
        assert_eq!(lines("docs/a.md", other), [0; 0]);
        assert_eq!(lines("docs/decisions/a.md", "`crates/gone`"), [0; 0]);
    }
}

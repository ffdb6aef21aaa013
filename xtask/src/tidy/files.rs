//! What a source file is called, how it begins, and how long it may be.

use super::Complaint;
use super::source::{Source, Tree};

/// Lines of a file, with its tests.
const LONGEST: usize = 500;

/// Files that may be longer, each with its reason. A table may be long: it is read by looking something up in it.
const LONG: &[(&str, &str)] = &[];

/// Lines of a `lib.rs` that are neither blank nor comment.
const LONGEST_CONTENTS: usize = 120;

/// A file that is no test has at most [`LONGEST`] lines.
pub(super) fn length(source: &Source) -> Vec<Complaint> {
    let lines = source.text.lines().count();
    if !source.is_rust() || source.is_test() || lines <= LONGEST || is_exception(&source.path) {
        return Vec::new();
    }
    let text = format!(
        "{lines} lines; {LONGEST} at most: one noun to a file (a long table: name it in xtask's tidy/files.rs)"
    );
    vec![source.complaint(LONGEST + 1, text)]
}

fn is_exception(path: &str) -> bool {
    LONG.iter().any(|(long, _)| *long == path)
}

/// An exception is deleted with its reason.
pub(super) fn needless_exceptions(tree: &Tree) -> Vec<Complaint> {
    let is_long = |path| tree.source(path).is_some_and(|source| source.text.lines().count() > LONGEST);
    let here = Source::new("xtask/src/tidy/files.rs", "");
    let needless = LONG.iter().filter(|(path, _)| !is_long(path));
    needless.map(|(path, _)| here.complaint(1, format!("{path} may be long and is not; take it out of LONG"))).collect()
}

/// A module is `name.rs` beside `name/`.
pub(super) fn name(source: &Source) -> Vec<Complaint> {
    if source.file_name() != "mod.rs" {
        return Vec::new();
    }
    vec![source.complaint(1, "a file named mod.rs; a module is `name.rs` beside the folder `name`")]
}

/// A source file begins by saying what it is.
pub(super) fn module_doc(source: &Source) -> Vec<Complaint> {
    let first = source.text.lines().find(|line| !line.trim().is_empty());
    if !source.is_rust() || source.is_sample() || first.is_some_and(|line| line.starts_with("//!")) {
        return Vec::new();
    }
    vec![source.complaint(1, "the file does not say what it is; it begins with a line of `//!`")]
}

/// A crate's `lib.rs` is its table of contents.
pub(super) fn table_of_contents(source: &Source) -> Vec<Complaint> {
    let is_code = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = source.text.lines().filter(|line| is_code(line)).count();
    if !source.path.ends_with("src/lib.rs") || lines <= LONGEST_CONTENTS {
        return Vec::new();
    }
    let text = format!("{lines} lines of code; a lib.rs is a table of contents: {LONGEST_CONTENTS} at most");
    vec![source.complaint(1, text)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn a_file_of_five_hundred_lines_passes_and_one_more_does_not() {
        assert_eq!(lines(length, "crates/skep/src/a.rs", &"//\n".repeat(500)), [0; 0]);
        assert_eq!(lines(length, "crates/skep/src/a.rs", &"//\n".repeat(501)), [501]);
        assert_eq!(lines(length, "crates/skep/tests/a.rs", &"//\n".repeat(501)), [0; 0]);
        assert_eq!(lines(length, "docs/a.md", &"a\n".repeat(501)), [0; 0]);
    }

    #[test]
    fn an_exception_has_a_reason() {
        assert!(LONG.iter().all(|(path, reason)| Source::new(*path, "").is_rust() && !reason.is_empty()));
    }

    #[test]
    fn a_module_is_beside_its_folder() {
        assert_eq!(lines(name, "crates/skep/src/html.rs", ""), [0; 0]);
        assert_eq!(lines(name, "crates/skep/src/html/mod.rs", ""), [1]);
    }

    #[test]
    fn a_file_begins_by_saying_what_it_is() {
        assert_eq!(lines(module_doc, "src/a.rs", "\n//! What it is.\n\nuse b;"), [0; 0]);
        assert_eq!(lines(module_doc, "src/a.rs", "use b;\n"), [1]);
        assert_eq!(lines(module_doc, "src/a.rs", "// What it is.\n"), [1]);
        assert_eq!(lines(module_doc, "crates/skep/tests/compile-fail/a.rs", "use b;\n"), [0; 0]);
    }

    #[test]
    fn a_lib_rs_has_contents_and_no_chapters() {
        let docs = "//! Long.\n".repeat(300);
        assert_eq!(lines(table_of_contents, "crates/skep/src/lib.rs", &format!("{docs}pub mod a;\n")), [0; 0]);
        assert_eq!(lines(table_of_contents, "crates/skep/src/lib.rs", &"pub mod a;\n".repeat(121)), [1]);
        assert_eq!(lines(table_of_contents, "crates/skep/src/app.rs", &"pub mod a;\n".repeat(121)), [0; 0]);
    }
}

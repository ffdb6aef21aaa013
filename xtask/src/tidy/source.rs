//! The files of the tree, as the rules see them.

use std::collections::BTreeSet;
use std::fs;

use super::Complaint;
use super::tokens::Tokens;
use crate::command;

/// One text file.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) tokens: Tokens,
}

/// All files that git knows, or would know after `git add --all`.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
    /// The paths of all files, also of those that are not text.
    pub(crate) paths: BTreeSet<String>,
}

impl Source {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), tokens: Tokens::default() }
    }

    /// A complaint about a line of this file; lines are counted from 1.
    pub(crate) fn complaint(&self, line: usize, text: impl Into<String>) -> Complaint {
        Complaint { path: self.path.clone(), line, text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.extension() == Some("md")
    }

    /// Whether only tests or benches see this file.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
    }

    /// Whether this is a program that must not compile, or must compile with a warning: it is as it is for a reason.
    pub(crate) fn is_sample(&self) -> bool {
        self.path.contains("/tests/compile-")
    }

    pub(crate) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn extension(&self) -> Option<&str> {
        self.file_name().rsplit_once('.').map(|(_, extension)| extension)
    }

    /// The lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

impl Tree {
    pub(crate) fn read() -> Result<Self, String> {
        let listed = command::output("git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let root = command::root();
        let mut tree = Self { sources: Vec::new(), paths: BTreeSet::new() };
        for path in listed.split_terminator('\0') {
            // Skips a file that is deleted but still in the index, and a symbolic link to nowhere.
            let Ok(bytes) = fs::read(root.join(path)) else { continue };
            tree.paths.insert(path.to_owned());
            // What a link leads to is read where it is.
            if !root.join(path).is_symlink()
                && let Some(text) = text(bytes)
            {
                tree.sources.push(Source::new(path, text));
            }
        }
        Ok(tree)
    }

    /// Whether there is such a file, or a folder with files.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.range(folder.clone()..).next().is_some_and(|next| next.starts_with(&folder))
    }

    pub(crate) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.path == path)
    }
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_shows_what_only_tests_see() {
        assert!(Source::new("crates/skep/tests/files.rs", "").is_test());
        assert!(Source::new("crates/skep/src/content/files/tests.rs", "").is_test());
        assert!(!Source::new("crates/skep/src/features/test.rs", "").is_test());
        assert!(Source::new("crates/skep/tests/compile-fail/a.rs", "").is_sample());
    }

    #[test]
    fn a_folder_is_there_when_a_file_is_in_it() {
        let paths = BTreeSet::from(["docs/a.md".to_owned(), "docs-old".to_owned()]);
        let tree = Tree { sources: Vec::new(), paths };
        assert!(tree.has("docs") && tree.has("docs/a.md") && tree.has(""));
        assert!(!tree.has("doc") && !tree.has("docs/b.md"));
    }

    #[test]
    fn a_picture_is_no_text() {
        assert_eq!(text(vec![0x89, b'P', b'N', b'G']), None);
        assert_eq!(text(b"GIF\0".to_vec()), None);
    }
}

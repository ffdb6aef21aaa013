//! Words that the glossary replaces by standard terms, in comments, documentation, messages and names.

use super::Complaint;
use super::source::Source;

/// This list itself; records, which are as they were made; and an article that peers must serve byte for byte.
const LEFT_OUT: &[&str] =
    &["xtask/src/tidy/words.rs", "docs/decisions/", "tools/runs/", "tools/peers/markdown/article.md"];

/// A word or phrase in small letters, and the standard term. In names, a space stands for `_` too.
const WORDS: &[(&str, &str)] = &[
    ("kid", "child process"),
    ("kids", "child processes"),
    ("bell", "wake-up descriptor"),
    ("heritage", "worker handoff"),
    ("lessons", "the name of what was learned"),
    ("whoever", "who, or the role: client, caller, operator"),
    ("voided", "invalidated"),
    ("died young", "crash loop"),
    ("gets on with", "makes progress"),
    ("get on with", "make progress"),
    ("put back", "reset"),
    ("take up", "activate"),
    ("takes up", "activates"),
    ("told apart", "distinguished"),
    ("as new", "reset"),
    ("anew", "again, or a new one"),
    ("as it comes", "with default settings, at once"),
    ("is told", "receives, is notified"),
    ("are told", "receive, are notified"),
    ("so many", "the number, or `N`"),
    ("unfair", "biased"),
    ("at leisure", "in the background"),
];

/// Words that a standard has for what files with this in their path are about.
const STANDARD: &[(&str, &str)] = &[
    // The key id of a JSON web key (RFC 7517, 4.5).
    ("kid", "/oidc"),
];

/// None of [`WORDS`].
pub(super) fn avoided(source: &Source) -> Vec<Complaint> {
    let is_prose = source.is_rust() || source.is_markdown() || source.path.starts_with(".ci/");
    if !is_prose || source.is_sample() || LEFT_OUT.iter().any(|path| source.path.starts_with(path)) {
        return Vec::new();
    }
    let found = |(number, line): (usize, &str)| {
        let line = words_of(line);
        let is_standard = |word: &str| STANDARD.iter().any(|(own, path)| *own == word && source.path.contains(path));
        let word = WORDS.iter().find(|(word, _)| line.contains(&format!(" {word} ")) && !is_standard(word));
        word.map(|(word, term)| source.complaint(number, format!("\"{word}\"; the glossary's term is: {term}")))
    };
    source.lines().filter_map(found).collect()
}

/// The words of a line in small letters, with one space around each: those of `put_back` and `PutBack` too.
fn words_of(line: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    for letter in line.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        if letter.is_alphanumeric() {
            words.extend(letter.to_lowercase());
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
        before = letter;
    }
    words + " "
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn words_are_found_in_prose_and_in_names() {
        let text = "// It is put back.\nfn put_back(kid: Kid) {}\nstruct AsNew;\n// A kidney.\n";
        assert_eq!(lines(avoided, "xtask/src/a.rs", text), [1, 2, 3]);
        assert_eq!(lines(avoided, "docs/decisions/a.md", text), [0; 0]);
        assert_eq!(lines(avoided, "crates/skep/tests/oidc.rs", text), [1, 2, 3]);
        assert_eq!(lines(avoided, "crates/skep/tests/oidc.rs", "// The kid of a key.\n"), [0; 0]);
    }
}

//! Words that the glossary replaces by standard terms, in comments, documentation, messages and names.

use super::Complaint;
use super::source::Source;

/// This list itself; records, which are as they were made; and an article that peers must serve byte for byte.
const LEFT_OUT: &[&str] =
    &["xtask/src/tidy/words.rs", "docs/decisions/", "tools/runs/", "tools/peers/markdown/article.md"];

/// A word or phrase in small letters, and the standard term. In names, a space stands for `_` too.
///
/// Some words of the glossary are also plain English, or the field's for something else, so that no machine can
/// distinguish the uses: "said", "what is", "is no", "by name" (`order by name`), "kept" and "beside"; "question",
/// "answer", "life" and "care" in articles; "guest" (of a component), "void" (an element, a function's result), "renew"
/// (a certificate), "let go", "stands still" (a clock). Names of types are in `type_names`.
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
    ("depart", "send, begin"),
    ("departs", "sends, begins"),
    ("departed", "sent, begun"),
    ("land", "end, complete, be written"),
    ("lands", "ends, completes, is written"),
    ("landed", "ended, completed, written"),
    ("flights", "computations or statements in flight"),
    ("hopeful", "waiter"),
    ("hopeless", "failed, unusable"),
    ("voids", "invalidates"),
    ("seat", "worker handoff, slot"),
    ("goodbye", "shutdown"),
    ("later and later", "exponential backoff"),
    ("turns the default round", "inverts the default"),
    ("what it is of", "the subject's name"),
    ("nobody waits", "abandoned, detached"),
    ("waits for nobody", "is abandoned, is detached"),
];

/// Phrases of which only the words in a sentence are meant: `Option::is_none` has them, too.
const PHRASES: &[(&str, &str)] = &[
    ("is none", "does not exist, is malformed; \"if no such session exists\", \"without a session\""),
    ("are none", "do not exist, are malformed, \"without any\""),
    ("was none", "did not exist, was malformed"),
    ("were none", "did not exist, were malformed"),
    ("be none", "be missing, be malformed"),
];

/// Words that a standard has for what files with this in their path are about.
const STANDARD: &[(&str, &str)] = &[
    // The key id of a JSON web key (RFC 7517, 4.5).
    ("kid", "/oidc"),
];

/// None of [`WORDS`] and [`PHRASES`].
pub(super) fn avoided(source: &Source) -> Vec<Complaint> {
    if !is_ours(source) {
        return Vec::new();
    }
    // Few of them occur in a file at all.
    let text = words_of(&source.text);
    let in_text = |(word, _): &&(&str, &str)| text.contains(&format!(" {word} "));
    let (words, phrases): (Vec<_>, Vec<_>) =
        (WORDS.iter().filter(in_text).collect(), PHRASES.iter().filter(in_text).collect());
    let is_standard = |word: &str| STANDARD.iter().any(|(own, path)| *own == word && source.path.contains(path));
    let has_word = |line: &str, word: &str| words_of(line).contains(&format!(" {word} ")) && !is_standard(word);
    let found = |(number, line): (usize, &str)| {
        let word = words.iter().copied().find(|(word, _)| has_word(line, word));
        let (word, term) = word.or_else(|| phrases.iter().copied().find(|(phrase, _)| has_phrase(line, phrase)))?;
        Some(source.complaint(number, format!("\"{word}\"; the glossary's term is: {term}")))
    };
    source.lines().filter_map(found).collect()
}

/// Whether this file, or what is generated from it, is read for its words.
fn is_ours(source: &Source) -> bool {
    let is_template = source.path.ends_with(".rs.txt");
    let is_prose = source.is_rust() || source.is_markdown() || source.path.starts_with(".ci/") || is_template;
    is_prose && !source.is_sample() && !LEFT_OUT.iter().any(|path| source.path.starts_with(path))
}

/// Whether a line has these words as they stand in a sentence, and not in a name.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let line = line.to_lowercase();
    line.match_indices(phrase)
        .any(|(at, _)| !line[..at].ends_with(is_of_name) && !line[at + phrase.len()..].starts_with(is_of_name))
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

    #[test]
    fn phrases_are_found_in_sentences_only() {
        let text = "// True if there is none.\nlet free = slot.is_none();\n// This none of us.\n// Is none?\n";
        assert_eq!(lines(avoided, "xtask/src/a.rs", text), [1, 4]);
        assert_eq!(lines(avoided, "crates/skep-cli/src/a.rs.txt", text), [1, 4]);
        assert_eq!(lines(avoided, "crates/skep-cli/src/a.txt", text), [0; 0]);
    }
}

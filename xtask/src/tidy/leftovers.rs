//! What was meant to be done later.

use super::Complaint;
use super::source::Source;
use super::tokens;

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Put together here, so that this file does not hold them.
const WORDS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// No macro that stands for work to do, and no test that is ignored without a reason.
pub(super) fn macros(source: &Source) -> Vec<Complaint> {
    if !source.is_rust() || source.is_sample() {
        return Vec::new();
    }
    let tokens = tokens::all(source);
    let mut complaints = Vec::new();
    for name in MACROS {
        let text = format!("`{name}!`; what is in the tree is finished");
        complaints.extend(tokens::find(tokens, &[name, "!"]).map(|line| source.complaint(line, text.clone())));
    }
    let text = "a test is ignored; `#[ignore = \"...\"]` says why";
    let ignored = tokens::find(tokens, &["#", "[", "ignore", "]"]);
    complaints.extend(ignored.map(|line| source.complaint(line, text)));
    complaints
}

/// No word that marks work to do, in code or comment.
pub(super) fn words(source: &Source) -> Vec<Complaint> {
    let is_code = [".rs", ".toml", ".sh", ".sql", ".yml"].iter().any(|end| source.path.ends_with(end));
    if !is_code && !source.path.starts_with(".ci/") {
        return Vec::new();
    }
    let complain = |(number, line): (usize, &str)| {
        let word = line.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| WORDS.contains(word))?;
        Some(source.complaint(number, format!("{word}; what is left to do is an issue, not a comment")))
    };
    source.lines().filter_map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn no_macro_stands_for_work_to_do() {
        assert_eq!(lines(macros, "src/a.rs", "/// Not `todo!()`.\nfn todo() {}"), [0; 0]);
        assert_eq!(lines(macros, "src/a.rs", "fn a() {\n    todo!()\n}\nfn b() { dbg!(1); }"), [2, 4]);
        assert_eq!(lines(macros, "crates/skep/tests/compile-fail/a.rs", "fn a() { todo!() }"), [0; 0]);
    }

    #[test]
    fn an_ignored_test_says_why() {
        assert_eq!(lines(macros, "src/a.rs", "#[test]\n#[ignore = \"needs two hosts\"]\nfn a() {}"), [0; 0]);
        assert_eq!(lines(macros, "src/a.rs", "#[test]\n#[ignore]\nfn a() {}"), [2]);
    }

    #[test]
    fn no_word_marks_work_to_do() {
        let [fix, mark] = WORDS;
        assert_eq!(lines(words, "src/a.rs", &format!("// {mark}X and {fix}D are other words")), [0; 0]);
        assert_eq!(lines(words, "src/a.rs", &format!("//\n// {fix}: later\n")), [2]);
        assert_eq!(lines(words, "a.toml", &format!("# {mark}\n")), [1]);
        assert_eq!(lines(words, "docs/a.md", &format!("{mark} on a label of brandy")), [0; 0]);
    }
}

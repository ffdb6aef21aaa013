//! How long a line may be.

use super::Complaint;
use super::source::Source;

/// Columns, as in `rustfmt.toml`.
const LONGEST: usize = 120;

/// Pages that commands make, records, and the texts of the blog, which are as their authors wrote them.
const MADE: [&str; 5] =
    ["docs/reference/", "examples/blog/articles/", "tools/runs/", "tools/odd/table.md", "tools/posts.md"];

/// Comments and prose are no longer than [`LONGEST`]. The lines of code are rustfmt's, which breaks all but texts.
pub(super) fn bound(source: &Source) -> Vec<Complaint> {
    if !source.is_rust() && !source.is_markdown() || MADE.iter().any(|made| source.path.starts_with(made)) {
        return Vec::new();
    }
    let mut is_code = false;
    let mut complaints = Vec::new();
    for (number, line) in source.lines() {
        let Some(prose) = prose(source, line) else {
            is_code = false;
            continue;
        };
        is_code ^= prose.starts_with("```");
        let is_indented = source.is_markdown() && line.starts_with("    ");
        if !is_code && !is_indented && line.chars().count() > LONGEST && can_be_broken(prose) {
            complaints.push(source.complaint(number, format!("longer than {LONGEST} columns; break the line")));
        }
    }
    complaints
}

/// What a line has to read: of Rust, its comment, if it is one.
fn prose<'a>(source: &Source, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    match line.strip_prefix("//") {
        Some(comment) if source.is_rust() => Some(comment.trim_start_matches(['/', '!']).trim_start()),
        None if source.is_rust() => None,
        _ => Some(line),
    }
}

/// A table cannot, nor a quotation of a message, nor a single word, such as an address.
fn can_be_broken(prose: &str) -> bool {
    !prose.starts_with(['|', '[', '>', '<']) && prose.trim_start_matches("- ").contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn prose_is_broken_and_neither_tables_nor_code() {
        let long = "word ".repeat(25);
        assert_eq!(lines(bound, "a.rs", &format!("/// {long}\nlet text = \"{long}\";\n/// | {long} |")), [1]);
        assert_eq!(lines(bound, "a.md", &format!("{long}\n| {long} |\n```\n{long}\n```\n{long}")), [1, 6]);
        assert_eq!(lines(bound, "docs/reference/a.md", &long), [] as [usize; 0]);
    }
}

//! Rust in Markdown is compiled: as a documentation test, or because it is a part of a file that is.

use super::Complaint;
use super::source::{Source, Tree};

/// A line that stands for what an excerpt leaves out.
const LEFT_OUT: &str = "// ...";

/// What is here is as it was, and compiles with nothing of today.
const HISTORY: &str = "docs/decisions/";

/// A fenced block of Rust: the line where it begins, the words behind `rust`, and its lines.
struct Block<'s> {
    line: usize,
    words: &'s str,
    lines: Vec<&'s str>,
}

/// Each block is compiled, and none is ignored without a reason in a comment before it: `<!-- ignored: ... -->`.
pub(super) fn are_compiled(tree: &Tree) -> Vec<Complaint> {
    let includes = includes(tree);
    let pages = tree.sources.iter().filter(|page| is_read(page));
    let problems = pages.flat_map(|page| {
        let is_tested = is_tested(page, &includes);
        let problem = move |block: Block<'_>| Some(page.complaint(block.line, problem(&block, is_tested, page, tree)?));
        blocks(page).into_iter().filter_map(problem)
    });
    problems.collect()
}

fn is_read(page: &Source) -> bool {
    let is_of_manual = !page.path.contains('/') || ["docs/", "examples/"].iter().any(|at| page.path.starts_with(at));
    page.is_markdown() && is_of_manual && !page.path.starts_with(HISTORY)
}

fn problem(block: &Block<'_>, is_tested: bool, page: &Source, tree: &Tree) -> Option<String> {
    let ignored = block.words.split(',').any(|word| word == "ignore");
    if ignored {
        let before = page.text.lines().take(block.line - 1).filter(|line| !line.is_empty()).last();
        let has_reason = before.is_some_and(|line| line.starts_with("<!-- ignored: "));
        return (!has_reason)
            .then(|| "this block is ignored without a reason; write <!-- ignored: ... --> before it".into());
    }
    if is_tested {
        return None;
    }
    let must_fail = block.words.split(',').any(|word| word == "compile_fail");
    let is_compiled =
        |source: &&Source| source.is_rust() && if must_fail { source.is_sample() } else { is_shown(source) };
    let found = tree.sources.iter().filter(is_compiled).any(|source| is_excerpt(&block.lines, source));
    let place = if must_fail { "program that must not compile" } else { "file of examples/ or of a crate's tests/" };
    (!found).then(|| format!("nothing compiles this block; it must be a part of a {place}, line for line"))
}

/// Whether pages may quote this file: an example, or an application that is tested.
fn is_shown(source: &Source) -> bool {
    let is_test = source.path.starts_with("crates/") && source.path.contains("/tests/");
    source.path.starts_with("examples/") || (is_test && !source.is_sample())
}

/// The lines by which crates have pages as documentation tests.
fn includes(tree: &Tree) -> Vec<&str> {
    const INCLUDES: &str = "doc = include_str!(";
    let including = tree.sources.iter().filter(|source| source.is_rust() && source.text.contains(INCLUDES));
    including.flat_map(|source| source.text.lines()).filter(|line| line.contains(INCLUDES)).collect()
}

/// Whether a crate has the page as a documentation test.
fn is_tested(page: &Source, includes: &[&str]) -> bool {
    let (end, of_root) = (format!("/{}\")]", page.path), format!("../{}\")]", page.path));
    includes.iter().any(|line| line.ends_with(&end) || line.ends_with(&of_root))
}

fn blocks(page: &Source) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut in_code, mut in_rust) = (false, false);
    for (number, line) in page.lines() {
        let fence = line.trim_start().strip_prefix("```");
        match fence {
            Some(_) if in_code => (in_code, in_rust) = (false, false),
            Some(info) => {
                in_code = true;
                let words = info.strip_prefix("rust").filter(|rest| rest.is_empty() || rest.starts_with(','));
                in_rust = words.is_some();
                blocks.extend(words.map(|words| Block { line: number, words, lines: Vec::new() }));
            }
            None if in_rust => blocks.last_mut().into_iter().for_each(|block| block.lines.push(line.trim())),
            None => {}
        }
    }
    blocks
}

/// Whether all paragraphs of the block stand in the file, in their order. Indentation does not count.
fn is_excerpt(block: &[&str], source: &Source) -> bool {
    let first = block.iter().find(|line| !line.is_empty() && **line != LEFT_OUT);
    if first.is_some_and(|line| !source.text.contains(line)) {
        return false;
    }
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let mut rest = lines.as_slice();
    block.split(|line| line.is_empty() || *line == LEFT_OUT).filter(|part| !part.is_empty()).all(|part| {
        let found = rest.windows(part.len()).position(|window| window == part);
        rest = found.map_or(&[], |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let sources = vec![
            Source::new(path, text),
            Source::new("crates/skep/src/lib.rs", "#[doc = include_str!(\"../../../docs/tested.md\")]\n"),
            Source::new("examples/a/src/lib.rs", "fn a() {\n    let one = 1;\n    two();\n    three();\n}\n"),
            Source::new("crates/skep/tests/compile-fail/b.rs", "let wrong = \"\" + 1;\n"),
        ];
        let tree = Tree { sources, paths: BTreeSet::new() };
        are_compiled(&tree).iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn a_block_is_a_documentation_test_or_an_excerpt() {
        let text = "```rust\nlet one = 1;\n// ...\nthree();\n```\n\n```rust\nfour();\n```\n";
        assert_eq!(lines("docs/tested.md", text), [0; 0]);
        assert_eq!(lines("docs/other.md", text), [7]);
        assert_eq!(lines("docs/other.md", "```rust\nthree();\n// ...\ntwo();\n```\n"), [1]);
        assert_eq!(lines("docs/other.md", "```toml\nfour();\n```\n"), [0; 0]);
    }

    #[test]
    fn what_must_not_compile_is_a_program_that_is_refused() {
        assert_eq!(lines("README.md", "```rust,compile_fail\nlet wrong = \"\" + 1;\n```\n"), [0; 0]);
        assert_eq!(lines("README.md", "```rust,compile_fail\nlet one = 1;\n```\n"), [1]);
    }

    #[test]
    fn nothing_is_ignored_without_a_reason() {
        assert_eq!(lines("docs/tested.md", "```rust,ignore\nfour();\n```\n"), [1]);
        assert_eq!(lines("docs/tested.md", "<!-- ignored: a sketch -->\n```rust,ignore\nfour();\n```\n"), [0; 0]);
    }
}

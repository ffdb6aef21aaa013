//! The size of the manual: a reader must be able to find their way in it.

use super::Complaint;
use super::source::{Source, Tree};

const FOLDER: &str = "docs/";

/// Records, which are no part of the manual.
const RECORDS: &str = "docs/decisions/";

/// The list of pages.
const LIST: &str = "docs/SUMMARY.md";

const PAGES: usize = 60;

const WORDS: usize = 60_000;

/// The manual has at most [`PAGES`] pages and [`WORDS`] words.
pub(super) fn size(tree: &Tree) -> Option<Complaint> {
    let pages: Vec<&Source> = tree.sources.iter().filter(|source| is_page(source)).collect();
    let words = pages.iter().map(|page| words(&page.text)).sum();
    too_large(pages.len(), words).map(|text| Source::new(LIST, "").complaint(1, text))
}

fn is_page(source: &Source) -> bool {
    let path = source.path.as_str();
    source.is_markdown() && path.starts_with(FOLDER) && !path.starts_with(RECORDS) && path != LIST
}

/// As `wc -w` counts them: code and tables, too.
fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn too_large(pages: usize, words: usize) -> Option<String> {
    (pages > PAGES || words > WORDS).then(|| {
        format!(
            "the manual has {pages} pages and {words} words, {PAGES} and {WORDS} are allowed; shorten what repeats or \
             argues, and move records to {RECORDS} or tools/"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn is_too_large(paths: &[String], text: &str) -> bool {
        let sources = paths.iter().map(|path| Source::new(path, text)).collect();
        size(&Tree { sources, paths: BTreeSet::new() }).is_some()
    }

    fn paths(folder: &str, number: usize) -> Vec<String> {
        (0..number).map(|page| format!("{folder}{page}.md")).collect()
    }

    #[test]
    fn the_manual_has_sixty_pages_at_most() {
        assert!(!is_too_large(&paths("docs/guides/run/", PAGES), "Watch it."));
        assert!(is_too_large(&paths("docs/guides/run/", PAGES + 1), "Watch it."));
        assert!(!is_too_large(&paths("docs/decisions/", PAGES + 1), "Tried."));
        assert!(!is_too_large(&[paths("docs/", PAGES), vec![LIST.to_owned()]].concat(), "Watch it."));
    }

    #[test]
    fn the_manual_has_sixty_thousand_words_at_most() {
        let many = "word ".repeat(WORDS / 2);
        assert!(!is_too_large(&paths("docs/", 2), &many));
        assert!(is_too_large(&paths("docs/", 2), &format!("{many} more")));
        assert!(!is_too_large(&paths("tools/", 2), &format!("{many} more")));
    }
}

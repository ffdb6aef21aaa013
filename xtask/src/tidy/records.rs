//! Pages that are made of records belong to the newest one.

use super::Complaint;
use super::source::{Source, Tree};

const PAGE: &str = "tools/posts.md";

const RECORDS: &str = "tools/runs/";

/// tools/posts.md names the newest record of the posts. Whether its figures are that record's too, a test of
/// tools/runner looks at.
pub(super) fn newest(tree: &Tree) -> Vec<Complaint> {
    let records = tree.sources.iter().map(|source| source.path.as_str()).filter(|path| is_of_the_posts(path));
    match (records.max(), tree.source(PAGE)) {
        (Some(newest), Some(page)) => outdated(newest, page).into_iter().collect(),
        (Some(newest), None) => {
            let text = format!("{newest} has no {PAGE}; `cargo xtask peers --page` makes it");
            vec![Source::new(newest, "").complaint(1, text)]
        }
        (None, _) => Vec::new(),
    }
}

/// Those of the bench of the cache have its name in theirs.
fn is_of_the_posts(path: &str) -> bool {
    path.strip_prefix(RECORDS).is_some_and(|name| name.ends_with("-posts.json") && !name.contains("-cache"))
}

fn outdated(newest: &str, page: &Source) -> Option<Complaint> {
    if page.text.contains(&format!("`{newest}`")) {
        return None;
    }
    let name = newest.trim_start_matches(RECORDS).trim_end_matches(".json");
    Some(page.complaint(1, format!("not made of {newest}; `cargo xtask peers --page {name}` makes it so")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_an_older_record_is_outdated() {
        let page = Source::new(PAGE, "Made from `tools/runs/2026-01-01-posts.json`.");
        assert!(outdated("tools/runs/2026-01-01-posts.json", &page).is_none());
        let complaint = outdated("tools/runs/2026-02-01-posts.json", &page).unwrap().to_string();
        assert!(complaint.contains("`cargo xtask peers --page 2026-02-01-posts` makes it so"), "{complaint}");
    }

    #[test]
    fn records_of_the_cache_are_others() {
        assert!(is_of_the_posts("tools/runs/2026-01-01-posts.json"));
        assert!(!is_of_the_posts("tools/runs/2026-01-01-cache-posts.json"));
        assert!(!is_of_the_posts("tools/runs/2026-01-01-posts-cache.json"));
        assert!(!is_of_the_posts("tools/runs/2026-01-01.json"));
    }
}

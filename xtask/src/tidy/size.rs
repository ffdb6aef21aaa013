//! How large the product is.

use super::Complaint;
use super::source::{Source, Tree};

/// Lines of `crates/*/src`, tests at the foot of a file included (longer ones are in `tests/unit`).
///
/// It was 70,000 for a product without checked SQL, guards, accounts, compression and log categories.
/// It rises only with a capability that is new, and is lowered to what that needed once it is there.
const LINES: usize = 156_547;

/// The product has no more lines than this.
pub(super) fn lines(tree: &Tree) -> Option<Complaint> {
    let sources = tree.sources.iter().filter(|source| source.is_rust() && is_of_the_product(&source.path));
    too_many(sources.map(|source| source.text.lines().count()).sum())
}

fn is_of_the_product(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates") && parts.next().is_some() && parts.next() == Some("src")
}

fn too_many(lines: usize) -> Option<Complaint> {
    let text = format!("crates/*/src has {lines} lines, {LINES} at most; remove or simplify something");
    (lines > LINES).then(|| Source::new("Cargo.toml", "").complaint(1, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_crates_are_counted_and_nothing_else() {
        assert!(is_of_the_product("crates/skep/src/html.rs"));
        assert!(!is_of_the_product("crates/skep/tests/html.rs"));
        assert!(!is_of_the_product("crates/testing/client/src/lib.rs"));
        assert!(!is_of_the_product("tools/bench/src/lib.rs"));
        assert!(too_many(LINES).is_none() && too_many(LINES + 1).is_some());
    }
}

//! Sleeps in tests. A test that sleeps until something has happened fails on a slow machine, and wastes time on a fast
//! one.

use super::Complaint;
use super::source::{Source, Tree};

/// How often tests sleep: the pause in a loop that looks for something, the time that is the subject of the test, and a
/// time in which nothing must happen. It is exact, so that it only falls.
const SLEEPS: usize = 107;

/// Tests sleep no more often than this.
pub(super) fn in_tests(tree: &Tree) -> Option<Complaint> {
    let tests = tree.sources.iter().filter(|source| source.is_rust() && source.is_test());
    too_many(tests.map(|source| count(&source.text)).sum())
}

fn count(text: &str) -> usize {
    let begins_a_name = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    text.match_indices("sleep(").filter(|(at, _)| begins_a_name(&text[..*at])).count()
}

fn too_many(sleeps: usize) -> Option<Complaint> {
    let text = match sleeps {
        SLEEPS => return None,
        0..SLEEPS => format!("tests sleep {sleeps} times; say so in tidy/sleeps.rs, which has {SLEEPS}"),
        _ => format!("tests sleep {sleeps} times, {SLEEPS} at most; wait for an event, with `skep_client::wait_until`"),
    };
    Some(Source::new("Cargo.toml", "").complaint(1, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_sleep_are_counted_and_other_names_are_not() {
        assert_eq!(count("thread::sleep(a); tokio::time::sleep(b).await; sleep(c);"), 3);
        assert_eq!(count("pg_sleep(60); oversleep(1); fn asleep() {} // sleeps (often)"), 0);
    }

    #[test]
    fn the_number_does_not_grow() {
        assert!(too_many(SLEEPS).is_none());
        assert!(too_many(SLEEPS - 1).is_some_and(|complaint| complaint.text.contains("say so")));
        assert!(too_many(SLEEPS + 1).is_some_and(|complaint| complaint.text.contains("wait_until")));
    }
}

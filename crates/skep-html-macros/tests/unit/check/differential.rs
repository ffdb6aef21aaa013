//! Differential test: compares our checker with the Nu Html Checker.
//!
//! The trees are derived from the table of the standard: each element in each, each attribute on its element, values of
//! each type, and some thousand random trees and mutations of them. What one checker accepts, the other must accept,
//! except for the differences in `tests/html/differences.txt`. A difference that explains no tree fails the test.
//!
//! The other checker parses text: where text cannot express a tree, it sees a different one, usually with a stray end
//! tag, and reports an error as well.

#[path = "differential/corpus.rs"]
mod corpus;
#[path = "differential/minimal.rs"]
mod minimal;
#[path = "differential/random.rs"]
mod random;
#[path = "differential/random_tree.rs"]
mod random_tree;
#[path = "differential/tree.rs"]
mod tree;
#[path = "differential/values.rs"]
mod values;
#[path = "../../../../../xtask/src/vnu.rs"]
mod vnu;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use super::cases::{messages, rows};
use random::Random;
use tree::Element;

/// The number of random trees, half of them mutated.
const RANDOM_TREES: usize = 4000;

/// One in this many attributes of other elements is tried on an element.
const FOREIGN_ATTRIBUTE_RATE: usize = 12;

const DIFFERENCES: &str = include_str!("../../html/differences.txt");

/// The messages of both checkers about a tree.
struct Verdicts {
    text: String,
    ours: Vec<String>,
    theirs: Vec<String>,
}

#[test]
#[ignore = "needs Java and the Nu Html Checker: cargo xtask test external"]
fn the_nu_html_checker_agrees_except_for_listed_differences() {
    let started = std::time::Instant::now();
    let judged = judge(trees());
    let differences = rows::<4>(DIFFERENCES);
    let mut used = vec![0_usize; differences.len()];
    let mut unexplained = String::new();
    let mut agreed = [0_usize; 2];
    for verdicts in &judged {
        let (refused, messages) = match (verdicts.ours.as_slice(), verdicts.theirs.as_slice()) {
            ([], []) => {
                agreed[0] += 1;
                continue;
            }
            ([], theirs) => ("them", theirs),
            (ours, []) => ("us", ours),
            _ => {
                agreed[1] += 1;
                continue;
            }
        };
        for message in messages {
            let mut is_explained = false;
            for ([who, parts, tree, _], times) in differences.iter().zip(&mut used) {
                let says = parts.split(" & ").all(|part| message.contains(part));
                let explains = *who == refused && says && verdicts.text.contains(tree);
                *times += usize::from(explains);
                is_explained |= explains;
            }
            if !is_explained {
                let _ = writeln!(unexplained, "refused by {refused}: {message}\n    {}", verdicts.text);
            }
        }
    }
    let seconds = started.elapsed().as_secs();
    println!("{} trees in {seconds} s; both accept {}, both refuse {}", judged.len(), agreed[0], agreed[1]);
    for ([who, message, _, reason], times) in differences.iter().zip(&used) {
        println!("{times:>5} {who}: {message}: {reason}");
    }
    assert_eq!(unexplained, "", "the checkers disagree, and the list says nothing of it");
    let idle: Vec<_> = differences.iter().zip(&used).filter(|(_, times)| **times == 0).collect();
    assert!(idle.is_empty(), "these differences are no more: {idle:#?}");
    assert!(agreed.iter().all(|trees| *trees > 8000), "too few to say much: {agreed:?}");
}

/// All trees without duplicates.
fn trees() -> Vec<Element> {
    let mut trees = corpus::pairs();
    trees.extend(corpus::through_transparent());
    trees.extend(corpus::at_depth());
    trees.extend(corpus::values());
    trees.extend(corpus::inputs());
    trees.extend(corpus::foreign_attributes(FOREIGN_ATTRIBUTE_RATE));
    trees.extend(corpus::by_hand());
    for tree in 0..RANDOM_TREES / 2 {
        let mut random = Random::of(&["grown", &tree.to_string()]);
        let grown = random_tree::generate(&mut random);
        trees.push(random_tree::mutate(&grown, &mut random));
        trees.push(grown);
    }
    let mut seen = BTreeSet::new();
    trees.retain(|tree| seen.insert(tree.text()));
    trees
}

/// Runs both checkers concurrently.
fn judge(trees: Vec<Element>) -> Vec<Verdicts> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = write(&root, &trees);
    let other = thread::spawn(move || vnu::check(&root, &folder));
    let judged =
        trees.iter().map(|tree| Verdicts { text: tree.text(), ours: messages(&tree.template()), theirs: Vec::new() });
    let mut judged: Vec<Verdicts> = judged.collect();
    let findings = other.join().expect("it does not panic").unwrap_or_else(|error| panic!("{error}"));
    for finding in findings.into_iter().filter(|finding| finding.is_error) {
        let at: usize = finding.file.trim_end_matches(".html").parse().expect("files have the names that we gave them");
        judged[at].theirs.push(finding.text);
    }
    judged
}

/// Writes each tree to a file in an empty folder.
fn write(root: &Path, trees: &[Element]) -> PathBuf {
    let folder = root.join("target/differential");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("target is ours");
    for (at, tree) in trees.iter().enumerate() {
        let file = folder.join(format!("{at:05}.html"));
        fs::write(file, format!("<!DOCTYPE html>{}", tree.text())).expect("target is ours");
    }
    folder
}

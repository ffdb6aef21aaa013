//! Our checker beside another one, tree by tree.
//!
//! The trees follow from the table of the standard: each element in each, each attribute on its element, values of each
//! type, and some thousands that chance makes from a fixed seed and then changes. What we accept, the Nu Html Checker
//! must accept, and what we refuse it must refuse, except for what [`DIFFERENCES`] lists with reasons.
//!
//! The other checker reads text, and we read a tree: where HTML's text cannot say a tree, it sees another one, in which
//! mostly an end tag has no start tag, and refuses as well.

mod corpus;
mod differences;
mod grow;
mod least;
mod random;
mod tree;
mod values;
#[path = "../../../../../xtask/src/vnu.rs"]
mod vnu;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use super::cases::messages;
use differences::{DIFFERENCES, Difference, Refused};
use random::Random;
use tree::Element;

/// So many trees of chance, half of them changed.
const GROWN: usize = 4000;

/// Of so many attributes that are not an element's own, one is tried on it.
const STRANGERS: usize = 12;

/// What both say of a tree.
struct Verdicts {
    text: String,
    ours: Vec<String>,
    theirs: Vec<String>,
}

#[test]
fn the_nu_html_checker_agrees_but_for_a_list() {
    let started = std::time::Instant::now();
    let judged = judge(trees());
    let mut used = vec![0_usize; DIFFERENCES.len()];
    let mut unexplained = String::new();
    let mut agreed = [0_usize; 2];
    for verdicts in &judged {
        let (refused, messages) = match (verdicts.ours.as_slice(), verdicts.theirs.as_slice()) {
            ([], []) => {
                agreed[0] += 1;
                continue;
            }
            ([], theirs) => (Refused::ByThem, theirs),
            (ours, []) => (Refused::ByUs, ours),
            _ => {
                agreed[1] += 1;
                continue;
            }
        };
        for message in messages {
            let explains = |known: &&Difference| known.explains(refused, message, &verdicts.text);
            let found: Vec<usize> = (0..DIFFERENCES.len()).filter(|at| explains(&&DIFFERENCES[*at])).collect();
            for at in &found {
                used[*at] += 1;
            }
            if found.is_empty() {
                let _ = writeln!(unexplained, "{refused:?}: {message}\n    {}", verdicts.text);
            }
        }
    }
    let seconds = started.elapsed().as_secs();
    println!("{} trees in {seconds} s; both accept {}, both refuse {}", judged.len(), agreed[0], agreed[1]);
    for (known, times) in DIFFERENCES.iter().zip(&used) {
        println!("{times:>5} {:?} {:?}: {}", known.refused, known.message, known.reason);
    }
    assert_eq!(unexplained, "", "the checkers disagree, and the list says nothing of it");
    let idle: Vec<&Difference> =
        DIFFERENCES.iter().zip(&used).filter(|(_, times)| **times == 0).map(|(known, _)| known).collect();
    assert!(idle.is_empty(), "these differences are no more: {idle:#?}");
    assert!(agreed.iter().all(|trees| *trees > 8000), "too few to say much: {agreed:?}");
}

/// Every tree once.
fn trees() -> Vec<Element> {
    let mut trees = corpus::pairs();
    trees.extend(corpus::through_transparent());
    trees.extend(corpus::at_depth());
    trees.extend(corpus::values());
    trees.extend(corpus::inputs());
    trees.extend(corpus::strangers(STRANGERS));
    trees.extend(corpus::by_hand());
    for tree in 0..GROWN / 2 {
        let mut random = Random::of(&["grown", &tree.to_string()]);
        let grown = grow::grow(&mut random);
        trees.push(grow::mutate(&grown, &mut random));
        trees.push(grown);
    }
    let mut seen = BTreeSet::new();
    trees.retain(|tree| seen.insert(tree.text()));
    trees
}

/// Both at once: one is Java, the other Rust.
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

/// Each tree as a file, in a folder that has no other.
fn write(root: &Path, trees: &[Element]) -> PathBuf {
    let folder = root.join("target/differ");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("target is ours");
    for (at, tree) in trees.iter().enumerate() {
        let file = folder.join(format!("{at:05}.html"));
        fs::write(file, format!("<!DOCTYPE html>{}", tree.text())).expect("target is ours");
    }
    folder
}

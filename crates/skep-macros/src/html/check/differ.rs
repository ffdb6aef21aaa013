//! Our checker beside another one, tree by tree.
//!
//! The trees follow from the table of the standard: each element in each, each attribute on each, values of each type,
//! and some thousands that chance makes from a fixed seed. What we accept, the Nu Html Checker must accept, and what we
//! refuse it must refuse, except for what [`DIFFERENCES`] lists with reasons.
//!
//! The other checker reads text, and we read a tree: where HTML's text cannot say a tree, it sees another one, in which
//! an end tag has no start tag, and refuses as well.

mod corpus;
mod differences;
mod grow;
mod least;
mod random;
mod tree;
mod values;
#[path = "../../../../../xtask/src/vnu.rs"]
mod vnu;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cases::messages;
use differences::{DIFFERENCES, Refused};
use random::Random;
use tree::Element;

#[test]
fn dump() {
    let started = std::time::Instant::now();
    let mut random = Random::new(16);
    let mut trees: Vec<(&str, Element)> = Vec::new();
    trees.extend(corpus::pairs().into_iter().map(|tree| ("pairs", tree)));
    trees.extend(corpus::through_transparent().into_iter().map(|tree| ("transparent", tree)));
    trees.extend(corpus::at_depth().into_iter().map(|tree| ("depth", tree)));
    trees.extend(corpus::values().into_iter().map(|tree| ("values", tree)));
    trees.extend(corpus::inputs().into_iter().map(|tree| ("inputs", tree)));
    trees.extend(corpus::strangers(&mut random, 3).into_iter().map(|tree| ("strangers", tree)));
    for _ in 0..2000 {
        let grown = grow::grow(&mut random);
        trees.push(("mutated", grow::mutate(&grown, &mut random)));
        trees.push(("grown", grown));
    }
    let mut seen = BTreeSet::new();
    trees.retain(|(_, tree)| seen.insert(tree.text()));
    println!("{} trees {:?}", trees.len(), started.elapsed());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("target/differ");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut ours = Vec::new();
    for (at, (_, tree)) in trees.iter().enumerate() {
        std::fs::write(folder.join(format!("{at:05}.html")), format!("<!DOCTYPE html>{}", tree.text())).unwrap();
        ours.push(messages(&tree.template()));
    }
    println!("ours {:?}", started.elapsed());
    let mut theirs: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for finding in vnu::check(&root, &folder).unwrap() {
        if finding.is_error {
            let at = finding.file.trim_end_matches(".html").parse().unwrap();
            theirs.entry(at).or_default().push(finding.text);
        }
    }
    println!("theirs {:?}", started.elapsed());
    let none = Vec::new();
    let mut out = String::new();
    let mut counts: BTreeMap<(&str, bool, bool), usize> = BTreeMap::new();
    for (at, (kind, tree)) in trees.iter().enumerate() {
        let (we, they) = (&ours[at], theirs.get(&at).unwrap_or(&none));
        *counts.entry((kind, we.is_empty(), they.is_empty())).or_default() += 1;
        if we.is_empty() != they.is_empty() {
            use std::fmt::Write;
            writeln!(out, "{kind}\t{}\t{}\t{}", if we.is_empty() { "THEM" } else { "US" }, tree.text(), if we.is_empty() { they } else { we }.join(" || ")).unwrap();
        }
    }
    println!("{counts:#?}");
    std::fs::write(root.join("target/differ.txt"), out).unwrap();
}

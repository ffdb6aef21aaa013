//! What the standard says, statement by statement: templates that are wrong, and templates that are right.

use super::super::parse;
use super::{Piece, check};

mod attributes;
mod content;
mod depth;
mod document;

/// The section of the standard, a template, and a part of what is said about it.
type Wrong = (&'static str, &'static str, &'static str);

/// The section of the standard, and a template.
type Right = (&'static str, &'static str);

const WRONG: &[&[Wrong]] = &[document::WRONG, content::WRONG, depth::WRONG, attributes::WRONG];
const RIGHT: &[&[Right]] = &[document::RIGHT, content::RIGHT, depth::RIGHT, attributes::RIGHT];

/// All that is said about a template.
pub(super) fn messages(template: &str) -> Vec<String> {
    let (nodes, mut diagnostics) = parse::template(template.parse().expect("these are tokens"));
    diagnostics.extend(check(&nodes, Piece::FromRoots).diagnostics);
    diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn what_the_standard_forbids_gives_one_message() {
    let wrong: Vec<&Wrong> = WRONG.iter().copied().flatten().collect();
    let mut missed = Vec::new();
    for (section, template, part) in &wrong {
        let found = messages(template);
        if found.len() != 1 || !found[0].contains(part) {
            missed.push(format!("{section}: {template}\n    expected: {part}\n    found: {found:#?}"));
        }
    }
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), wrong.len(), missed.join("\n"));
    assert!(wrong.len() >= 300, "{}", wrong.len());
}

#[test]
fn what_the_standard_allows_gives_no_message() {
    let right: Vec<&Right> = RIGHT.iter().copied().flatten().collect();
    let mut refused = Vec::new();
    for (section, template) in &right {
        let found = messages(template);
        if !found.is_empty() {
            refused.push(format!("{section}: {template}\n    {found:#?}"));
        }
    }
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), right.len(), refused.join("\n"));
    assert!(right.len() >= 300, "{}", right.len());
}

#[test]
fn no_case_is_there_twice() {
    let mut seen = std::collections::HashSet::new();
    let wrong = WRONG.iter().copied().flatten().map(|(_, template, _)| *template);
    let right = RIGHT.iter().copied().flatten().map(|(_, template)| *template);
    for template in wrong.chain(right) {
        assert!(seen.insert(template), "{template}");
    }
}

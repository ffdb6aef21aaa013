//! The standard, statement by statement: templates that it forbids and templates that it allows.
//!
//! The templates are in `tests/html`, one to a line.

use std::collections::HashSet;

use super::super::home::Home;
use super::super::parse;
use super::{Piece, check};

const FORBIDDEN: &str = include_str!("../../tests/html/forbidden.txt");
const ALLOWED: &str = include_str!("../../tests/html/allowed.txt");

/// The columns of each line.
pub(super) fn rows<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &'static str| {
        let columns: Vec<&str> = line.split(" | ").collect();
        columns.try_into().unwrap_or_else(|_| panic!("{N} columns expected: {line}"))
    };
    lines.map(row).collect()
}

/// The messages about a template.
pub(crate) fn messages(template: &str) -> Vec<String> {
    let (nodes, mut diagnostics) = parse::template(template.parse().expect("a template is tokens"), Home::Skep);
    diagnostics.extend(check(&nodes, Piece::FromRoots, Home::Skep).diagnostics);
    diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn each_forbidden_template_gives_one_message() {
    let rows = rows::<3>(FORBIDDEN);
    let judge = |[section, template, part]: &[&str; 3]| {
        let found = messages(template);
        let is_expected = matches!(found.as_slice(), [message] if message.contains(part));
        (!is_expected).then(|| format!("{section}: {template}\n    expected: {part}\n    found: {found:#?}"))
    };
    let missed: Vec<String> = rows.iter().filter_map(judge).collect();
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), rows.len(), missed.join("\n"));
    assert!(rows.len() >= 300, "{}", rows.len());
}

#[test]
fn an_allowed_template_gives_no_message() {
    let rows = rows::<2>(ALLOWED);
    let judge = |[section, template]: &[&str; 2]| {
        let found = messages(template);
        (!found.is_empty()).then(|| format!("{section}: {template}\n    {found:#?}"))
    };
    let refused: Vec<String> = rows.iter().filter_map(judge).collect();
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), rows.len(), refused.join("\n"));
    assert!(rows.len() >= 300, "{}", rows.len());
}

#[test]
fn no_case_is_listed_twice() {
    let mut seen = HashSet::new();
    let forbidden = rows::<3>(FORBIDDEN).into_iter().map(|[_, template, _]| template);
    for template in forbidden.chain(rows::<2>(ALLOWED).into_iter().map(|[_, template]| template)) {
        assert!(seen.insert(template), "{template}");
    }
}

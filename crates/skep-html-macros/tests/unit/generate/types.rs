//! Unit tests of `generate::types`.

use super::super::super::standard::{Categories, elements::ELEMENTS, foreign};
use super::*;

/// The categories of each element, with and without the conditional ones.
fn categories() -> impl Iterator<Item = (&'static str, Categories)> {
    ELEMENTS.iter().flat_map(|rules| {
        let more = rules.conditional.iter().map(|(_, more)| rules.categories.union(*more));
        [rules.categories].into_iter().chain(more).map(|categories| (rules.name, categories))
    })
}

#[test]
fn every_element_that_can_be_a_root_has_a_category() {
    for (name, categories) in categories() {
        let fits = Model::that_take(name, categories);
        let can_be_root = Model::KINDS.iter().any(|kind| fits.contains(kind));
        assert_eq!(category(&fits).is_some(), can_be_root, "{name}");
    }
    for name in foreign::SVG {
        assert!(category(&Model::that_take(name, Categories::FOREIGN)).is_some(), "{name}");
    }
    assert!(category(&Model::that_take("my-element", Categories::PHRASING)).is_some());
}

/// The lists are in two crates, because a macro cannot inspect types.
#[test]
fn skep_has_the_same_elements_and_the_same_categories() {
    let elements = include_str!("../../../../skep-html/src/element.rs");
    let (_, list) = elements.split_once("elements! {\n").expect("the list begins");
    let (list, _) = list.split_once('}').expect("the list ends");
    let types =
        ELEMENTS.iter().map(|rules| element(rules.name, Home::Skep, Span::call_site()).to_string().replace(' ', ""));
    let names = list.split_whitespace().map(|name| format!("::skep::html::element::{name}"));
    assert_eq!(names.collect::<Vec<_>>(), types.collect::<Vec<_>>());

    let categories = include_str!("../../../../skep-html/src/piece.rs");
    for (name, models) in CATEGORIES {
        let line = categories.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
        let mut kinds: Vec<String> =
            line.unwrap_or_else(|| panic!("no {name}")).trim_end_matches(';').split(' ').map(Into::into).collect();
        let mut models: Vec<String> = models.iter().map(|model| format!("{model:?}")).collect();
        kinds.sort();
        models.sort();
        assert_eq!(kinds, models, "{name}");
    }
}

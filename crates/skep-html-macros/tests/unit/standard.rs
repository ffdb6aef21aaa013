//! Unit tests of `standard`.

use super::*;

#[test]
fn every_table_is_sorted_without_duplicates() {
    let elements: Vec<&str> = elements::ELEMENTS.iter().map(|rules| rules.name).collect();
    let global: Vec<&str> = attributes::GLOBAL.iter().map(|(name, _)| *name).collect();
    let aria: Vec<&str> = aria::ATTRIBUTES.iter().map(|(name, _)| *name).collect();
    for names in [elements.as_slice(), &global, &aria, attributes::HANDLERS, aria::ROLES, foreign::SVG, foreign::MATHML]
    {
        assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
    }
}

#[test]
fn every_element_is_found_by_name_and_has_its_required_attributes() {
    for rules in elements::ELEMENTS {
        assert_eq!(element(rules.name).map(|found| found.name), Some(rules.name));
        for required in rules.required {
            assert!(rules.attribute(required).is_some(), "{} {required}", rules.name);
        }
    }
    assert_eq!(elements::ELEMENTS.len(), 115);
}

//! Checks ids: none is duplicate, and each reference has a target.

use std::collections::HashMap;

use super::super::ast::{Attribute, Name};
use super::super::diagnostic::Diagnostic;
use super::super::standard::{Categories, Type};
use super::children::{Path, exclude};
use super::facts::Facts;
use super::{attributes, facts};

/// The ids of a template and the references to them.
#[derive(Default)]
pub(super) struct Ids<'t> {
    given: HashMap<String, Vec<(Path, Facts<'t>)>>,
    named: Vec<(&'t Name, String, Wanted)>,
    /// Names of `map` elements, which `usemap` refers to.
    maps: Vec<String>,
    /// Is there an element whose id is unknown?
    has_unknown: bool,
}

/// The element that a reference requires.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Wanted {
    Any,
    /// A labelable element.
    Control,
    Element(&'static str),
    /// Not an id, but the name of a `map`.
    Map,
}

impl<'t> Ids<'t> {
    /// Records an element, and reports a duplicate id.
    pub(super) fn element(&mut self, facts: Facts<'t>, path: &Path) -> Option<Diagnostic> {
        for attribute in &facts.element.attributes {
            if let Attribute::Named { name, value } = attribute {
                self.names(facts, name, facts::literal(value));
            }
        }
        self.has_unknown |= facts.has_attribute_splice()
            || facts.has("id") != super::facts::Presence::No && facts.literal("id").is_none();
        if facts.name() == "map" {
            self.maps.extend(facts.literal("name"));
        }
        let id = facts.literal("id").filter(|id| !id.is_empty())?;
        let others = self.given.entry(id.clone()).or_default();
        let is_twice = others.iter().any(|(other, _)| !exclude(other, path));
        others.push((path.clone(), facts));
        let message = format!("another element has the id `{id}` already: ids are unique");
        let name = facts.attribute("id").unwrap_or(&facts.element.name);
        is_twice.then(|| Diagnostic::on(name, message))
    }

    /// A splice may contain any id.
    pub(super) fn add_unknown(&mut self) {
        self.has_unknown = true;
    }

    fn names(&mut self, facts: Facts<'t>, name: &'t Name, value: Option<String>) {
        let (Some(rules), Some(value)) = (facts.rules, value) else { return };
        let wanted = match (attributes::kind(rules, &name.text), name.text.as_str()) {
            (Some(Type::MapName), _) => Wanted::Map,
            (Some(Type::IdRef), "for") => Wanted::Control,
            (Some(Type::IdRef), "form") => Wanted::Element("form"),
            (Some(Type::IdRef), "list") => Wanted::Element("datalist"),
            (Some(Type::IdRefs), "headers") => Wanted::Element("th"),
            (Some(Type::IdRef | Type::IdRefs | Type::IdList), _) => Wanted::Any,
            _ => return,
        };
        for word in value.split_ascii_whitespace() {
            self.named.push((name, word.trim_start_matches('#').to_owned(), wanted));
        }
    }

    /// The references without target. Only for a whole page without unknown ids.
    pub(super) fn missing(self) -> Vec<Diagnostic> {
        if self.has_unknown {
            return Vec::new();
        }
        let missing = self.named.iter().filter(|(_, word, wanted)| !self.is_there(word, *wanted));
        missing.map(|(name, word, wanted)| Diagnostic::on(name, message(&name.text, word, *wanted))).collect()
    }

    fn is_there(&self, word: &String, wanted: Wanted) -> bool {
        let is_it = |facts: &Facts<'_>| match wanted {
            Wanted::Any | Wanted::Map => true,
            // A custom element may be a form control.
            Wanted::Control => facts.rules.is_none() || facts.categories(true).contains(Categories::LABELABLE),
            Wanted::Element(name) => facts.name() == name,
        };
        match wanted {
            Wanted::Map => self.maps.contains(word),
            _ => self.given.get(word).is_some_and(|all| all.iter().any(|(_, facts)| is_it(facts))),
        }
    }
}

fn message(attribute: &str, word: &str, wanted: Wanted) -> String {
    match wanted {
        Wanted::Any => format!("`{attribute}` refers to the id `{word}`, which no element of this page has"),
        Wanted::Control => format!("`{attribute}` refers to the id `{word}`, which no control of this page has"),
        Wanted::Element(name) => format!("`{attribute}` refers to the id `{word}`, which no `{name}` of this page has"),
        Wanted::Map => format!("`{attribute}` refers to the map `{word}`, which this page does not have"),
    }
}

//! Ids: none twice, and none that is named but not there.

use std::collections::HashMap;

use super::super::ast::{Attribute, Name};
use super::super::diagnostic::Diagnostic;
use super::super::standard::{Categories, Type};
use super::facts::Facts;
use super::kids::{Path, exclude};
use super::{attributes, facts};

/// The ids of a template, and what names them.
#[derive(Default)]
pub(super) struct Ids<'t> {
    given: HashMap<String, Vec<(Path, Facts<'t>)>>,
    named: Vec<(&'t Name, String, Wanted)>,
    /// Names of `map` elements, which `usemap` names.
    maps: Vec<String>,
    /// Is there an element whose id nobody sees?
    is_open: bool,
}

/// What must have the id.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Wanted {
    Any,
    /// What a `label` can be for.
    Control,
    Element(&'static str),
    /// It is no id, but the name of a `map`.
    Map,
}

impl<'t> Ids<'t> {
    /// Takes note of an element, and says if its id is another's.
    pub(super) fn element(&mut self, facts: Facts<'t>, path: &Path) -> Option<Diagnostic> {
        for attribute in &facts.element.attributes {
            if let Attribute::Named { name, value } = attribute {
                self.names(facts, name, facts::literal(value));
            }
        }
        self.is_open |=
            facts.is_filled() || facts.has("id") != super::facts::Presence::No && facts.literal("id").is_none();
        if facts.name() == "map" {
            self.maps.extend(facts.literal("name"));
        }
        let id = facts.literal("id").filter(|id| !id.is_empty())?;
        let others = self.given.entry(id.clone()).or_default();
        let is_twice = others.iter().any(|(other, _)| !exclude(other, path));
        others.push((path.clone(), facts));
        let message = format!("another element here has the id `{id}` already: an id is one element's");
        let name = facts.attribute("id").unwrap_or(&facts.element.name);
        is_twice.then(|| Diagnostic::on(name, message))
    }

    /// What stands in a splice could have any id.
    pub(super) fn hide(&mut self) {
        self.is_open = true;
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

    /// Of a whole page in which every id can be seen.
    pub(super) fn missing(self) -> Vec<Diagnostic> {
        if self.is_open {
            return Vec::new();
        }
        let missing = self.named.iter().filter(|(_, word, wanted)| !self.is_there(word, *wanted));
        missing.map(|(name, word, wanted)| Diagnostic::on(name, message(&name.text, word, *wanted))).collect()
    }

    fn is_there(&self, word: &String, wanted: Wanted) -> bool {
        let is_it = |facts: &Facts<'_>| match wanted {
            Wanted::Any | Wanted::Map => true,
            // A custom element may be a control.
            Wanted::Control => facts.rules.is_none() || facts.categories(true).has(Categories::LABELABLE),
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
        Wanted::Any => format!("`{attribute}` names the id `{word}`, and no element of this page has it"),
        Wanted::Control => format!("`{attribute}` names the id `{word}`, and no control of this page has it"),
        Wanted::Element(name) => format!("`{attribute}` names the id `{word}`, and no `{name}` of this page has it"),
        Wanted::Map => format!("`{attribute}` names the map `{word}`, and this page has no such `map`"),
    }
}

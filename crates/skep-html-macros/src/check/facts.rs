//! Facts about one element, found before its content is checked.

use super::super::ast::{Attribute, Element, Name, Node, Value};
use super::super::standard::{self, Categories, Condition, Exclusions, Rules, foreign};
use super::template::literal_start;

/// Does an element have an attribute?
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Presence {
    No,
    /// `name[bool]`, `name=[option]`, or `(attributes)`.
    Maybe,
    Yes,
}

/// An element and its rules.
#[derive(Clone, Copy)]
pub(super) struct Facts<'t> {
    pub(super) element: &'t Element,
    /// None for SVG, `MathML`, custom and unknown elements.
    pub(super) rules: Option<&'static Rules>,
}

/// An open element: an ancestor of the current node.
#[derive(Clone, Copy)]
pub(super) struct OpenElement<'t> {
    pub(super) facts: Facts<'t>,
    /// What it forbids at any depth.
    pub(super) excludes: Exclusions,
}

impl<'t> Facts<'t> {
    pub(super) fn of(element: &'t Element) -> Self {
        Self { element, rules: standard::element(&element.name.text) }
    }

    pub(super) fn name(&self) -> &'t str {
        &self.element.name.text
    }

    pub(super) fn has(&self, attribute: &str) -> Presence {
        let found = self.element.attributes.iter().map(|each| match each {
            Attribute::Splice(_) => Presence::Maybe,
            Attribute::Class { toggle: Some(_), .. } if attribute == "class" => Presence::Maybe,
            Attribute::Class { .. } if attribute == "class" => Presence::Yes,
            Attribute::Id { .. } if attribute == "id" => Presence::Yes,
            Attribute::Named { name, value } if name.text.eq_ignore_ascii_case(attribute) => match value {
                Value::None | Value::Nodes(_) => Presence::Yes,
                Value::Toggle(_) | Value::Optional(_) => Presence::Maybe,
            },
            _ => Presence::No,
        });
        found.max().unwrap_or(Presence::No)
    }

    /// The value of an attribute if it is literal. Without a value it is empty.
    pub(super) fn literal(&self, attribute: &str) -> Option<String> {
        self.element.attributes.iter().find_map(|each| match each {
            Attribute::Named { name, value } if name.text.eq_ignore_ascii_case(attribute) => literal(value),
            Attribute::Id { name, .. } if attribute == "id" => literal_nodes(name),
            _ => None,
        })
    }

    /// The name of the attribute in the template.
    pub(super) fn attribute(&self, attribute: &str) -> Option<&'t Name> {
        self.element.attributes.iter().find_map(|each| match each {
            Attribute::Named { name, .. } if name.text.eq_ignore_ascii_case(attribute) => Some(name),
            _ => None,
        })
    }

    /// Are there attributes that are unknown at compile time?
    pub(super) fn has_attribute_splice(&self) -> bool {
        self.element.attributes.iter().any(|each| matches!(each, Attribute::Splice(_)))
    }

    /// Its categories. A condition that is unknown at compile time counts as `lenient`.
    pub(super) fn categories(&self, lenient: bool) -> Categories {
        let Some(rules) = self.rules else { return self.foreign_categories() };
        let more = rules.conditional.iter().filter(|(condition, _)| self.holds(*condition, lenient));
        more.fold(rules.categories, |all, (_, more)| all.union(*more))
    }

    fn foreign_categories(&self) -> Categories {
        if standard::is_custom(self.name()) {
            Categories::PHRASING
        } else if foreign::is_foreign(self.name()) {
            Categories::FOREIGN
        } else {
            Categories::NONE
        }
    }

    fn holds(&self, condition: Condition, lenient: bool) -> bool {
        let maybe = |presence: Presence| presence == Presence::Yes || lenient && presence == Presence::Maybe;
        match condition {
            Condition::Has(names) => names.iter().any(|name| maybe(self.has(name))),
            Condition::NotHidden => match (self.has("type"), self.literal("type")) {
                (Presence::No, _) => true,
                (_, Some(kind)) => !kind.eq_ignore_ascii_case("hidden"),
                _ => lenient,
            },
            Condition::LinkInBody => {
                maybe(self.has("itemprop"))
                    || match (self.has("rel"), self.literal("rel")) {
                        (Presence::No, _) => false,
                        (_, Some(rel)) => rel.split_ascii_whitespace().all(is_body_ok),
                        _ => lenient,
                    }
            }
        }
    }

    /// What an ancestor may forbid about this element.
    pub(super) fn exclusions(&self) -> Exclusions {
        let categories = self.categories(false);
        let all = [
            (categories.contains(Categories::INTERACTIVE), Exclusions::INTERACTIVE),
            (categories.contains(Categories::INTERACTIVE) && !self.fits_canvas(), Exclusions::NOT_IN_CANVAS),
            (categories.contains(Categories::HEADING), Exclusions::HEADING),
            (categories.contains(Categories::SECTIONING), Exclusions::SECTIONING),
            (self.has("tabindex") == Presence::Yes, Exclusions::TABINDEX),
        ];
        let named = match self.name() {
            "a" => Exclusions::ANCHOR,
            "label" => Exclusions::LABEL,
            "form" => Exclusions::FORM,
            "header" | "footer" => Exclusions::HEADER,
            "address" => Exclusions::ADDRESS,
            "main" => Exclusions::MAIN,
            "table" => Exclusions::TABLE,
            "dfn" => Exclusions::DFN,
            "audio" | "video" => Exclusions::MEDIA,
            "noscript" => Exclusions::NOSCRIPT,
            "progress" => Exclusions::PROGRESS,
            "meter" => Exclusions::METER,
            "datalist" => Exclusions::DATALIST,
            "object" => Exclusions::OBJECT,
            _ => Exclusions::NONE,
        };
        all.iter().filter(|(holds, _)| *holds).fold(named, |exclusions, (_, exclusion)| exclusions.union(*exclusion))
    }

    /// Interactive content that a `canvas` allows (4.12.5).
    fn fits_canvas(&self) -> bool {
        let kind = self.literal("type").unwrap_or_default().to_ascii_lowercase();
        let buttons = ["checkbox", "radio", "submit", "image", "reset", "button"];
        let is_large = self.literal("size").and_then(|size| size.parse::<u32>().ok()).is_some_and(|size| size > 1);
        match self.name() {
            "a" | "button" => true,
            "img" => self.has("usemap") != Presence::No,
            "input" => {
                buttons.contains(&kind.as_str()) || self.literal("type").is_none() && self.has("type") != Presence::No
            }
            "select" => self.has("multiple") != Presence::No || is_large,
            _ => false,
        }
    }
}

/// Link types whose `link` is allowed in the body (4.6.7).
fn is_body_ok(word: &str) -> bool {
    let words = ["dns-prefetch", "modulepreload", "pingback", "preconnect", "prefetch", "preload", "stylesheet"];
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The value of an attribute of the element, if it is literal.
pub(crate) fn literal_attribute(element: &Element, attribute: &str) -> Option<String> {
    Facts::of(element).literal(attribute)
}

pub(super) fn literal(value: &Value) -> Option<String> {
    match value {
        Value::None => Some(String::new()),
        Value::Nodes(nodes) => literal_nodes(nodes),
        Value::Toggle(_) | Value::Optional(_) => None,
    }
}

fn literal_nodes(nodes: &[Node]) -> Option<String> {
    if nodes.is_empty() {
        return Some(String::new());
    }
    literal_start(nodes).filter(|(_, complete, _)| *complete).map(|(text, ..)| text)
}

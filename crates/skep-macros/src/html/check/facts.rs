//! What is known of one element before its content is looked at.

use super::super::ast::{Attribute, Element, Name, Node, Value};
use super::super::standard::{self, Categories, Condition, Rules, Things, foreign};
use super::template::literal_start;

/// Does an element have an attribute?
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Presence {
    No,
    /// `name[bool]`, `name=[option]`, or `(attributes)`.
    Maybe,
    Yes,
}

/// An element, and what the standard says of it.
#[derive(Clone, Copy)]
pub(super) struct Facts<'t> {
    pub(super) element: &'t Element,
    /// None if it is of SVG or `MathML`, a custom element, or unknown.
    pub(super) rules: Option<&'static Rules>,
}

impl<'t> Facts<'t> {
    pub(super) fn of(element: &'t Element) -> Self {
        Self { element, rules: standard::element(&element.name.text) }
    }

    pub(super) fn name(&self) -> &'t str {
        &self.element.name.text
    }

    pub(super) fn has(&self, attribute: &str) -> Presence {
        let mut presence = Presence::No;
        for each in &self.element.attributes {
            let found = match each {
                Attribute::Splice(_) => Presence::Maybe,
                Attribute::Class { toggle, .. } if attribute == "class" => {
                    if toggle.is_some() {
                        Presence::Maybe
                    } else {
                        Presence::Yes
                    }
                }
                Attribute::Id { .. } if attribute == "id" => Presence::Yes,
                Attribute::Named { name, value } if name.text.eq_ignore_ascii_case(attribute) => match value {
                    Value::None | Value::Nodes(_) => Presence::Yes,
                    Value::Toggle(_) | Value::Optional(_) => Presence::Maybe,
                },
                _ => Presence::No,
            };
            if found == Presence::Yes {
                return Presence::Yes;
            }
            if found == Presence::Maybe {
                presence = Presence::Maybe;
            }
        }
        presence
    }

    /// The attribute's value, if all of it stands in the template. Without a value it is empty.
    pub(super) fn literal(&self, attribute: &str) -> Option<String> {
        self.element.attributes.iter().find_map(|each| match each {
            Attribute::Named { name, value } if name.text.eq_ignore_ascii_case(attribute) => literal(value),
            Attribute::Id { name, .. } if attribute == "id" => literal_nodes(name),
            _ => None,
        })
    }

    /// The attribute as the author wrote it.
    pub(super) fn attribute(&self, attribute: &str) -> Option<&'t Name> {
        self.element.attributes.iter().find_map(|each| match each {
            Attribute::Named { name, .. } if name.text.eq_ignore_ascii_case(attribute) => Some(name),
            _ => None,
        })
    }

    /// Are there attributes that nobody sees?
    pub(super) fn is_filled(&self) -> bool {
        self.element.attributes.iter().any(|each| matches!(each, Attribute::Splice(_)))
    }

    /// Its categories. What hangs on a condition that is not known is in if `lenient`.
    pub(super) fn categories(&self, lenient: bool) -> Categories {
        let Some(rules) = self.rules else { return self.foreign_categories() };
        match rules.conditional {
            Some((condition, more)) if self.holds(condition, lenient) => rules.categories.and(more),
            _ => rules.categories,
        }
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

    /// What of this element an ancestor may forbid.
    pub(super) fn things(&self) -> Things {
        let categories = self.categories(false);
        let all = [
            (categories.has(Categories::INTERACTIVE), Things::INTERACTIVE),
            (categories.has(Categories::INTERACTIVE) && !self.fits_canvas(), Things::NOT_IN_CANVAS),
            (categories.has(Categories::HEADING), Things::HEADING),
            (categories.has(Categories::SECTIONING), Things::SECTIONING),
            (self.has("tabindex") == Presence::Yes, Things::TABINDEX),
        ];
        let named = match self.name() {
            "a" => Things::ANCHOR,
            "label" => Things::LABEL,
            "form" => Things::FORM,
            "header" | "footer" => Things::HEADER,
            "address" => Things::ADDRESS,
            "main" => Things::MAIN,
            "table" => Things::TABLE,
            "dfn" => Things::DFN,
            "audio" | "video" => Things::MEDIA,
            "noscript" => Things::NOSCRIPT,
            "progress" => Things::PROGRESS,
            "meter" => Things::METER,
            "datalist" => Things::DATALIST,
            "object" => Things::OBJECT,
            _ => Things::NONE,
        };
        all.iter().filter(|(holds, _)| *holds).fold(named, |things, (_, thing)| things.and(*thing))
    }

    /// Interactive content that a `canvas` may hold (4.12.5).
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

/// Link types that make a `link` that may stand in the body (4.6.7).
fn is_body_ok(word: &str) -> bool {
    let words = ["dns-prefetch", "modulepreload", "pingback", "preconnect", "prefetch", "preload", "stylesheet"];
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
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

//! Trees that follow from the table: each element in each, each attribute on each, values of each type.

use super::least::{least, page};
use super::random::Random;
use super::tree::{Element, Tree};
use super::values::{input_types, samples};
use crate::html::check::attributes::kind;
use crate::html::standard::{Content, Rules, Things, aria, attributes, element, elements::ELEMENTS, obsolete};

/// Each element as the last child of each, and as the first of those that need children.
pub(super) fn pairs() -> Vec<Element> {
    let mut trees = Vec::new();
    for parent in ELEMENTS {
        for child in names() {
            let mut holder = least(parent.name);
            holder.kids.insert(0, Tree::Element(least(child)));
            if !least(parent.name).kids.is_empty() {
                trees.push(page(holder));
            }
            trees.push(page(least(parent.name).holding(least(child))));
        }
        trees.push(page(least(parent.name)));
        trees.push(page(least(parent.name).saying("text")));
    }
    trees
}

/// Of HTML, and some others.
fn names() -> impl Iterator<Item = &'static str> {
    let others = ["my-element", "blink", "center", "font", "param", "circle", "mfrac", "nonsense"];
    ELEMENTS.iter().map(|rules| rules.name).chain(others)
}

/// Each element in each transparent one, in some that are not.
pub(super) fn through_transparent() -> Vec<Element> {
    let is_transparent = |rules: &&Rules| matches!(rules.content, Content::Transparent(_));
    let mut trees = Vec::new();
    for outer in ["p", "section", "button"] {
        for middle in ELEMENTS.iter().filter(is_transparent) {
            for inner in ELEMENTS {
                trees.push(page(least(outer).holding(least(middle.name).holding(least(inner.name)))));
            }
        }
    }
    trees
}

/// Each element deep in each that forbids something at any depth. With and without the attribute that makes it
/// interactive.
pub(super) fn at_depth() -> Vec<Element> {
    let forbids = |rules: &&Rules| rules.excludes != Things::NONE;
    let mut trees = Vec::new();
    for outer in ELEMENTS.iter().filter(forbids) {
        for inner in ELEMENTS {
            let middle = || if is_phrasing_only(outer) { least("span") } else { least("div") };
            for attribute in
                [("title", "x"), ("href", "/x"), ("controls", ""), ("usemap", "#the-map"), ("tabindex", "0")]
            {
                let (name, value) = attribute;
                let is_global = attributes::global(name).is_some();
                if is_global || inner.attribute(name).is_some() {
                    let inner = least(inner.name).with(name, value);
                    trees.push(page(least(outer.name).holding(middle().holding(inner))));
                }
            }
        }
    }
    trees
}

fn is_phrasing_only(rules: &Rules) -> bool {
    use crate::html::standard::Model;
    !matches!(rules.content, Content::Model(Model::Flow, _))
}

/// Each value of each attribute, on its element; those that every element takes on one of each kind.
pub(super) fn values() -> Vec<Element> {
    let mut trees = Vec::new();
    for rules in ELEMENTS {
        for (name, _) in rules.attributes {
            try_values(rules, name, least(rules.name), &mut trees);
        }
        for name in rules.required {
            let mut element = least(rules.name);
            element.attributes.retain(|(known, _)| known != name);
            trees.push(page(element));
        }
    }
    let global = attributes::GLOBAL.iter().chain(aria::ATTRIBUTES).map(|(name, _)| *name);
    for name in global.chain(attributes::HANDLERS.iter().copied()) {
        let div = element("div").expect("it is of HTML");
        try_values(div, name, least("div"), &mut trees);
    }
    trees
}

/// Each attribute of `input` with each type.
pub(super) fn inputs() -> Vec<Element> {
    let input = element("input").expect("it is of HTML");
    let mut trees = Vec::new();
    for of in input_types() {
        let mut least = least("input").with("type", of);
        if of == "image" {
            least = least.with("src", "/x").with("alt", "x");
        }
        if of == "button" {
            least = least.with("value", "x");
        }
        trees.push(page(least.clone()));
        for (name, _) in input.attributes.iter().filter(|(name, _)| *name != "type") {
            let kind = kind(input, name).expect("it is its own");
            let most = if matches!(*name, "autocomplete" | "accept") { usize::MAX } else { 2 };
            for value in samples("input", name, kind).iter().take(most) {
                trees.push(page(least.clone().with(name, value)));
            }
        }
        for typed in
            ["2026-09-16", "2026-09", "2026-W38", "12:30", "2026-09-16T12:30", "7", "#c0ffee", "a@b.c", "https://x.y/"]
        {
            trees.push(page(least.clone().with("value", typed)));
        }
    }
    trees
}

fn try_values(rules: &Rules, name: &str, least: Element, trees: &mut Vec<Element>) {
    let Some(kind) = kind(rules, name) else {
        trees.push(page(least.with(name, "x")));
        return;
    };
    trees.extend(samples(rules.name, name, kind).into_iter().map(|value| page(least.clone().with(name, &value))));
}

/// What the lines of the list are about that nothing else here is sure to meet.
pub(super) fn by_hand() -> Vec<Element> {
    let new = Element::new;
    let trees = vec![
        new("embed").with("src", "/x").with("href", "/x"),
        new("link").with("rel", "stylesheet").with("href", "/x").with("rev", "x"),
        new("template").holding(new("del")).holding(new("th")),
        new("template").holding(new("td")).holding(new("ol")),
        new("select").holding(least("optgroup")).holding(least("button")),
        new("select").holding(new("noscript").saying("x")),
        new("svg").holding(new("style").with("blocking", "render")),
    ];
    trees.into_iter().map(page).collect()
}

/// Each element with attributes that are mostly not its own: of every one, one in `part`, always the same.
pub(super) fn strangers(part: usize) -> Vec<Element> {
    let own = ELEMENTS.iter().flat_map(|rules| rules.attributes).map(|(name, _)| *name);
    let once = obsolete::ATTRIBUTES.iter().map(|(name, _, _)| *name);
    let global = attributes::GLOBAL.iter().chain(aria::ATTRIBUTES).map(|(name, _)| *name);
    let mut names: Vec<&str> = own.chain(once).chain(global).chain(["nonsense", "data-x", "onclick"]).collect();
    names.sort_unstable();
    names.dedup();
    let mut trees = Vec::new();
    for rules in ELEMENTS {
        for name in &names {
            if Random::of(&[rules.name, name]).below(part) == 0 {
                let right = kind(rules, name).map(|kind| samples(rules.name, name, kind)[0].clone());
                trees.push(page(least(rules.name).with(name, &right.unwrap_or_else(|| "x".to_owned()))));
            }
        }
    }
    trees
}

//! Trees derived from the table: each element in each, each attribute on each, values of each type.

use super::minimal::{minimal, page};
use super::random::Random;
use super::tree::{Element, Tree};
use super::values::{input_types, samples};
use crate::check::attributes::kind;
use crate::standard::{Content, Exclusions, Model, Rules, aria, attributes, element, elements::ELEMENTS, obsolete};

/// Each element as the last child of each, and as the first child of those that require children.
pub(super) fn pairs() -> Vec<Element> {
    let mut trees = Vec::new();
    for parent in ELEMENTS {
        for child in names() {
            let mut holder = minimal(parent.name);
            holder.children.insert(0, Tree::Element(minimal(child)));
            if !minimal(parent.name).children.is_empty() {
                trees.push(page(holder));
            }
            trees.push(page(minimal(parent.name).with_child(minimal(child))));
        }
        trees.push(page(minimal(parent.name)));
        trees.push(page(minimal(parent.name).with_text("text")));
    }
    trees
}

/// HTML elements, and some others.
fn names() -> impl Iterator<Item = &'static str> {
    let others = ["my-element", "blink", "center", "font", "param", "circle", "mfrac", "nonsense"];
    ELEMENTS.iter().map(|rules| rules.name).chain(others)
}

/// Each element in each transparent one, in several parents.
pub(super) fn through_transparent() -> Vec<Element> {
    let is_transparent = |rules: &&Rules| matches!(rules.content, Content::Transparent(_));
    let mut trees = Vec::new();
    for outer in ["p", "section", "button"] {
        for middle in ELEMENTS.iter().filter(is_transparent) {
            for inner in ELEMENTS {
                trees.push(page(minimal(outer).with_child(minimal(middle.name).with_child(minimal(inner.name)))));
            }
        }
    }
    trees
}

/// Each element below each that has exclusions, with and without the attribute that makes it interactive.
pub(super) fn at_depth() -> Vec<Element> {
    let forbids = |rules: &&Rules| rules.excludes != Exclusions::NONE;
    let mut trees = Vec::new();
    for outer in ELEMENTS.iter().filter(forbids) {
        for inner in ELEMENTS {
            let middle = || if is_phrasing_only(outer) { minimal("span") } else { minimal("div") };
            for (name, value) in
                [("title", "x"), ("href", "/x"), ("controls", ""), ("usemap", "#the-map"), ("tabindex", "0")]
            {
                if attributes::global(name).is_some() || inner.attribute(name).is_some() {
                    let inner = minimal(inner.name).with(name, value);
                    trees.push(page(minimal(outer.name).with_child(middle().with_child(inner))));
                }
            }
        }
    }
    trees
}

fn is_phrasing_only(rules: &Rules) -> bool {
    !matches!(rules.content, Content::Model(Model::Flow, _))
}

/// Sample values of each attribute on its element; those of global attributes on one element.
pub(super) fn values() -> Vec<Element> {
    let mut trees = Vec::new();
    for rules in ELEMENTS {
        for (name, _) in rules.attributes {
            try_values(rules, name, minimal(rules.name), &mut trees);
        }
        for name in rules.required {
            let mut element = minimal(rules.name);
            element.attributes.retain(|(known, _)| known != name);
            trees.push(page(element));
        }
    }
    let global = attributes::GLOBAL.iter().chain(aria::ATTRIBUTES).map(|(name, _)| *name);
    for name in global.chain(attributes::HANDLERS.iter().copied()) {
        let div = element("div").expect("it is of HTML");
        try_values(div, name, minimal("div"), &mut trees);
    }
    trees
}

/// Each attribute of `input` with each type.
pub(super) fn inputs() -> Vec<Element> {
    let input = element("input").expect("it is of HTML");
    let mut trees = Vec::new();
    for of in input_types() {
        let mut minimal = minimal("input").with("type", of);
        if of == "image" {
            minimal = minimal.with("src", "/x").with("alt", "x");
        }
        if of == "button" {
            minimal = minimal.with("value", "x");
        }
        trees.push(page(minimal.clone()));
        for (name, _) in input.attributes.iter().filter(|(name, _)| *name != "type") {
            let kind = kind(input, name).expect("it is its own");
            let most = if matches!(*name, "autocomplete" | "accept") { usize::MAX } else { 2 };
            for value in samples("input", name, kind).iter().take(most) {
                trees.push(page(minimal.clone().with(name, value)));
            }
        }
        for typed in
            ["2026-09-16", "2026-09", "2026-W38", "12:30", "2026-09-16T12:30", "7", "#c0ffee", "a@b.c", "https://x.y/"]
        {
            trees.push(page(minimal.clone().with("value", typed)));
        }
    }
    trees
}

fn try_values(rules: &Rules, name: &str, minimal: Element, trees: &mut Vec<Element>) {
    let Some(kind) = kind(rules, name) else {
        trees.push(page(minimal.with(name, "x")));
        return;
    };
    trees.extend(samples(rules.name, name, kind).into_iter().map(|value| page(minimal.clone().with(name, &value))));
}

/// Trees for differences that the others may not exercise.
pub(super) fn by_hand() -> Vec<Element> {
    let new = Element::new;
    let trees = vec![
        new("embed").with("src", "/x").with("href", "/x"),
        new("link").with("rel", "stylesheet").with("href", "/x").with("rev", "x"),
        new("template").with_child(new("del")).with_child(new("th")),
        new("template").with_child(new("td")).with_child(new("ol")),
        new("select").with_child(minimal("optgroup")).with_child(minimal("button")),
        new("select").with_child(new("noscript").with_text("x")),
        new("svg").with_child(new("style").with("blocking", "render")),
    ];
    trees.into_iter().map(page).collect()
}

/// Each element with attributes of other elements, one in `part` of them, chosen by hash.
pub(super) fn foreign_attributes(part: usize) -> Vec<Element> {
    let own = ELEMENTS.iter().flat_map(|rules| rules.attributes).map(|(name, _)| *name);
    let once = obsolete::ATTRIBUTES.iter().flat_map(|(names, _, _)| names.split(' '));
    let global = attributes::GLOBAL.iter().chain(aria::ATTRIBUTES).map(|(name, _)| *name);
    let mut names: Vec<&str> = own.chain(once).chain(global).chain(["nonsense", "data-x", "onclick"]).collect();
    names.sort_unstable();
    names.dedup();
    let mut trees = Vec::new();
    for rules in ELEMENTS {
        for name in &names {
            if Random::of(&[rules.name, name]).below(part) == 0 {
                let right = kind(rules, name).map(|kind| samples(rules.name, name, kind)[0].clone());
                trees.push(page(minimal(rules.name).with(name, &right.unwrap_or_else(|| "x".to_owned()))));
            }
        }
    }
    trees
}

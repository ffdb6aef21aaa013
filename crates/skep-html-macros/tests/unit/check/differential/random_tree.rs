//! Random trees, and mutations of them.

use super::minimal::{minimal, page};
use super::random::Random;
use super::tree::{Element, Tree};
use super::values::samples;
use crate::check::attributes::kind;
use crate::standard::{Content, Model, Rules, attributes, element, elements::ELEMENTS};

/// The checkers treat the content of these differently; only the derived trees contain them.
const SKIPPED: &[&str] = &["math", "svg", "template"];

/// The maximum depth below `body`.
const DEPTH: usize = 4;

/// A mostly valid tree.
pub(super) fn generate(random: &mut Random) -> Element {
    let mut body = Element::new("body");
    fill(&mut body, Content::Model(Model::Flow, &[]), Model::Flow, DEPTH, random);
    page(body)
}

/// Appends children that the model allows.
fn fill(parent: &mut Element, content: Content, around: Model, depth: usize, random: &mut Random) {
    let (model, also) = match content {
        Content::Void => return,
        Content::Model(model, also) => (model, also),
        Content::Transparent(also) => (around, also),
    };
    if depth == 0 {
        return;
    }
    for _ in 0..random.below(4) {
        if model.takes_text() && random.percent(30) {
            parent.children.push(Tree::Text("text".to_owned()));
            continue;
        }
        let fits = |rules: &&Rules| model.accepts(rules) || also.contains(&rules.name);
        let fitting: Vec<&Rules> = ELEMENTS.iter().filter(fits).collect();
        if fitting.is_empty() {
            return;
        }
        let rules: &Rules = fitting[random.below(fitting.len())];
        let mut child = minimal(rules.name);
        if child.children.is_empty() && !SKIPPED.contains(&rules.name) {
            fill(&mut child, rules.content, model, depth - 1, random);
        }
        attribute(&mut child, rules, random);
        parent.children.push(Tree::Element(child));
    }
}

fn attribute(element: &mut Element, rules: &Rules, random: &mut Random) {
    if random.percent(60) {
        return;
    }
    let global = ["title", "lang", "hidden", "class", "tabindex", "dir"];
    let own = rules.attributes.iter().map(|(name, _)| *name);
    let names: Vec<&str> = own.chain(global).collect();
    let name = names[random.below(names.len())];
    set(element, name, rules, random);
}

fn set(element: &mut Element, name: &str, rules: &Rules, random: &mut Random) {
    let values: Vec<String> =
        kind(rules, name).map_or_else(|| vec!["x".to_owned()], |kind| samples(rules.name, name, kind));
    let value = random.one(&values).clone();
    *element = std::mem::replace(element, Element::new("")).with(name, &value);
}

/// Applies one mutation of nesting, number, order, attributes or values.
pub(super) fn mutate(tree: &Element, random: &mut Random) -> Element {
    let mut tree = tree.clone();
    // Keep `html`, `head` and `title`.
    let mut place = 3 + random.below(tree.size() - 3);
    let Some(chosen) = tree.at(&mut place).filter(|chosen| !SKIPPED.contains(&chosen.name.as_str())) else {
        return tree;
    };
    let any = random.one(ELEMENTS);
    match random.below(9) {
        0 => chosen.children.push(Tree::Element(minimal(any.name))),
        1 => chosen.children.insert(0, Tree::Element(minimal(any.name))),
        2 => chosen.children.push(Tree::Text("text".to_owned())),
        3 if chosen.name != "body" && !SKIPPED.contains(&any.name) => chosen.name = any.name.to_owned(),
        4 if !chosen.children.is_empty() => drop(chosen.children.remove(random.below(chosen.children.len()))),
        5 if chosen.children.len() > 1 => chosen.children.reverse(),
        6 if !chosen.children.is_empty() => {
            let twin = random.one(&chosen.children).clone();
            chosen.children.push(twin);
        }
        7 => {
            let names: Vec<&str> = any.attributes.iter().chain(attributes::GLOBAL).map(|(name, _)| *name).collect();
            let name = names[random.below(names.len())];
            if let Some(rules) = element(&chosen.name) {
                set(chosen, name, rules, random);
            }
        }
        _ if !chosen.attributes.is_empty() => {
            let which = random.below(chosen.attributes.len());
            chosen.attributes.remove(which);
        }
        _ => {}
    }
    tree
}

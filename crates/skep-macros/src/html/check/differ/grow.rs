//! Trees that chance makes from the table, and what one change makes of them.

use super::least::{least, page};
use super::random::Random;
use super::tree::{Element, Tree};
use super::values::samples;
use crate::html::check::attributes::kind;
use crate::html::standard::{Content, Model, Rules, attributes, element, elements::ELEMENTS};

/// What stands in these the two checkers do not judge alike; the trees that are not of chance say how.
const APART: &[&str] = &["math", "svg", "template"];

/// So deep at most, below `body`.
const DEPTH: usize = 4;

/// A tree that mostly is right.
pub(super) fn grow(random: &mut Random) -> Element {
    let mut body = Element::new("body");
    fill(&mut body, Content::Model(Model::Flow, &[]), Model::Flow, DEPTH, random);
    page(body)
}

/// Adds children that the model takes, behind those that must be there.
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
            parent.kids.push(Tree::Text("text".to_owned()));
            continue;
        }
        let fits = |rules: &&Rules| model.accepts(rules) || also.contains(&rules.name);
        let fitting: Vec<&Rules> = ELEMENTS.iter().filter(fits).collect();
        if fitting.is_empty() {
            return;
        }
        let rules: &Rules = fitting[random.below(fitting.len())];
        let mut child = least(rules.name);
        if child.kids.is_empty() && !APART.contains(&rules.name) {
            fill(&mut child, rules.content, model, depth - 1, random);
        }
        attribute(&mut child, rules, random);
        parent.kids.push(Tree::Element(child));
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

/// One change: of nesting, number, order, attributes or values.
pub(super) fn mutate(tree: &Element, random: &mut Random) -> Element {
    let mut tree = tree.clone();
    // The first two are `html` and `head`, the third is the title.
    let mut place = 3 + random.below(tree.size() - 3);
    let Some(chosen) = tree.at(&mut place).filter(|chosen| !APART.contains(&chosen.name.as_str())) else { return tree };
    let any = random.one(ELEMENTS);
    match random.below(9) {
        0 => chosen.kids.push(Tree::Element(least(any.name))),
        1 => chosen.kids.insert(0, Tree::Element(least(any.name))),
        2 => chosen.kids.push(Tree::Text("text".to_owned())),
        3 if chosen.name != "body" && !APART.contains(&any.name) => chosen.name = any.name.to_owned(),
        4 if !chosen.kids.is_empty() => drop(chosen.kids.remove(random.below(chosen.kids.len()))),
        5 if chosen.kids.len() > 1 => chosen.kids.reverse(),
        6 if !chosen.kids.is_empty() => {
            let twin = random.one(&chosen.kids).clone();
            chosen.kids.push(twin);
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

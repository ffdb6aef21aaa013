//! Goes through a template once, and asks of each node whether it may stand where it stands.

use std::collections::HashMap;

use super::super::ast::{Body, Element, If, Name, Node, Splice, Text};
use super::super::diagnostic::Diagnostic;
use super::super::names;
use super::super::standard::{Categories, Model, Models, Things};
use super::content::Place;
use super::facts::Facts;
use super::template::visit;
use super::{Checked, Context, Piece, Root, content};

/// An element that is open.
#[derive(Clone, Copy)]
pub(super) struct Frame<'t> {
    pub(super) facts: Facts<'t>,
    /// What it forbids inside, at any depth.
    pub(super) excludes: Things,
}

pub(super) struct Walker<'t> {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The open elements, the outermost first.
    pub(super) frames: Vec<Frame<'t>>,
    roots: Vec<Root<'t>>,
    contains: Vec<(Things, &'t Name)>,
    contexts: HashMap<*const Splice, Context<'t>>,
}

pub(super) fn walk(nodes: &[Node], piece: Piece) -> Checked<'_> {
    let (diagnostics, frames, roots, contains) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut walker = Walker { diagnostics, frames, roots, contains, contexts: HashMap::new() };
    let kind = match piece {
        Piece::FromRoots => kind(nodes, &mut walker.diagnostics),
        Piece::Inferred => Model::Root,
    };
    walker.nodes(nodes, Place::top(kind));
    let Walker { diagnostics, roots, contains, contexts, .. } = walker;
    Checked { diagnostics, kind, roots, contains, contexts }
}

/// The kind that all roots fit, or else the first one's.
fn kind(nodes: &[Node], diagnostics: &mut Vec<Diagnostic>) -> Model {
    let mut roots: Vec<(&Name, Models)> = Vec::new();
    visit(nodes, &mut |node| {
        if let Node::Element(element) = node {
            let facts = Facts::of(element);
            let categories = facts.categories(true);
            if categories != Categories::NONE || facts.rules.is_some() {
                roots.push((&element.name, Model::that_take(facts.name(), categories)));
            }
        }
    });
    let first_of = |fits: Models| Model::KINDS.iter().copied().find(|model| fits.has(*model));
    let common = roots.iter().fold(Models::ALL, |common, (_, fits)| common.common(*fits));
    if let Some(kind) = first_of(common) {
        return kind;
    }
    for (name, _) in roots.iter().filter(|(_, fits)| first_of(*fits).is_none()) {
        let parents = content::parents(&name.text);
        let message = format!("`{}` stands only in {parents}: write that element here as well, around it", name.text);
        diagnostics.push(Diagnostic::on(name, message));
    }
    let mut known = roots.iter().filter_map(|(_, fits)| first_of(*fits));
    let Some(kind) = known.next() else { return Model::Root };
    // What has no kind was named already, and would be named again if a kind were asked of it.
    if roots.iter().all(|(_, fits)| first_of(*fits).is_some()) { kind } else { Model::Root }
}

impl<'t> Walker<'t> {
    pub(super) fn nodes(&mut self, nodes: &'t [Node], place: Place<'t>) {
        for node in nodes {
            match node {
                Node::Text(text) => self.text(text, place),
                Node::Splice(splice) => self.splice(splice, place),
                Node::Element(element) => self.element(element, place),
                Node::Block(nodes) => self.nodes(nodes, place),
                Node::If(If { branches, otherwise }) => {
                    for branch in branches {
                        self.nodes(&branch.nodes, place);
                    }
                    self.nodes(otherwise.as_deref().unwrap_or_default(), place);
                }
                Node::Loop(body) => self.nodes(&body.nodes, place),
                Node::Match(choice) => choice.arms.iter().for_each(|arm| self.nodes(&arm.nodes, place)),
                Node::Let(_) => {}
            }
        }
    }

    fn text(&mut self, text: &Text, place: Place<'t>) {
        if place.model.takes_text() || text.value.trim_ascii().is_empty() {
            return;
        }
        self.diagnostics.push(Diagnostic::new(text.span, content::no_text(place, self.parent())));
    }

    fn splice(&mut self, splice: &'t Splice, place: Place<'t>) {
        let all = self.frames.iter().fold(Things::NONE, |all, frame| all.and(frame.excludes));
        let each = all.each().filter(|(thing, _)| *thing != Things::MAIN);
        let forbidden = each.filter_map(|(thing, _)| Some((thing, self.who_forbids(thing)?))).collect();
        let context = Context { model: place.model, also: place.also, parent: self.parent(), forbidden };
        self.contexts.insert(std::ptr::from_ref(splice), context);
    }

    fn parent(&self) -> Option<&'t str> {
        self.frames.last().map(|frame| frame.facts.name())
    }

    /// The nearest ancestor that forbids a thing.
    fn who_forbids(&self, thing: Things) -> Option<&'t str> {
        let forbids = |frame: &&Frame<'t>| !frame.excludes.common(thing).is_empty();
        self.frames.iter().rev().find(forbids).map(|frame| frame.facts.name())
    }

    fn element(&mut self, element: &'t Element, place: Place<'t>) {
        let facts = Facts::of(element);
        let is_known = self.known(facts, place);
        if is_known {
            self.placed(facts, place);
        }
        if let Body::Nodes(nodes, _) = &element.body {
            let inside = content::inside(facts, place, &self.frames);
            self.frames.push(Frame { facts, excludes: content::excludes(facts, &self.frames) });
            self.nodes(nodes, inside);
            self.frames.pop();
        }
    }

    /// Is there an element of this name here?
    fn known(&mut self, facts: Facts<'t>, place: Place<'t>) -> bool {
        let name = &facts.element.name;
        if !names::is_well_cased(&name.text) {
            return false;
        }
        let Some(message) = content::unknown(facts, place) else { return true };
        self.diagnostics.push(Diagnostic::on(name, message));
        false
    }

    /// May it stand here?
    fn placed(&mut self, facts: Facts<'t>, place: Place<'t>) {
        let (name, categories, things) = (&facts.element.name, facts.categories(true), facts.things());
        if place.is_top {
            self.roots.push(Root { name, fits: Model::that_take(&name.text, categories) });
        }
        for (thing, _) in things.each() {
            if self.contains.iter().all(|(known, _)| *known != thing) {
                self.contains.push((thing, name));
            }
        }
        if !place.takes(&name.text, categories) {
            self.diagnostics.push(Diagnostic::on(name, content::not_here(facts, place, self.parent())));
            return;
        }
        let all = self.frames.iter().fold(Things::NONE, |all, frame| all.and(frame.excludes));
        if let Some((thing, called)) = all.common(things).each().next() {
            if let Some(ancestor) = self.who_forbids(thing) {
                let message = content::excluded(&name.text, thing, called, ancestor);
                self.diagnostics.push(Diagnostic::on(name, message));
            }
        }
    }
}

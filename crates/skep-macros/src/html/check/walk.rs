//! Goes through a template once, and asks of each node whether it may stand where it stands.

use std::collections::HashMap;

use super::super::ast::{Body, Element, If, Name, Node, Splice, Text};
use super::super::diagnostic::Diagnostic;
use super::super::names;
use super::super::standard::{Categories, Model, Models, Things};
use super::content::Place;
use super::facts::{Facts, Presence};
use super::ids::Ids;
use super::kids::{Path, exclude};
use super::template::visit;
use super::{Checked, Context, Piece, Root, attributes, content, order, required};

/// An element that is open.
#[derive(Clone, Copy)]
pub(super) struct Frame<'t> {
    pub(super) facts: Facts<'t>,
    /// What it forbids inside, at any depth.
    pub(super) excludes: Things,
}

#[derive(Default)]
pub(super) struct Walker<'t> {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The open elements, the outermost first.
    pub(super) frames: Vec<Frame<'t>>,
    roots: Vec<Root<'t>>,
    contains: Vec<(Things, &'t Name)>,
    contexts: HashMap<*const Splice, Context<'t>>,
    ids: Ids<'t>,
    /// Where it is in the control flow.
    path: Path,
    forks: usize,
    /// The heading before this place, if it is sure which one that is: its level.
    heading: Option<u8>,
    /// Every `main` that shows, and where.
    mains: Vec<Path>,
    /// The controls that stand in a `label`, by how deep the label is.
    labelled: Vec<(usize, Path)>,
}

pub(super) fn walk(nodes: &[Node], piece: Piece) -> Checked<'_> {
    let mut walker = Walker::default();
    let kind = match piece {
        Piece::FromRoots => kind(nodes, &mut walker.diagnostics),
        Piece::Inferred => Model::Root,
    };
    walker.nodes(nodes, Place::top(kind));
    if kind == Model::Document {
        walker.diagnostics.extend(std::mem::take(&mut walker.ids).missing());
    }
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
                    let arms = branches.iter().map(|branch| branch.nodes.as_slice()).chain(otherwise.as_deref());
                    self.arms(arms, place);
                }
                Node::Loop(body) => self.arms(std::iter::once(body.nodes.as_slice()), place),
                Node::Match(choice) => self.arms(choice.arms.iter().map(|arm| arm.nodes.as_slice()), place),
                Node::Let(_) => {}
            }
        }
    }

    fn arms(&mut self, arms: impl Iterator<Item = &'t [Node]>, place: Place<'t>) {
        let fork = self.forks;
        self.forks += 1;
        let before = self.heading;
        let mut is_same = true;
        for (arm, nodes) in arms.enumerate() {
            self.heading = before;
            self.path.push((fork, arm));
            self.nodes(nodes, place);
            self.path.pop();
            is_same &= self.heading == before;
        }
        self.heading = before.filter(|_| is_same);
    }

    fn text(&mut self, text: &Text, place: Place<'t>) {
        if place.takes_text() || text.value.trim_ascii().is_empty() {
            return;
        }
        self.diagnostics.push(Diagnostic::new(text.span, content::no_text(place, self.parent())));
    }

    fn splice(&mut self, splice: &'t Splice, place: Place<'t>) {
        // Before `html` stands the DOCTYPE.
        if !(place.is_top && place.model == Model::Document) {
            self.ids.hide();
        }
        let each = self.excluded().each().filter(|(thing, _)| *thing != Things::MAIN);
        let forbidden = each.filter_map(|(thing, _)| Some((thing, self.who_forbids(thing)?))).collect();
        let context = Context { model: place.model, also: place.also, parent: self.parent(), forbidden };
        self.contexts.insert(std::ptr::from_ref(splice), context);
        self.heading = None;
    }

    fn parent(&self) -> Option<&'t str> {
        self.frames.last().map(|frame| frame.facts.name())
    }

    /// What the ancestors forbid. What stands in a `template` has none beyond it (4.12.3).
    fn excluded(&self) -> Things {
        let inner = self.frames.iter().rposition(|frame| frame.facts.name() == "template").map_or(0, |at| at + 1);
        self.frames[inner..].iter().fold(Things::NONE, |all, frame| all.and(frame.excludes))
    }

    /// The nearest ancestor that forbids a thing.
    fn who_forbids(&self, thing: Things) -> Option<&'t str> {
        let forbids = |frame: &&Frame<'t>| !frame.excludes.common(thing).is_empty();
        self.frames.iter().rev().find(forbids).map(|frame| frame.facts.name())
    }

    fn element(&mut self, element: &'t Element, place: Place<'t>) {
        if place.has_no_tags() {
            return;
        }
        let facts = Facts::of(element);
        let is_known = self.known(facts, place);
        let is_right = is_known && self.placed(facts, place);
        if is_known {
            attributes::check(facts, &mut self.diagnostics);
            required::check(facts, &self.frames, &mut self.diagnostics);
            self.diagnostics.extend(self.ids.element(facts, &self.path));
        }
        if is_right {
            order::check(facts, &self.frames, &mut self.diagnostics);
            self.among(facts);
        }
        if let Body::Nodes(nodes, _) = &element.body {
            let mut inside = content::inside(facts, place, &self.frames);
            inside.forgiven = (!is_right).then_some(place.model);
            self.frames.push(Frame { facts, excludes: content::excludes(facts, &self.frames) });
            self.nodes(nodes, inside);
            self.frames.pop();
            if facts.name() == "label" {
                let depth = self.frames.len();
                self.labelled.retain(|(label, _)| *label != depth);
            }
        }
    }

    /// What it is to the rest of the template.
    fn among(&mut self, facts: Facts<'t>) {
        let name = &facts.element.name;
        if name.text == "main" && facts.has("hidden") == Presence::No {
            if self.mains.iter().any(|main| !exclude(main, &self.path)) {
                self.diagnostics.push(Diagnostic::on(name, "a page shows one `main`, and this is another"));
            }
            self.mains.push(self.path.clone());
        }
        if facts.categories(false).has(Categories::LABELABLE) {
            self.in_label(facts);
        }
        self.outline(facts);
        if name.text == "selectedcontent" && !self.is_in_select_button() {
            let message = "`selectedcontent` stands in the `button` that a `select` begins with";
            self.diagnostics.push(Diagnostic::on(name, message));
        }
    }

    /// 4.3.11: a heading is at most one level below the one before it.
    fn outline(&mut self, facts: Facts<'t>) {
        let name = &facts.element.name;
        let level = match name.text.as_bytes() {
            [b'h', digit @ b'1'..=b'6'] => digit - b'0',
            _ => return,
        };
        let is_moved = |facts: Facts<'_>| {
            let moves = ["headingoffset", "headingreset", "hidden"];
            facts.name() == "template" || moves.iter().any(|name| facts.has(name) != Presence::No)
        };
        if is_moved(facts) || self.frames.iter().any(|frame| is_moved(frame.facts)) {
            self.heading = None;
            return;
        }
        if let Some(before) = self.heading.filter(|before| level > before + 1) {
            let message = format!("`{}` skips a level behind `h{before}`: write `h{}`", name.text, before + 1);
            self.diagnostics.push(Diagnostic::on(name, message));
        }
        self.heading = Some(level);
    }

    fn is_in_select_button(&self) -> bool {
        let Some(button) = self.frames.iter().rposition(|frame| frame.facts.name() == "button") else {
            return self.frames.is_empty();
        };
        button == 0 || self.frames[button - 1].facts.name() == "select"
    }

    /// 4.10.4: a `label` is one control's.
    fn in_label(&mut self, facts: Facts<'t>) {
        let Some(depth) = self.frames.iter().rposition(|frame| frame.facts.name() == "label") else { return };
        let label = self.frames[depth].facts;
        let name = &facts.element.name;
        let is_another = self.labelled.iter().any(|(other, path)| *other == depth && !exclude(path, &self.path));
        if is_another {
            let message =
                format!("a `label` is one control's, and `{}` is another: write a `label` for each", name.text);
            self.diagnostics.push(Diagnostic::on(name, message));
        }
        if let (Some(wanted), false) = (label.literal("for"), facts.is_filled()) {
            let is_hidden = facts.has("id") != Presence::No && facts.literal("id").is_none();
            if !is_hidden && facts.literal("id").as_ref() != Some(&wanted) {
                let message = format!(
                    "this `label` is for `{wanted}`, so `{}` in it needs `id=\"{wanted}\"`, or the label no `for`",
                    name.text
                );
                self.diagnostics.push(Diagnostic::on(name, message));
            }
        }
        self.labelled.push((depth, self.path.clone()));
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
    fn placed(&mut self, facts: Facts<'t>, place: Place<'t>) -> bool {
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
            return false;
        }
        if let Some((thing, _)) = self.excluded().common(things).each().next()
            && let Some(ancestor) = self.who_forbids(thing)
        {
            let message = content::excluded(&name.text, thing, ancestor);
            self.diagnostics.push(Diagnostic::on(name, message));
            return false;
        }
        true
    }
}

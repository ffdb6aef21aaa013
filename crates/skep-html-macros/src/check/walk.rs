//! Walks through a template once and checks the position of each node.

use std::collections::HashMap;

use super::super::ast::{Body, Element, Name, Node, Splice, Text};
use super::super::diagnostic::Diagnostic;
use super::super::names;
use super::super::standard::{Categories, Exclusions, Model};
use super::children::{Path, exclude};
use super::content::Position;
use super::facts::{Facts, OpenElement, Presence};
use super::ids::Ids;
use super::template::visit;
use super::{Checked, Piece, Root, SpliceContext, attributes, content, order, required};

#[derive(Default)]
pub(super) struct Walker<'t> {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The open elements, outermost first.
    pub(super) open_elements: Vec<OpenElement<'t>>,
    roots: Vec<Root<'t>>,
    contains: Vec<(Exclusions, &'t Name)>,
    contexts: HashMap<*const Splice, SpliceContext<'t>>,
    ids: Ids<'t>,
    /// The current position in the control flow.
    path: Path,
    forks: usize,
    /// The level of the preceding heading, if it is certain.
    heading: Option<u8>,
    /// Each visible `main`, with its branches.
    mains: Vec<Path>,
    /// The controls in a `label`, by the depth of the label.
    labelled: Vec<(usize, Path)>,
}

pub(super) fn walk(nodes: &[Node], piece: Piece) -> Checked<'_> {
    let mut walker = Walker::default();
    let kind = match piece {
        Piece::FromRoots => kind(nodes, &mut walker.diagnostics),
        Piece::Inferred => Model::Root,
    };
    walker.nodes(nodes, Position::top(kind));
    if kind == Model::Document {
        walker.diagnostics.extend(std::mem::take(&mut walker.ids).missing());
    }
    let Walker { diagnostics, roots, contains, contexts, .. } = walker;
    Checked { diagnostics, kind, roots, contains, contexts }
}

/// The kind that all roots fit, or that of the first root.
fn kind(nodes: &[Node], diagnostics: &mut Vec<Diagnostic>) -> Model {
    let mut roots: Vec<(&Name, Vec<Model>)> = Vec::new();
    visit(nodes, &mut |node| {
        if let Node::Element(element) = node {
            let facts = Facts::of(element);
            let categories = facts.categories(true);
            if categories != Categories::NONE || facts.rules.is_some() {
                roots.push((&element.name, Model::that_take(facts.name(), categories)));
            }
        }
    });
    if let Some(kind) = Model::KINDS.iter().find(|kind| roots.iter().all(|(_, fits)| fits.contains(kind))) {
        return *kind;
    }
    let first_of = |fits: &[Model]| Model::KINDS.iter().copied().find(|model| fits.contains(model));
    for (name, _) in roots.iter().filter(|(_, fits)| first_of(fits).is_none()) {
        let parents = content::parents(&name.text);
        let message =
            format!("`{}` belongs in {parents}: write that element around it, in the same template", name.text);
        diagnostics.push(Diagnostic::on(name, message));
    }
    let mut known = roots.iter().filter_map(|(_, fits)| first_of(fits));
    let Some(kind) = known.next() else { return Model::Root };
    // A root without a kind has been reported: do not report it again.
    if roots.iter().all(|(_, fits)| first_of(fits).is_some()) { kind } else { Model::Root }
}

impl<'t> Walker<'t> {
    pub(super) fn nodes(&mut self, nodes: &'t [Node], position: Position<'t>) {
        for node in nodes {
            match node {
                Node::Text(text) => self.text(text, position),
                Node::Splice(splice) => self.splice(splice, position),
                Node::Element(element) => self.element(element, position),
                Node::Block(nodes) => self.nodes(nodes, position),
                Node::If(_) | Node::Loop(_) | Node::Match(..) => self.arms(node, position),
                Node::Let(_) | Node::Fields(..) | Node::Part(_) => {}
            }
        }
    }

    fn arms(&mut self, node: &'t Node, position: Position<'t>) {
        let fork = self.forks;
        self.forks += 1;
        let before = self.heading;
        let mut is_same = true;
        for (at, arm) in node.arms().iter().enumerate() {
            self.heading = before;
            self.path.push((fork, at));
            self.nodes(&arm.nodes, position);
            self.path.pop();
            is_same &= self.heading == before;
        }
        self.heading = before.filter(|_| is_same);
    }

    fn text(&mut self, text: &Text, position: Position<'t>) {
        if position.takes_text() || text.value.trim_ascii().is_empty() {
            return;
        }
        self.diagnostics.push(Diagnostic::new(text.span, content::misplaced_text(position, self.parent())));
    }

    fn splice(&mut self, splice: &'t Splice, position: Position<'t>) {
        // A splice before `html` is the DOCTYPE.
        if !(position.is_top && position.model == Model::Document) {
            self.ids.add_unknown();
        }
        let each = self.excluded().each().filter(|exclusion| *exclusion != Exclusions::MAIN);
        let forbidden = each.filter_map(|exclusion| Some((exclusion, self.excluded_by(exclusion)?))).collect();
        let context = SpliceContext { model: position.model, also: position.also, parent: self.parent(), forbidden };
        self.contexts.insert(std::ptr::from_ref(splice), context);
        self.heading = None;
    }

    fn parent(&self) -> Option<&'t str> {
        self.open_elements.last().map(|open| open.facts.name())
    }

    /// What the ancestors forbid. Inside a `template`, only ancestors inside it count (4.12.3).
    fn excluded(&self) -> Exclusions {
        let inner = self.open_elements.iter().rposition(|open| open.facts.name() == "template").map_or(0, |at| at + 1);
        self.open_elements[inner..].iter().fold(Exclusions::NONE, |all, open| all.union(open.excludes))
    }

    /// The nearest ancestor that forbids it.
    fn excluded_by(&self, exclusion: Exclusions) -> Option<&'t str> {
        let forbids = |open: &&OpenElement<'t>| open.excludes.intersection(exclusion) != Exclusions::NONE;
        self.open_elements.iter().rev().find(forbids).map(|open| open.facts.name())
    }

    fn element(&mut self, element: &'t Element, position: Position<'t>) {
        if position.has_no_tags() {
            return;
        }
        let facts = Facts::of(element);
        let is_known = self.check_name(facts, position);
        let is_right = is_known && self.check_position(facts, position);
        if is_known {
            attributes::check(facts, &mut self.diagnostics);
            required::check(facts, &self.open_elements, &mut self.diagnostics);
            self.diagnostics.extend(self.ids.element(facts, &self.path));
        }
        if is_right {
            order::check(facts, &self.open_elements, &mut self.diagnostics);
            self.record(facts);
        }
        if let Body::Nodes(nodes, _) = &element.body {
            let mut inside = content::inside(facts, position, &self.open_elements);
            inside.forgiven = (!is_right).then_some(position.model);
            self.open_elements.push(OpenElement { facts, excludes: content::excludes(facts, &self.open_elements) });
            self.nodes(nodes, inside);
            self.open_elements.pop();
            if facts.name() == "label" {
                let depth = self.open_elements.len();
                self.labelled.retain(|(label, _)| *label != depth);
            }
        }
    }

    /// Records what the rest of the template depends on.
    fn record(&mut self, facts: Facts<'t>) {
        let name = &facts.element.name;
        if name.text == "main" && facts.has("hidden") == Presence::No {
            if self.mains.iter().any(|main| !exclude(main, &self.path)) {
                self.diagnostics.push(Diagnostic::on(name, "a page has one visible `main`, and this is another"));
            }
            self.mains.push(self.path.clone());
        }
        if facts.categories(false).contains(Categories::LABELABLE) {
            self.in_label(facts);
        }
        self.outline(facts);
        if name.text == "selectedcontent" && !self.is_in_select_button() {
            let message = "`selectedcontent` belongs in the `button` at the start of a `select`";
            self.diagnostics.push(Diagnostic::on(name, message));
        }
    }

    /// 4.3.11: headings do not skip a level.
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
        if is_moved(facts) || self.open_elements.iter().any(|open| is_moved(open.facts)) {
            self.heading = None;
            return;
        }
        if let Some(before) = self.heading.filter(|before| level > before + 1) {
            let message = format!("`{}` skips a level after `h{before}`: write `h{}`", name.text, before + 1);
            self.diagnostics.push(Diagnostic::on(name, message));
        }
        self.heading = Some(level);
    }

    fn is_in_select_button(&self) -> bool {
        let Some(button) = self.open_elements.iter().rposition(|open| open.facts.name() == "button") else {
            return self.open_elements.is_empty();
        };
        button == 0 || self.open_elements[button - 1].facts.name() == "select"
    }

    /// 4.10.4: a `label` has one control.
    fn in_label(&mut self, facts: Facts<'t>) {
        let Some(depth) = self.open_elements.iter().rposition(|open| open.facts.name() == "label") else { return };
        let label = self.open_elements[depth].facts;
        let name = &facts.element.name;
        let is_another = self.labelled.iter().any(|(other, path)| *other == depth && !exclude(path, &self.path));
        if is_another {
            let message =
                format!("a `label` labels one control, and `{}` is another: write a `label` for each", name.text);
            self.diagnostics.push(Diagnostic::on(name, message));
        }
        if let (Some(wanted), false) = (label.literal("for"), facts.has_attribute_splice()) {
            let is_hidden = facts.has("id") != Presence::No && facts.literal("id").is_none();
            if !is_hidden && facts.literal("id").as_ref() != Some(&wanted) {
                let message = format!(
                    "this `label` is for `{wanted}`, so `{}` in it needs `id=\"{wanted}\"`, or the label must have no `for`",
                    name.text
                );
                self.diagnostics.push(Diagnostic::on(name, message));
            }
        }
        self.labelled.push((depth, self.path.clone()));
    }

    /// Does the element exist?
    fn check_name(&mut self, facts: Facts<'t>, position: Position<'t>) -> bool {
        let name = &facts.element.name;
        if !names::is_well_cased(&name.text) {
            return false;
        }
        let Some(message) = content::unknown_element(facts, position) else { return true };
        self.diagnostics.push(Diagnostic::on(name, message));
        false
    }

    /// Is it allowed here?
    fn check_position(&mut self, facts: Facts<'t>, position: Position<'t>) -> bool {
        let (name, categories, exclusions) = (&facts.element.name, facts.categories(true), facts.exclusions());
        if position.is_top {
            self.roots.push(Root { name, fits: Model::that_take(&name.text, categories) });
        }
        for exclusion in exclusions.each() {
            if self.contains.iter().all(|(known, _)| *known != exclusion) {
                self.contains.push((exclusion, name));
            }
        }
        if !position.takes(&name.text, categories) {
            self.diagnostics.push(Diagnostic::on(name, content::misplaced_element(facts, position, self.parent())));
            return false;
        }
        if let Some(exclusion) = self.excluded().intersection(exclusions).each().next()
            && let Some(ancestor) = self.excluded_by(exclusion)
        {
            let message = content::excluded_element(&name.text, exclusion, ancestor);
            self.diagnostics.push(Diagnostic::on(name, message));
            return false;
        }
        true
    }
}

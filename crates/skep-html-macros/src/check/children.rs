//! The children of an element through control flow, and which of them exclude each other.

use proc_macro2::Span;

use super::super::ast::{Element, Node};
use super::facts::{Facts, Presence};

/// The branches around a node: index of the `@if` or `@match`, index of the arm.
pub(super) type Path = Vec<(usize, usize)>;

/// Are two nodes in different arms, so that at most one is rendered?
pub(super) fn exclude(one: &Path, other: &Path) -> bool {
    let differs = |(fork, arm): &(usize, usize)| other.iter().any(|(same, another)| same == fork && another != arm);
    one.iter().any(differs)
}

pub(super) enum ChildKind<'t> {
    Element(&'t Element),
    /// Text other than white space.
    Text(Span),
    /// Any number of unknown nodes.
    Splice,
}

pub(super) struct ChildNode<'t> {
    pub(super) kind: ChildKind<'t>,
    path: Path,
    /// Is it rendered exactly once?
    pub(super) is_sure: bool,
}

impl<'t> ChildNode<'t> {
    pub(super) fn element(&self) -> Option<&'t Element> {
        match self.kind {
            ChildKind::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The name of the element, or an empty string.
    pub(super) fn name(&self) -> &'t str {
        self.element().map_or("", |element| &element.name.text)
    }

    /// Is it an element with this attribute?
    pub(super) fn has(&self, attribute: &str) -> bool {
        self.element().is_some_and(|element| Facts::of(element).has(attribute) == Presence::Yes)
    }

    pub(super) fn is_splice(&self) -> bool {
        matches!(self.kind, ChildKind::Splice)
    }

    /// Can both be rendered?
    pub(super) fn is_with(&self, other: &Self) -> bool {
        !exclude(&self.path, &other.path)
    }
}

/// The children in document order.
pub(super) fn children(nodes: &[Node]) -> Vec<ChildNode<'_>> {
    let mut collector = Collector { children: Vec::new(), path: Path::new(), forks: 0, loops: 0 };
    collector.nodes(nodes);
    collector.children
}

struct Collector<'t> {
    children: Vec<ChildNode<'t>>,
    path: Path,
    forks: usize,
    loops: usize,
}

impl<'t> Collector<'t> {
    fn nodes(&mut self, nodes: &'t [Node]) {
        for node in nodes {
            match node {
                Node::Element(element) => self.push(ChildKind::Element(element)),
                Node::Text(text) if !text.value.trim_ascii().is_empty() => self.push(ChildKind::Text(text.span)),
                Node::Splice(_) => self.push(ChildKind::Splice),
                Node::Block(nodes) => self.nodes(nodes),
                Node::Loop(body) => {
                    self.loops += 1;
                    self.nodes(&body.nodes);
                    self.loops -= 1;
                }
                Node::If(_) | Node::Match(..) => self.arms(node),
                Node::Text(_) | Node::Let(_) | Node::Fields(..) | Node::Part(_) => {}
            }
        }
    }

    fn arms(&mut self, node: &'t Node) {
        let fork = self.forks;
        self.forks += 1;
        for (at, arm) in node.arms().iter().enumerate() {
            self.path.push((fork, at));
            self.nodes(&arm.nodes);
            self.path.pop();
        }
    }

    fn push(&mut self, kind: ChildKind<'t>) {
        let is_sure = self.path.is_empty() && self.loops == 0;
        self.children.push(ChildNode { kind, path: self.path.clone(), is_sure });
    }
}

//! The children of an element, whatever the control flow: which of them can stand there together.

use proc_macro2::Span;

use super::super::ast::{Element, If, Node};

/// The branches that a node stands in: which fork, and which of its arms.
pub(super) type Path = Vec<(usize, usize)>;

/// Can two nodes never be there at once?
pub(super) fn exclude(one: &Path, other: &Path) -> bool {
    let differs = |(fork, arm): &(usize, usize)| other.iter().any(|(same, another)| same == fork && another != arm);
    one.iter().any(differs)
}

pub(super) enum What<'t> {
    Element(&'t Element),
    /// Other than white space.
    Text(Span),
    /// Could be anything, also nothing.
    Splice,
}

pub(super) struct Kid<'t> {
    pub(super) what: What<'t>,
    path: Path,
    /// Is it there only sometimes, or more than once?
    pub(super) is_sure: bool,
}

impl<'t> Kid<'t> {
    pub(super) fn element(&self) -> Option<&'t Element> {
        match self.what {
            What::Element(element) => Some(element),
            What::Text(_) | What::Splice => None,
        }
    }

    /// The name, if it is an element.
    pub(super) fn name(&self) -> &'t str {
        self.element().map_or("", |element| &element.name.text)
    }

    /// Can both be there at once?
    pub(super) fn is_with(&self, other: &Self) -> bool {
        !exclude(&self.path, &other.path)
    }
}

/// The children, in their order.
pub(super) fn kids(nodes: &[Node]) -> Vec<Kid<'_>> {
    let mut collector = Collector { kids: Vec::new(), path: Path::new(), forks: 0, loops: 0 };
    collector.nodes(nodes);
    collector.kids
}

struct Collector<'t> {
    kids: Vec<Kid<'t>>,
    path: Path,
    forks: usize,
    loops: usize,
}

impl<'t> Collector<'t> {
    fn nodes(&mut self, nodes: &'t [Node]) {
        for node in nodes {
            match node {
                Node::Element(element) => self.push(What::Element(element)),
                Node::Text(text) if !text.value.trim_ascii().is_empty() => self.push(What::Text(text.span)),
                Node::Splice(_) => self.push(What::Splice),
                Node::Block(nodes) => self.nodes(nodes),
                Node::Loop(body) => {
                    self.loops += 1;
                    self.nodes(&body.nodes);
                    self.loops -= 1;
                }
                Node::If(If { branches, otherwise }) => {
                    let arms = branches.iter().map(|branch| branch.nodes.as_slice()).chain(otherwise.as_deref());
                    self.arms(arms);
                }
                Node::Match(choice) => self.arms(choice.arms.iter().map(|arm| arm.nodes.as_slice())),
                Node::Text(_) | Node::Let(_) => {}
            }
        }
    }

    fn arms(&mut self, arms: impl Iterator<Item = &'t [Node]>) {
        let fork = self.forks;
        self.forks += 1;
        for (arm, nodes) in arms.enumerate() {
            self.path.push((fork, arm));
            self.nodes(nodes);
            self.path.pop();
        }
    }

    fn push(&mut self, what: What<'t>) {
        let is_sure = self.path.is_empty() && self.loops == 0;
        self.kids.push(Kid { what, path: self.path.clone(), is_sure });
    }
}

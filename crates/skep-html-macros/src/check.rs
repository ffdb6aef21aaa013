//! Checks a template against the rules of HTML: a function from nodes to diagnostics and to the facts that code
//! generation needs.
//!
//! Code is generated for an invalid template as well, so that the errors of rustc are reported together with ours.
//! The content of a splice is unknown: it is accepted here, and [`SpliceContext`] says what its type must promise.
//! Branches of control flow are checked independently.
//!
//! Start reading at [`check`]. The rules are in [`standard`](super::standard); checks that do not depend on the
//! standard (executable URLs, say) are in [`template`].

mod attributes;
#[cfg(test)]
pub(super) mod cases;
mod children;
mod content;
#[cfg(test)]
#[path = "../tests/unit/check/differential.rs"]
mod differential;
mod facts;
mod ids;
mod order;
mod required;
mod template;
mod value;
mod walk;

pub(super) use facts::literal_attribute;
pub(super) use template::literal_start;

use std::collections::HashMap;

use super::ast::{Name, Node, Splice};
use super::diagnostic::Diagnostic;
use super::home::Home;
use super::standard::{Exclusions, Model};
pub(crate) use template::visit;

/// How the type of a template is found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Piece {
    /// `html!`: from its root elements.
    FromRoots,
    /// `piece!`: by type inference. Its roots are reported, not checked.
    Inferred,
}

/// The result of a check.
pub(crate) struct Checked<'t> {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The kind of the template: the first of [`Model::KINDS`] that all roots fit. [`Model::Flow`] if there are only
    /// text and splices, [`Model::Root`] for [`Piece::Inferred`].
    pub(crate) kind: Model,
    /// The elements that the context of the template must allow: its roots, and the children of transparent roots.
    pub(crate) roots: Vec<Root<'t>>,
    /// The first element of each exclusion that an ancestor outside of the template may forbid.
    pub(crate) contains: Vec<(Exclusions, &'t Name)>,
    contexts: HashMap<*const Splice, SpliceContext<'t>>,
}

/// A root element of a template.
pub(crate) struct Root<'t> {
    pub(crate) name: &'t Name,
    /// The models that allow it.
    pub(crate) fits: Vec<Model>,
}

/// The requirements for a splice in content.
#[derive(Clone, Debug)]
pub(crate) struct SpliceContext<'t> {
    /// The content model.
    pub(crate) model: Model,
    /// Elements allowed in addition to the model: `figcaption` in `figure`.
    pub(crate) also: &'static [&'static str],
    /// The parent element. None at the top.
    pub(crate) parent: Option<&'t str>,
    /// What is forbidden at any depth, each with the nearest ancestor that forbids it. `main` is omitted: nearly every
    /// element forbids it, and promising its absence would burden every type.
    pub(crate) forbidden: Vec<(Exclusions, &'t str)>,
}

impl<'t> Checked<'t> {
    /// The requirements for a splice in content. None for a splice in an attribute.
    pub(crate) fn context(&self, splice: &Splice) -> Option<&SpliceContext<'t>> {
        self.contexts.get(&std::ptr::from_ref(splice))
    }
}

/// Checks all rules.
pub(crate) fn check(nodes: &[Node], piece: Piece, home: Home) -> Checked<'_> {
    let mut diagnostics = template::check(nodes, home);
    let mut checked = walk::walk(nodes, piece);
    diagnostics.append(&mut checked.diagnostics);
    Checked { diagnostics, ..checked }
}

/// Checks only what does not depend on the rules of HTML: `html_unchecked!`.
pub(crate) fn unchecked(nodes: &[Node], home: Home) -> Checked<'_> {
    let diagnostics = template::check(nodes, home);
    Checked { diagnostics, kind: Model::Flow, roots: Vec::new(), contains: Vec::new(), contexts: HashMap::new() }
}

#[cfg(test)]
#[path = "../tests/unit/check.rs"]
mod tests;

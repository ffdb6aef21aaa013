//! What HTML forbids: a function from a template to diagnostics, and to what the code needs to know.
//!
//! It changes nothing, and code is made of a wrong template as well, so that rustc's own messages come with ours.
//! What a splice holds is not known here: it is taken for right, and [`Context`] says what its type must promise.
//! Of branches that exclude each other, each is judged for itself.
//!
//! Start reading at [`check`]. What the standard says stands in [`standard`](super::standard); what is wrong whatever
//! the standard says (code in a URL, say) in [`template`].

mod attributes;
#[cfg(test)]
mod cases;
mod content;
#[cfg(test)]
mod differ;
mod facts;
mod ids;
mod kids;
mod nearest;
mod order;
mod required;
mod template;
mod value;
mod walk;

pub(super) use template::literal_start;

use std::collections::HashMap;

use super::ast::{Name, Node, Splice};
use super::diagnostic::Diagnostic;
use super::standard::{Model, Models, Things};
pub(crate) use template::visit;

/// How a template gets its type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Piece {
    /// `html!`: from its roots.
    FromRoots,
    /// `piece!`: from where it goes. Its roots are reported, not judged.
    Inferred,
}

/// What is known of a template.
pub(crate) struct Checked<'t> {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What the template is: the first of [`Model::KINDS`] that all its roots fit. [`Model::Flow`] if there are only text
    /// and splices, [`Model::Root`] for [`Piece::Inferred`].
    pub(crate) kind: Model,
    /// Every element that what is around the template judges: its roots, and what stands in transparent roots.
    pub(crate) roots: Vec<Root<'t>>,
    /// The first of each thing that an element around the template may forbid.
    pub(crate) contains: Vec<(Things, &'t Name)>,
    contexts: HashMap<*const Splice, Context<'t>>,
}

/// An element at the top of a template.
pub(crate) struct Root<'t> {
    pub(crate) name: &'t Name,
    /// What it may be a part of.
    pub(crate) fits: Models,
}

/// What is asked of a splice in content.
#[derive(Clone, Debug)]
pub(crate) struct Context<'t> {
    /// What may stand here.
    pub(crate) model: Model,
    /// Elements that may stand here besides: `figcaption` in `figure`.
    pub(crate) also: &'static [&'static str],
    /// The element whose content it is. None at the top.
    pub(crate) parent: Option<&'t str>,
    /// What may not stand here at any depth, each with the nearest ancestor that forbids it. `main` is left out: nearly
    /// every element forbids it, and a type that says so would stand at every turn.
    pub(crate) forbidden: Vec<(Things, &'t str)>,
}

impl<'t> Checked<'t> {
    /// Of a splice of this template that stands in content, not in an attribute.
    pub(crate) fn context(&self, splice: &Splice) -> Option<&Context<'t>> {
        self.contexts.get(&std::ptr::from_ref(splice))
    }
}

/// All of HTML's rules.
pub(crate) fn check(nodes: &[Node], piece: Piece) -> Checked<'_> {
    let mut diagnostics = template::check(nodes);
    let mut checked = walk::walk(nodes, piece);
    diagnostics.append(&mut checked.diagnostics);
    Checked { diagnostics, ..checked }
}

/// Only what holds without HTML's rules: `html_unchecked!`.
pub(crate) fn unchecked(nodes: &[Node]) -> Checked<'_> {
    let diagnostics = template::check(nodes);
    Checked { diagnostics, kind: Model::Flow, roots: Vec::new(), contains: Vec::new(), contexts: HashMap::new() }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn nodes(template: &str) -> Vec<Node> {
        parse::template(template.parse().expect("these are tokens")).0
    }

    #[test]
    fn the_roots_say_what_a_piece_is() {
        for (template, kind) in [
            ("", Model::Flow),
            ("\"text\" (x)", Model::Flow),
            ("p { } em { }", Model::Flow),
            ("script { } template { }", Model::Flow),
            ("title { \"a\" } script { }", Model::Metadata),
            ("html { head { title { \"a\" } } }", Model::Document),
            ("@for x in y { li { } }", Model::Items),
            ("dt { } dd { }", Model::Terms),
            ("tr { } tr { }", Model::Rows),
            ("tbody { } tr { }", Model::TableParts),
            ("td { } @if x { th { } }", Model::Cells),
            ("option { \"a\" } hr;", Model::Options),
            ("path; g { }", Model::Foreign),
        ] {
            let nodes = nodes(template);
            let checked = check(&nodes, Piece::FromRoots);
            assert_eq!(checked.kind, kind, "{template}");
            assert!(checked.diagnostics.is_empty(), "{template} {:?}", checked.diagnostics);
        }
    }

    #[test]
    fn a_splice_knows_where_it_stands() {
        let template = nodes("a href=\"/\" { b { ins { (x) } } }");
        let checked = check(&template, Piece::FromRoots);
        let [Node::Element(a)] = template.as_slice() else { panic!("one element") };
        let context = checked.context(splice(a)).expect("it stands in content");
        assert_eq!((context.model, context.parent), (Model::Phrasing, Some("ins")));
        let forbidden: Vec<_> = context.forbidden.iter().map(|(thing, by)| (*thing, *by)).collect();
        assert_eq!(forbidden, [(Things::ANCHOR, "a"), (Things::INTERACTIVE, "a"), (Things::TABINDEX, "a")]);
        let contains: Vec<_> = checked.contains.iter().map(|(thing, name)| (*thing, name.text.as_str())).collect();
        assert_eq!(contains, [(Things::ANCHOR, "a"), (Things::INTERACTIVE, "a")]);
    }

    /// The first one in an element.
    fn splice(element: &super::super::ast::Element) -> &Splice {
        let super::super::ast::Body::Nodes(nodes, _) = &element.body else { panic!("it has content") };
        match nodes.as_slice() {
            [Node::Splice(splice)] => splice,
            [Node::Element(inner)] => splice(inner),
            _ => panic!("one node"),
        }
    }

    #[test]
    fn what_is_in_a_transparent_root_is_a_root() {
        let template = nodes("a { ins { div { p { } } } }");
        let checked = check(&template, Piece::Inferred);
        let roots: Vec<_> = checked.roots.iter().map(|root| root.name.text.as_str()).collect();
        assert_eq!(roots, ["a", "ins", "div"]);
        let flow_only = |root: &Root<'_>| root.fits.has(Model::Flow) && !root.fits.has(Model::Phrasing);
        assert_eq!(checked.roots.iter().map(flow_only).collect::<Vec<_>>(), [false, false, true]);
    }
}

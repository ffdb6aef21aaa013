//! Unit tests of `check`.

use super::super::parse;
use super::*;

fn nodes(template: &str) -> Vec<Node> {
    parse::template(template.parse().expect("these are tokens"), Home::Skep).0
}

#[test]
fn the_roots_determine_the_kind_of_a_piece() {
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
        let checked = check(&nodes, Piece::FromRoots, Home::Skep);
        assert_eq!(checked.kind, kind, "{template}");
        assert!(checked.diagnostics.is_empty(), "{template} {:?}", checked.diagnostics);
    }
}

#[test]
fn a_splice_has_the_requirements_of_its_position() {
    let template = nodes("a href=\"/\" { b { ins { (x) } } }");
    let checked = check(&template, Piece::FromRoots, Home::Skep);
    let [Node::Element(a)] = template.as_slice() else { panic!("one element") };
    let context = checked.context(splice(a)).expect("it is in content");
    assert_eq!((context.model, context.parent), (Model::Phrasing, Some("ins")));
    let forbidden: Vec<_> = context.forbidden.iter().map(|(exclusion, by)| (*exclusion, *by)).collect();
    assert_eq!(forbidden, [(Exclusions::ANCHOR, "a"), (Exclusions::INTERACTIVE, "a"), (Exclusions::TABINDEX, "a")]);
    let contains: Vec<_> = checked.contains.iter().map(|(exclusion, name)| (*exclusion, name.text.as_str())).collect();
    assert_eq!(contains, [(Exclusions::ANCHOR, "a"), (Exclusions::INTERACTIVE, "a")]);
}

/// The first splice in an element.
fn splice(element: &super::super::ast::Element) -> &Splice {
    let super::super::ast::Body::Nodes(nodes, _) = &element.body else { panic!("it has content") };
    match nodes.as_slice() {
        [Node::Splice(splice)] => splice,
        [Node::Element(inner)] => splice(inner),
        _ => panic!("one node"),
    }
}

#[test]
fn the_children_of_a_transparent_root_are_roots() {
    let template = nodes("a { ins { div { p { } } } }");
    let checked = check(&template, Piece::Inferred, Home::Skep);
    let roots: Vec<_> = checked.roots.iter().map(|root| root.name.text.as_str()).collect();
    assert_eq!(roots, ["a", "ins", "div"]);
    let flow_only = |root: &Root<'_>| root.fits.contains(&Model::Flow) && !root.fits.contains(&Model::Phrasing);
    assert_eq!(checked.roots.iter().map(flow_only).collect::<Vec<_>>(), [false, false, true]);
}

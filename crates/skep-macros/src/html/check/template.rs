//! What is wrong whatever the standard says: what a browser would read as something else than what was written, and
//! code in a URL. `html_unchecked!` is judged by this alone.

use super::super::ast::{Attribute, Body, Element, If, Name, Node, Splice, Text, Value};
use super::super::diagnostic::Diagnostic;
use super::super::names::{self, Place, Url, Verdict};
use super::super::standard;

pub(super) fn check(nodes: &[Node]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    content(nodes, None, &mut found);
    found
}

/// `parent` is the name of the element that these nodes are the content of, where it is known.
fn content(nodes: &[Node], parent: Option<&str>, found: &mut Vec<Diagnostic>) {
    visit(nodes, &mut |node| {
        if let Node::Element(child) = node {
            if let Some(parent) = parent.filter(|parent| names::content_place(parent) != Place::Text) {
                let message =
                    format!("`{parent}` holds text only: a browser would show `<{}>` as text", child.name.text);
                found.push(Diagnostic::on(&child.name, message));
            }
            element(child, found);
        }
    });
    if let Some(parent) = parent.filter(|parent| names::RAW.contains(parent)) {
        raw(nodes, parent, found);
    }
}

/// Calls `each` with the nodes that stand here whatever the control flow, not with those inside elements.
pub(crate) fn visit<'a>(nodes: &'a [Node], each: &mut impl FnMut(&'a Node)) {
    for node in nodes {
        each(node);
        match node {
            Node::Block(nodes) => visit(nodes, each),
            Node::If(If { branches, otherwise }) => {
                for branch in branches {
                    visit(&branch.nodes, each);
                }
                visit(otherwise.as_deref().unwrap_or_default(), each);
            }
            Node::Loop(body) => visit(&body.nodes, each),
            Node::Match(choice) => choice.arms.iter().for_each(|arm| visit(&arm.nodes, each)),
            Node::Text(_) | Node::Splice(_) | Node::Element(_) | Node::Let(_) => {}
        }
    }
}

fn element(element: &Element, found: &mut Vec<Diagnostic>) {
    name(&element.name, found);
    body(element, found);
    duplicates(element, found);
    for attribute in &element.attributes {
        match attribute {
            Attribute::Named { name, value } => named(&element.name.text, name, value, found),
            Attribute::Class { name, .. } | Attribute::Id { name, .. } => no_elements(name, found),
            Attribute::Splice(_) => {}
        }
    }
    if let Body::Nodes(nodes, _) = &element.body {
        content(nodes, Some(&element.name.text), found);
    }
}

fn name(name: &Name, found: &mut Vec<Diagnostic>) {
    if !names::is_well_cased(&name.text) {
        let small = name.text.to_ascii_lowercase();
        found.push(Diagnostic::on(name, format!("HTML's elements have small letters: write `{small}`")));
    }
}

fn body(element: &Element, found: &mut Vec<Diagnostic>) {
    let name = &element.name.text;
    let is_filled = element.attributes.iter().any(|attribute| matches!(attribute, Attribute::Splice(_)));
    match &element.body {
        Body::Nodes(_, braces) if standard::is_void(name) => {
            found.push(Diagnostic::new(*braces, format!("`{name}` has no content: write `{name};`")));
        }
        Body::None if !standard::is_void(name) && !is_filled && !names::may_be_empty(name) => {
            let message = format!("`{name}` has an end tag, also when it is empty: write `{name} {{}}`");
            found.push(Diagnostic::on(&element.name, message));
        }
        _ => {}
    }
}

/// A browser takes the first of two attributes with one name and drops the other.
fn duplicates(element: &Element, found: &mut Vec<Diagnostic>) {
    let mut seen: Vec<String> = Vec::new();
    let has_classes = element.attributes.iter().any(|attribute| matches!(attribute, Attribute::Class { .. }));
    for attribute in &element.attributes {
        match attribute {
            Attribute::Named { name, .. } if has_classes && name.text.eq_ignore_ascii_case("class") => {
                let message =
                    "this element has its `class` from `.name`: write `.(value)` here, or all classes in `class=`";
                found.push(Diagnostic::on(name, message));
            }
            Attribute::Named { name, .. } => {
                let small = name.text.to_ascii_lowercase();
                if seen.contains(&small) {
                    found.push(Diagnostic::on(name, format!("this element already has an attribute `{small}`")));
                }
                seen.push(small);
            }
            Attribute::Id { span, .. } => {
                if seen.iter().any(|name| name == "id") {
                    found.push(Diagnostic::new(*span, "this element already has an `id`"));
                }
                seen.push("id".into());
            }
            Attribute::Class { .. } | Attribute::Splice(_) => {}
        }
    }
}

/// Whether a parser takes this for the name of an attribute (WHATWG HTML, 13.1.2.3).
pub(super) fn is_name(text: &str) -> bool {
    let is_forbidden = |letter: char| letter.is_whitespace() || letter.is_control() || "\"'<>/=".contains(letter);
    !text.is_empty() && !text.contains(is_forbidden)
}

fn named(element: &str, name: &Name, value: &Value, found: &mut Vec<Diagnostic>) {
    if !is_name(&name.text) {
        let message = "an attribute's name has at least one character, and no space, quote, `<`, `>`, `/` or `=`";
        found.push(Diagnostic::on(name, message));
    }
    let Value::Nodes(nodes) = value else { return };
    no_elements(nodes, found);
    if name.text.eq_ignore_ascii_case("attributeName") {
        animation(name, nodes, found);
    }
    if let Place::Url(kind) = names::attribute_place(element, &name.text) {
        url(nodes, kind, found);
    }
}

fn no_elements(nodes: &[Node], found: &mut Vec<Diagnostic>) {
    visit(nodes, &mut |node| {
        if let Node::Element(child) = node {
            found.push(Diagnostic::on(&child.name, "an attribute's value is text: no element fits in here"));
        }
    });
}

/// SVG can animate a link, and its values would need the check of URLs.
fn animation(name: &Name, nodes: &[Node], found: &mut Vec<Diagnostic>) {
    let Some((target, true, _)) = literal_start(nodes) else {
        found.push(Diagnostic::on(name, "the name of the animated attribute stands in quotes"));
        return;
    };
    if matches!(target.trim().to_ascii_lowercase().as_str(), "href" | "xlink:href") {
        found.push(Diagnostic::on(name, "a link cannot be animated: its values could be URLs that run code"));
    }
}

fn url(nodes: &[Node], kind: Url, found: &mut Vec<Diagnostic>) {
    let Some((start, complete, span)) = literal_start(nodes) else { return };
    if let Verdict::Refused(scheme) = names::judge(&start, complete, kind) {
        let way = "if it must be, write `(Trusted(\"...\"))`, with `skep::html::Trusted`";
        found.push(Diagnostic::new(span, format!("a browser may run what a `{scheme}` URL holds: {way}")));
    }
}

/// The text that a value begins with, and whether it is all of the value.
pub(in super::super) fn literal_start(nodes: &[Node]) -> Option<(String, bool, proc_macro2::Span)> {
    let texts: Vec<&Text> = nodes
        .iter()
        .map_while(|node| match node {
            Node::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    let span = texts.first()?.span;
    let start = texts.iter().map(|text| text.value.as_str()).collect();
    Some((start, texts.len() == nodes.len(), span))
}

/// What would end a `<script>` or `<style>` too early. `<!--` starts a state in which `</script>` may not end it
/// (WHATWG HTML, 4.12.1.3).
fn raw(nodes: &[Node], parent: &str, found: &mut Vec<Diagnostic>) {
    let end = format!("</{parent}");
    let mut before = String::new();
    visit(nodes, &mut |node| match node {
        Node::Text(text) => {
            before.push_str(&text.value.to_ascii_lowercase());
            for forbidden in [end.as_str(), "<!--"] {
                if before.contains(forbidden) {
                    let escaped = forbidden.replacen('<', if parent == "style" { "\\3c " } else { "\\x3c" }, 1);
                    let message =
                        format!("`{forbidden}` must not stand in a `{parent}`: in a string, write `{escaped}`");
                    found.push(Diagnostic::new(text.span, message));
                    before.clear();
                }
            }
        }
        Node::Splice(Splice { .. }) => before.clear(),
        _ => {}
    });
}

/// Does the content of a `script` begin with a comment?
pub(super) fn starts_with_comment(element: &Element) -> bool {
    let Body::Nodes(nodes, _) = &element.body else { return false };
    let start = literal_start(nodes).map(|(text, ..)| text).unwrap_or_default();
    ["//", "/*"].iter().any(|comment| start.trim_start().starts_with(comment))
}

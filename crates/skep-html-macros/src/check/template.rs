//! Checks that do not depend on the rules of HTML: markup that a browser would parse differently, and executable URLs.
//! `html_unchecked!` runs only these.

use super::super::ast::{Attribute, Body, Element, Name, Node, Splice, Text, Value};
use super::super::diagnostic::Diagnostic;
use super::super::home::Home;
use super::super::names::{self, OutputContext, Url, UrlVerdict};
use super::super::standard;
use super::facts::literal_attribute;

pub(super) fn check(nodes: &[Node], home: Home) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    content(nodes, None, home, &mut found);
    found
}

/// `parent` is the name of the parent element. None at the top.
fn content(nodes: &[Node], parent: Option<&str>, home: Home, found: &mut Vec<Diagnostic>) {
    visit(nodes, &mut |node| {
        if let Node::Element(child) = node {
            if let Some(parent) = parent.filter(|parent| names::content_context(parent) != OutputContext::Text) {
                let message =
                    format!("`{parent}` contains text only: a browser would show `<{}>` as text", child.name.text);
                found.push(Diagnostic::on(&child.name, message));
            }
            element(child, home, found);
        }
    });
    if let Some(parent) = parent.filter(|parent| names::RAW.contains(parent)) {
        raw(nodes, parent, found);
    }
}

/// Visits these nodes and those inside of control flow, but not the children of elements.
pub(crate) fn visit<'a>(nodes: &'a [Node], each: &mut impl FnMut(&'a Node)) {
    for node in nodes {
        each(node);
        if let Node::Block(nodes) = node {
            visit(nodes, each);
        }
        for arm in node.arms() {
            visit(&arm.nodes, each);
        }
    }
}

fn element(element: &Element, home: Home, found: &mut Vec<Diagnostic>) {
    if !names::is_well_cased(&element.name.text) {
        let small = element.name.text.to_ascii_lowercase();
        found.push(Diagnostic::on(&element.name, format!("names of HTML elements are lower-case: write `{small}`")));
    }
    body(element, found);
    duplicates(element, found);
    for attribute in &element.attributes {
        match attribute {
            Attribute::Named { name, value } => named(element, name, value, home, found),
            Attribute::Class { name, .. } | Attribute::Id { name, .. } => no_elements(name, found),
            Attribute::Splice(_) => {}
        }
    }
    if let Body::Nodes(nodes, _) = &element.body {
        content(nodes, Some(&element.name.text), home, found);
    }
}

fn body(element: &Element, found: &mut Vec<Diagnostic>) {
    let name = &element.name.text;
    let has_attribute_splice = element.attributes.iter().any(|attribute| matches!(attribute, Attribute::Splice(_)));
    match &element.body {
        Body::Nodes(_, braces) if standard::is_void(name) => {
            found.push(Diagnostic::new(*braces, format!("`{name}` has no content: write `{name};`")));
        }
        Body::None
            if !standard::is_void(name) && !has_attribute_splice && !names::EMPTY_SVG.contains(&name.as_str()) =>
        {
            let message = format!("`{name}` needs an end tag even if it is empty: write `{name} {{}}`");
            found.push(Diagnostic::on(&element.name, message));
        }
        _ => {}
    }
}

/// A browser uses the first of two attributes with the same name.
fn duplicates(element: &Element, found: &mut Vec<Diagnostic>) {
    let mut seen: Vec<String> = Vec::new();
    let has_classes = element.attributes.iter().any(|attribute| matches!(attribute, Attribute::Class { .. }));
    for attribute in &element.attributes {
        match attribute {
            Attribute::Named { name, .. } if has_classes && name.text.eq_ignore_ascii_case("class") => {
                let message =
                    "this element already has classes from `.name`: write `.(value)` here, or all classes in `class=`";
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

/// Is it a valid attribute name (WHATWG HTML, 13.1.2.3)?
pub(super) fn is_name(text: &str) -> bool {
    let is_forbidden = |letter: char| letter.is_whitespace() || letter.is_control() || "\"'<>/=".contains(letter);
    !text.is_empty() && !text.contains(is_forbidden)
}

fn named(element: &Element, name: &Name, value: &Value, home: Home, found: &mut Vec<Diagnostic>) {
    if !is_name(&name.text) {
        let message = "an attribute name has at least one character, and no space, quote, `<`, `>`, `/` or `=`";
        found.push(Diagnostic::on(name, message));
    }
    let Value::Nodes(nodes) = value else { return };
    no_elements(nodes, found);
    if name.text.eq_ignore_ascii_case("attributeName") {
        animation(name, nodes, found);
    }
    match names::attribute_context(&element.name.text, &name.text, |other| literal_attribute(element, other)) {
        OutputContext::Url(kind) => url(nodes, kind, home, found),
        OutputContext::CodeUrl => url(nodes, Url::Link, home, found),
        _ => {}
    }
}

fn no_elements(nodes: &[Node], found: &mut Vec<Diagnostic>) {
    visit(nodes, &mut |node| {
        if let Node::Element(child) = node {
            found.push(Diagnostic::on(&child.name, "an attribute value is text: elements are not allowed in it"));
        }
    });
}

/// SVG can animate `href`, and the values are not checked as URLs.
fn animation(name: &Name, nodes: &[Node], found: &mut Vec<Diagnostic>) {
    let Some((target, true, _)) = literal_start(nodes) else {
        found.push(Diagnostic::on(name, "the name of the animated attribute must be literal text"));
        return;
    };
    if matches!(target.trim().to_ascii_lowercase().as_str(), "href" | "xlink:href") {
        found.push(Diagnostic::on(name, "a link cannot be animated: its values could be URLs that run code"));
    }
}

fn url(nodes: &[Node], kind: Url, home: Home, found: &mut Vec<Diagnostic>) {
    let Some((start, complete, span)) = literal_start(nodes) else { return };
    if let UrlVerdict::Unsafe(scheme) = names::classify_url(&start, complete, kind) {
        let way = format!("if it is intended, write `(Trusted(\"...\"))`, with `{}::Trusted`", home.text());
        found.push(Diagnostic::new(span, format!("a browser may execute a `{scheme}` URL: {way}")));
    }
}

/// The literal text at the start of a value, whether it is the whole value, and its span.
pub(crate) fn literal_start(nodes: &[Node]) -> Option<(String, bool, proc_macro2::Span)> {
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

/// Reports text that would end a `<script>` or `<style>` early. After `<!--`, `</script>` may not end it
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
                        format!("`{forbidden}` is not allowed in a `{parent}`: in a string, write `{escaped}`");
                    found.push(Diagnostic::new(text.span, message));
                    before.clear();
                }
            }
        }
        Node::Splice(Splice { .. }) => before.clear(),
        _ => {}
    });
}

/// Does the content of a `script` start with a comment?
pub(super) fn starts_with_comment(element: &Element) -> bool {
    let Body::Nodes(nodes, _) = &element.body else { return false };
    let start = literal_start(nodes).map(|(text, ..)| text).unwrap_or_default();
    ["//", "/*"].iter().any(|comment| start.trim_start().starts_with(comment))
}

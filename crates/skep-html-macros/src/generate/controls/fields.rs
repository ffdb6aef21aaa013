//! `@fields(Order::address) { (address(&form.fields(Order::address))) }`: a splice that writes the controls of a field.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::Expr;

use super::path::{By, Path};
use super::{CONTROLS, Field, Literal, Which, control, count, inside, outside, sends_nothing};
use crate::ast::{Attribute, Body, Element, Node, Splice};
use crate::diagnostic::Diagnostic;

/// Of a literal form: the field exists, and the only splice in the block is the call of a function whose type says that
/// it writes the controls.
pub(super) fn declared(nodes: &mut [Node], literal: &mut Literal, path: &mut Path, found: &mut Vec<Diagnostic>) {
    let Some((Node::Fields(name, word), content)) = nodes.split_first_mut() else { return };
    let Some(field) = Field::of(name).filter(|field| field.which == Which::All) else {
        return found.push(Diagnostic::new(name.span, "expected one field of the form, such as `Order::address`"));
    };
    literal.service.get_or_insert_with(|| field.service.clone());
    count(&field, By::Control, name.span, path, found);
    path.declared.push(field.name);
    if let Some(splice) = call(content, name, *word, found) {
        let (form, name, expr) = (&literal.variable, &name.expr, &splice.expr);
        let site = Span::mixed_site().located_at(splice.span);
        splice.expr = quote_spanned!(site=> *::skep::form::Form::written(#form, #name, &(#expr)));
    }
    inside(content, literal, path, found);
}

/// Of a `piece!` without a form of its own, which so writes what another function writes.
pub(super) fn composed(nodes: &mut Vec<Node>, found: &mut Vec<Diagnostic>) {
    let Some((Node::Fields(name, word), content)) = nodes.split_first_mut() else { return };
    if syn::parse2::<Expr>(name.expr.clone()).is_err() {
        return found.push(Diagnostic::new(name.span, "expected the name of one field"));
    }
    let Some(splice) = call(content, name, *word, found) else { return };
    let (name, expr) = (&name.expr, &splice.expr);
    let site = Span::mixed_site().located_at(splice.span);
    splice.expr = quote_spanned!(site=> *::skep::form::written(#name, &(#expr)));
    nodes.remove(0);
    outside(nodes, found, false);
}

/// The only splice beside labels and text, if it names the field.
fn call<'n>(content: &'n mut [Node], name: &Splice, word: Span, found: &mut Vec<Diagnostic>) -> Option<&'n mut Splice> {
    if let Some(span) = content.iter().find_map(other_control) {
        let message =
            "this control is beside the call that writes those of the field: put it before or behind `@fields`";
        found.push(Diagnostic::new(span, message));
        return None;
    }
    let mut splices = Vec::new();
    calls(content, &mut splices);
    let mut splices = splices.into_iter();
    let (Some(splice), None) = (splices.next(), splices.next()) else {
        let message = "`@fields` holds one splice, the call of the function that writes the controls, and no control \
                       flow: put conditions and loops around `@fields`";
        found.push(Diagnostic::new(word, message));
        return None;
    };
    if !holds(&flat(&splice.expr), &flat(&name.expr)) {
        let name = flat(&name.expr).concat();
        let message = format!("this call does not name `{name}`, whose controls it writes: pass it on");
        found.push(Diagnostic::new(splice.span, message));
        return None;
    }
    Some(splice)
}

/// A control of a field here.
fn other_control(node: &Node) -> Option<Span> {
    match node {
        Node::Element(element) => {
            let is_other = |method: &str| method != "label" && (method != "button" || control(element).is_some());
            let is_control = CONTROLS.iter().any(|method| element.name.text == *method && is_other(method));
            let own = element.attributes.iter().find_map(|attribute| match attribute {
                Attribute::Splice(splice) if is_control => Some(splice.span),
                _ => None,
            });
            let Body::Nodes(nodes, _) = &element.body else { return own };
            own.or_else(|| nodes.iter().find_map(other_control))
        }
        Node::Block(nodes) => nodes.iter().find_map(other_control),
        branching => branching.arms().iter().flat_map(|arm| &arm.nodes).find_map(other_control),
    }
}

/// The tokens, those of groups among them.
fn flat(tokens: &TokenStream) -> Vec<String> {
    let mut flattened = Vec::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                flattened.push(open.to_owned());
                flattened.extend(flat(&group.stream()));
                flattened.push(close.to_owned());
            }
            token => flattened.push(token.to_string()),
        }
    }
    flattened.retain(|token| !token.is_empty());
    flattened
}

/// Does the call have these tokens, and not as the end of a longer path?
fn holds(call: &[String], name: &[String]) -> bool {
    let is_longer = |at: usize| call[..at].ends_with(&[".".into()]) || call[..at].ends_with(&[":".into(), ":".into()]);
    call.windows(name.len()).enumerate().any(|(at, window)| window == name && !is_longer(at))
}

/// The splices that are always rendered, and once.
fn calls<'n>(nodes: &'n mut [Node], splices: &mut Vec<&'n mut Splice>) {
    for node in nodes {
        match node {
            Node::Splice(splice) => splices.push(splice),
            Node::Block(nodes) if !matches!(nodes.first(), Some(Node::Fields(..) | Node::Part(_))) => {
                calls(nodes, splices);
            }
            Node::Element(element) if !sends_nothing(element) => {
                if let Element { body: Body::Nodes(nodes, _), .. } = element {
                    calls(nodes, splices);
                }
            }
            _ => {}
        }
    }
}

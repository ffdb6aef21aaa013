//! `@fields(Order::address) { (address(&form.fields(Order::address))) }`: a splice that writes the controls of a field.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use super::path::{By, Path};
use super::{Field, Literal, Which, count};
use crate::ast::{Body, Element, Node, Splice};
use crate::diagnostic::Diagnostic;

/// The field exists, and the only splice in the block is the call of a function whose type says that it writes the
/// controls.
pub(super) fn declared(nodes: &mut [Node], literal: &mut Literal, path: &mut Path, found: &mut Vec<Diagnostic>) {
    let Some((Node::Fields(name, word), content)) = nodes.split_first_mut() else { return };
    let Some(field) = Field::of(name).filter(|field| field.which == Which::All) else {
        return found.push(Diagnostic::new(name.span, "expected one field of the form, such as `Order::address`"));
    };
    literal.service.get_or_insert_with(|| field.service.clone());
    count(&field, By::Control, name.span, path, found);
    path.declared.push(field.name);
    let mut splices = Vec::new();
    calls(content, &mut splices);
    let [splice] = splices.as_mut_slice() else {
        let message = "`@fields` holds one splice, the call of the function that writes the controls, and no control \
                       flow: put conditions and loops around `@fields`";
        return found.push(Diagnostic::new(*word, message));
    };
    let is_named = flat(&splice.expr).contains(&flat(&name.expr));
    if !is_named {
        let message = format!("this call does not name `{}`, whose controls it writes: pass it on", flat(&name.expr));
        return found.push(Diagnostic::new(splice.span, message));
    }
    let (form, name, expr) = (&literal.variable, &name.expr, &splice.expr);
    let site = Span::mixed_site().located_at(splice.span);
    splice.expr = quote_spanned!(site=> *::skep::form::Form::written(#form, #name, &(#expr)));
}

/// The tokens without the spaces between them.
fn flat(tokens: &TokenStream) -> String {
    tokens.to_string().replace(' ', "")
}

/// The splices that are always rendered, and once.
fn calls<'n>(nodes: &'n mut [Node], splices: &mut Vec<&'n mut Splice>) {
    for node in nodes {
        match node {
            Node::Splice(splice) => splices.push(splice),
            Node::Block(nodes) => calls(nodes, splices),
            Node::Element(Element { body: Body::Nodes(nodes, _), name, .. }) if name.text != "template" => {
                calls(nodes, splices);
            }
            _ => {}
        }
    }
}

//! What a `piece!` has written of a form, wherever its control flow goes: it may promise that in its type.
//!
//! A group of fields is in one `@form (part) { ... }`, which is checked on its own; a single field has a control that
//! the form is asked for, `input (form.input(name));`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprMethodCall};

use super::{CONTROLS, Field, control, is_part, sends_nothing};
use crate::ast::{Arm, Attribute, Body, Element, Node, Splice};

/// What proves a promise.
pub(crate) enum Proof {
    /// All controls of this group.
    Group(TokenStream),
    /// The control of the field of this name, an expression.
    Field(TokenStream),
}

/// Of these nodes, if they are about one group, or about one field.
pub(crate) fn proof(nodes: &[Node]) -> Option<Proof> {
    let mut written = Written::default();
    written.nodes(nodes);
    match (written.groups.as_slice(), written.names.as_slice()) {
        ([group], _) => Some(Proof::Group(group.clone())),
        ([], [name]) => Some(Proof::Field(name.clone())),
        _ => None,
    }
}

/// What is written on every path.
#[derive(Default)]
struct Written {
    groups: Vec<TokenStream>,
    names: Vec<TokenStream>,
}

impl Written {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Element(element) if !sends_nothing(element) => self.element(element),
                Node::Block(nodes) if is_part(nodes) => self.groups.extend(group(nodes)),
                Node::Block(nodes) => self.nodes(nodes),
                Node::If(arms) if arms.last().is_some_and(|arm| arm.head.to_string() == "else") => self.arms(arms),
                Node::Match(_, arms) => self.arms(arms),
                _ => {}
            }
        }
    }

    fn element(&mut self, element: &Element) {
        if let Some(name) = name(element)
            && !contains(&self.names, &name)
        {
            self.names.push(name);
        }
        if let Body::Nodes(nodes, _) = &element.body {
            self.nodes(nodes);
        }
    }

    /// What each arm writes.
    fn arms(&mut self, arms: &[Arm]) {
        let common = arms.iter().map(|arm| {
            let mut written = Self::default();
            written.nodes(&arm.nodes);
            written
        });
        let common = common.reduce(|mut common, other| {
            common.groups.retain(|group| contains(&other.groups, group));
            common.names.retain(|name| contains(&other.names, name));
            common
        });
        if let Some(common) = common {
            self.groups.extend(common.groups);
            self.names.extend(common.names);
        }
    }
}

fn contains(list: &[TokenStream], one: &TokenStream) -> bool {
    list.iter().any(|other| other.to_string() == one.to_string())
}

/// The group whose fields stand here.
fn group(nodes: &[Node]) -> Option<TokenStream> {
    nodes.iter().find_map(|node| match node {
        Node::Element(element) => match (control(element), &element.body) {
            (Some((field, ..)), _) => Some(field.service),
            (None, Body::Nodes(nodes, _)) => group(nodes),
            (None, _) => None,
        },
        Node::Block(nodes) => group(nodes),
        Node::Fields(splice, _) => Field::of(splice).map(|field| field.service),
        Node::If(arms) | Node::Match(_, arms) => arms.iter().find_map(|arm| group(&arm.nodes)),
        Node::Loop(arm) => group(&arm.nodes),
        _ => None,
    })
}

/// `name` of `input (form.input(name));`, and of `select (form.select_among(name.among(&offered)));`.
fn name(element: &Element) -> Option<TokenStream> {
    element.attributes.iter().find_map(|attribute| match attribute {
        Attribute::Splice(splice) => asked(splice),
        _ => None,
    })
}

fn asked(splice: &Splice) -> Option<TokenStream> {
    let Expr::MethodCall(ExprMethodCall { method, args, .. }) = syn::parse2(splice.expr.clone()).ok()? else {
        return None;
    };
    let method = method.to_string();
    let is_control = |method: &str| CONTROLS.contains(&method) && method != "label" && method != "button";
    if !is_control(method.trim_end_matches("_among")) {
        return None;
    }
    Some(match args.first()? {
        Expr::MethodCall(call) if call.method == "among" => call.receiver.to_token_stream(),
        // The control of a row's field is not the only one.
        Expr::MethodCall(call) if call.method == "row" => return None,
        other => quote!(#other),
    })
}

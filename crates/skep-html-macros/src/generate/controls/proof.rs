//! What a `piece!` has written of a form, wherever its control flow goes: it may promise that in its type.
//!
//! A group of fields is in one `@form (part) { ... }`, which is checked on its own; a single field has a control that
//! the form is asked for, `input (form.input(name));`, or `@fields(name) { ... }`, the call of another function. The
//! type of that name is taken before all else, so a name that the piece binds itself proves nothing.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprMethodCall};

use super::{Field, control, is_fields, is_part, sends_nothing};
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
    /// What `@let` and patterns bind here.
    bound: Vec<String>,
}

impl Written {
    fn nodes(&mut self, nodes: &[Node]) {
        let before = self.bound.len();
        for node in nodes {
            match node {
                Node::Element(element) if !sends_nothing(element) => self.element(element),
                Node::Block(nodes) if is_part(nodes) => self.groups.extend(group(nodes)),
                Node::Block(nodes) if is_fields(nodes) => self.fields(nodes),
                Node::Block(nodes) => self.nodes(nodes),
                Node::If(arms) if arms.last().is_some_and(|arm| arm.head.to_string() == "else") => self.arms(arms),
                Node::Match(_, arms) => self.arms(arms),
                Node::Let(binding) => identifiers(binding, &mut self.bound),
                _ => {}
            }
        }
        self.bound.truncate(before);
    }

    fn element(&mut self, element: &Element) {
        if let Some(name) = asked_of(element) {
            self.name(&name);
        }
        if let Body::Nodes(nodes, _) = &element.body {
            self.nodes(nodes);
        }
    }

    fn fields(&mut self, nodes: &[Node]) {
        if let Some(Node::Fields(name, _)) = nodes.first()
            && let Ok(name) = syn::parse2(name.expr.clone())
        {
            self.name(&name);
        }
    }

    fn name(&mut self, name: &Expr) {
        let tokens = name.to_token_stream();
        if self.is_from_outside(name) && !contains(&self.names, &tokens) {
            self.names.push(tokens);
        }
    }

    /// Does the name mean the same at the start of the piece? `None`, alone, has no type.
    fn is_from_outside(&self, name: &Expr) -> bool {
        match name {
            Expr::Path(path) => path.path.get_ident().is_none_or(|ident| {
                let text = ident.to_string();
                let is_type = text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase);
                !is_type && !self.bound.contains(&text)
            }),
            Expr::Field(field) => self.is_from_outside(&field.base),
            Expr::Unary(unary) => self.is_from_outside(&unary.expr),
            Expr::MethodCall(call) if call.method == "field" => {
                self.is_from_outside(&call.receiver) && call.args.iter().all(|argument| self.is_from_outside(argument))
            }
            _ => false,
        }
    }

    /// What each arm writes.
    fn arms(&mut self, arms: &[Arm]) {
        let common = arms.iter().map(|arm| {
            let mut written = Self { bound: self.bound.clone(), ..Self::default() };
            identifiers(&arm.head, &mut written.bound);
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

/// All that this could bind: a `let`, a pattern. A condition without one binds nothing.
fn identifiers(head: &TokenStream, bound: &mut Vec<String>) {
    let mut words = Vec::new();
    flatten(head.clone(), &mut words);
    let is_condition = matches!(words.first().map(String::as_str), Some("if" | "else"));
    if !is_condition || words.iter().any(|word| word == "let") {
        bound.extend(words);
    }
}

fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Group(group) => flatten(group.stream(), words),
            _ => {}
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
        // Rows, which are a group of their own.
        Node::Block(nodes) if is_part(nodes) => None,
        Node::Block(nodes) => group(nodes),
        Node::Fields(splice, _) => Field::of(splice).map(|field| field.service),
        Node::If(arms) | Node::Match(_, arms) => arms.iter().find_map(|arm| group(&arm.nodes)),
        Node::Loop(arm) => group(&arm.nodes),
        _ => None,
    })
}

/// `name` of `input (form.input(name));`, and of `select (form.select_among(name.among(&offered)));`.
fn asked_of(element: &Element) -> Option<Expr> {
    let own = ["input", "textarea", "select", "fieldset"].into_iter().find(|name| element.name.text == *name)?;
    element.attributes.iter().find_map(|attribute| match attribute {
        Attribute::Splice(splice) => asked(splice, own),
        _ => None,
    })
}

/// The argument of the method of this name.
fn asked(splice: &Splice, own: &str) -> Option<Expr> {
    let Expr::MethodCall(ExprMethodCall { method, args, .. }) = syn::parse2(splice.expr.clone()).ok()? else {
        return None;
    };
    if method.to_string().trim_end_matches("_among") != own {
        return None;
    }
    // The control of a row's field, `.row(...)`, is not the only one.
    match args.into_iter().next()? {
        Expr::MethodCall(call) if call.method == "among" => Some(*call.receiver),
        name => Some(name),
    }
}

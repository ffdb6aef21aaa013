//! Form controls: `input (Comment::author);` in a literal `form (Comment::form(...)) { ... }`.
//!
//! Binds the form to a variable before its element, and rewrites each control to ask it for the submitted value and the
//! validation error: `input (form.input(Comment::author));`, which is what a function that takes a form writes. The
//! compiler checks by type that the field exists and that the control fits it. Duplicate and missing controls are found
//! here.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprMethodCall, ExprPath};

use super::super::ast::{Attribute, Body, Element, Node, Splice, Value};
use super::super::diagnostic::Diagnostic;
use super::super::names;

/// Rewrites the controls of all literal forms.
pub(crate) fn bind(nodes: &mut Vec<Node>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    outside(nodes, &mut found);
    found
}

/// The elements that can be controls. The methods of `skep::form::Form` for them have the same names.
const CONTROLS: [&str; 6] = ["input", "textarea", "select", "fieldset", "label", "button"];

/// The field that a control names: `Comment::author`, `Comment::kind.of(Kind::Note)`, `Comment::links.at(0)`,
/// `Order::lines.row(0, Line::product)`.
struct Field {
    service: TokenStream,
    name: String,
    which: Which,
}

/// The part of a field that a control edits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// One choice or value.
    Part,
    /// A field of one of its rows.
    Row,
}

impl Field {
    /// A path whose last segment is lower-case and follows a capitalised one. Other constants are upper-case.
    fn of(splice: &Splice) -> Option<Self> {
        match syn::parse2(splice.expr.clone()).ok()? {
            Expr::Path(path) => Self::of_path(&path, Which::All),
            Expr::MethodCall(call) => Self::of_call(&call),
            _ => None,
        }
    }

    fn of_call(call: &ExprMethodCall) -> Option<Self> {
        let is_row = call.method == "row";
        if !is_row && call.method != "of" && call.method != "at" {
            return None;
        }
        let which = if is_row { Which::Row } else { Which::Part };
        match &*call.receiver {
            Expr::Path(path) => Self::of_path(path, which),
            Expr::MethodCall(inner) if !is_row => Self::of_call(inner).map(|field| Self { which, ..field }),
            _ => None,
        }
    }

    fn of_path(path: &ExprPath, which: Which) -> Option<Self> {
        let segments: Vec<_> = path.path.segments.iter().map(|segment| &segment.ident).collect();
        let [.., service, field] = segments.as_slice() else { return None };
        let (service, name) = (service.to_string(), field.to_string());
        let name = name.trim_start_matches("r#");
        let is_field = service.starts_with(char::is_uppercase) && name.starts_with(|first: char| !first.is_uppercase());
        (is_field && path.qself.is_none()).then(|| Self { service: service_of(path), name: name.to_owned(), which })
    }
}

/// The path without its last segment.
fn service_of(path: &ExprPath) -> TokenStream {
    let leading = path.path.leading_colon;
    let count = path.path.segments.len() - 1;
    let segments = path.path.segments.iter().take(count);
    quote!(#leading #(#segments)::*)
}

/// `Comment` in `Comment::form(...)`, which method calls may follow: `.value(...)`.
fn service_of_form(expr: &Expr) -> Option<TokenStream> {
    match expr {
        Expr::MethodCall(call) => service_of_form(&call.receiver),
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else { return None };
            let segments: Vec<_> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let [.., service, form] = segments.as_slice() else { return None };
            let is_form = form == "form" && service.starts_with(char::is_uppercase) && path.qself.is_none();
            is_form.then(|| service_of(path))
        }
        _ => None,
    }
}

fn outside(nodes: &mut Vec<Node>, found: &mut Vec<Diagnostic>) {
    for node in nodes {
        match node {
            Node::Element(element) if element.is(&["form"]) => {
                if let Some(statements) = form(element, found) {
                    let element = std::mem::replace(node, Node::Block(Vec::new()));
                    *node = Node::Block(vec![Node::Let(statements), element]);
                }
            }
            Node::Element(element) => {
                if let Some((field, method, span)) = control(element) {
                    let (service, name) = (field.service.to_string().replace(' ', ""), field.name);
                    let message = format!(
                        "this control is not in a literal `form (...) {{ }}`: pass the form to this function, and write \
                         `(form.{method}({service}::{name}))`"
                    );
                    found.push(Diagnostic::new(span, message));
                    element.attributes.retain(|attribute| !matches!(attribute, Attribute::Splice(_)));
                }
                if let Body::Nodes(nodes, _) = &mut element.body {
                    outside(nodes, found);
                }
            }
            Node::Block(nodes) => outside(nodes, found),
            other => other.arms_mut().iter_mut().for_each(|arm| outside(&mut arm.nodes, found)),
        }
    }
}

/// The field that an element edits or labels, the method for it, and the span.
fn control(element: &Element) -> Option<(Field, &'static str, Span)> {
    let method = CONTROLS.into_iter().find(|name| element.name.text == *name)?;
    element.attributes.iter().find_map(|attribute| match attribute {
        Attribute::Splice(splice) => Some((Field::of(splice)?, method, splice.span)),
        _ => None,
    })
}

/// The state of a literal form.
struct Literal {
    /// The variable of the form.
    variable: TokenStream,
    /// The service of the first field.
    service: Option<TokenStream>,
    /// Fields with a control, and names of controls that are written by hand.
    given: Vec<String>,
    by_hand: Vec<String>,
    /// Are all its controls visible here?
    is_visible: bool,
}

/// The statements before a form with controls of fields.
fn form(element: &mut Element, found: &mut Vec<Diagnostic>) -> Option<TokenStream> {
    let Body::Nodes(nodes, _) = &mut element.body else { return None };
    let splice = element.attributes.iter_mut().find_map(|attribute| match attribute {
        Attribute::Splice(splice) => Some(splice),
        _ => None,
    });
    let Some(splice) = splice else {
        outside(nodes, found);
        return None;
    };
    let site = Span::mixed_site().located_at(splice.span);
    let variable = quote_spanned!(site=> form);
    let service = syn::parse2::<Expr>(splice.expr.clone()).ok().and_then(|expr| service_of_form(&expr));
    let mut literal =
        Literal { variable: variable.clone(), service, given: Vec::new(), by_hand: Vec::new(), is_visible: true };
    inside(nodes, &mut literal, &mut Vec::new(), found);
    let service = literal.service?;
    let expr = std::mem::replace(&mut splice.expr, variable.clone());
    let complete = literal.is_visible.then(|| completeness(&service, &literal.given, &literal.by_hand, splice.span));
    Some(quote_spanned! {site=>
        let #variable = &(#expr);
        #complete
    })
}

/// A constant whose evaluation fails if a required field has no control. Every build evaluates an item; one cannot name
/// `Self`.
fn completeness(service: &TokenStream, given: &[String], by_hand: &[String], span: Span) -> TokenStream {
    let site = Span::mixed_site().located_at(span);
    let name = service.to_string().replace(' ', "");
    let call = quote_spanned! {site=>
        ::skep::form::complete(#name, <#service as ::skep::service::Service>::FIELDS, &[#(#given),*], &[#(#by_hand),*])
    };
    if name == "Self" { quote_spanned!(site=> const { #call };) } else { quote_spanned!(site=> const _: () = #call;) }
}

/// `seen` are the fields with a control on this path through the control flow.
fn inside(nodes: &mut Vec<Node>, literal: &mut Literal, seen: &mut Vec<String>, found: &mut Vec<Diagnostic>) {
    for node in nodes {
        match node {
            Node::Text(_) | Node::Let(_) => {}
            Node::Splice(_) => literal.is_visible = false,
            Node::Element(element) => {
                of_element(element, literal, seen, found);
                let holds_text = names::content_context(&element.name.text) != names::OutputContext::Text;
                if let Body::Nodes(nodes, _) = &mut element.body
                    && !holds_text
                {
                    inside(nodes, literal, seen, found);
                }
            }
            Node::Block(nodes) => inside(nodes, literal, seen, found),
            branching => {
                literal.is_visible = false;
                let before = seen.clone();
                for arm in branching.arms_mut() {
                    let mut here = before.clone();
                    inside(&mut arm.nodes, literal, &mut here, found);
                    seen.extend(here);
                }
            }
        }
    }
}

fn of_element(element: &mut Element, literal: &mut Literal, seen: &mut Vec<String>, found: &mut Vec<Diagnostic>) {
    let Some((field, method, span)) = control(element) else {
        return other_control(element, literal);
    };
    if !matches!(method, "label" | "button") {
        if field.which == Which::All && seen.contains(&field.name) {
            found.push(Diagnostic::new(span, format!("the field `{}` has a control in this form already", field.name)));
        }
        seen.push(field.name.clone());
        literal.given.push(field.name.clone());
    }
    literal.service.get_or_insert_with(|| field.service.clone());
    let beside = beside(element, method, found);
    let form = &literal.variable;
    for attribute in &mut element.attributes {
        let Attribute::Splice(splice) = attribute else { continue };
        let Some(field) = Field::of(splice) else { continue };
        let method = match (method, field.which) {
            ("input", Which::Part) => "part",
            ("label", Which::Part) => "part_label",
            (method, _) => method,
        };
        let method = syn::Ident::new(method, Span::mixed_site().located_at(splice.span));
        let (expr, site) = (&splice.expr, Span::mixed_site().located_at(splice.span));
        let reference = (field.which == Which::Part).then(|| quote!(&));
        splice.expr = quote_spanned! {site=>
            ::skep::form::Form::#method(#form, #reference #expr).beside(&[#(#beside),*])
        };
    }
}

/// Records a control that is written by hand, by its `name`.
fn other_control(element: &Element, literal: &mut Literal) {
    if !element.is(&["input", "select", "textarea", "button"]) {
        return;
    }
    for attribute in &element.attributes {
        match attribute {
            Attribute::Splice(_) => literal.is_visible = false,
            Attribute::Named { name, value } if name.text == "name" => match text(value) {
                Some(text) => literal.by_hand.push(text),
                None => literal.is_visible = false,
            },
            _ => {}
        }
    }
}

/// The literal text of a value.
fn text(value: &Value) -> Option<String> {
    let Value::Nodes(nodes) = value else { return None };
    nodes.iter().map(|node| if let Node::Text(text) = node { Some(text.value.as_str()) } else { None }).collect()
}

/// The attributes that the author writes on a control, which `skep::form` must not repeat: pairs of name and text.
fn beside(element: &mut Element, method: &str, found: &mut Vec<Diagnostic>) -> Vec<TokenStream> {
    let mut pairs = Vec::new();
    if matches!(&element.body, Body::Nodes(nodes, _) if !nodes.is_empty()) {
        pairs.push(quote!(("{}", "")));
    }
    element.attributes.retain(|attribute| {
        let (name, value) = match attribute {
            Attribute::Named { name, value } => (name, value),
            Attribute::Id { span, .. } if method != "label" && method != "button" => {
                found.push(Diagnostic::new(*span, FIXED));
                return false;
            }
            _ => return true,
        };
        let key = name.text.to_ascii_lowercase();
        if matches!(key.as_str(), "id" | "name") && method != "label" && (method != "button" || key == "name")
            || key == "for" && method == "label"
        {
            found.push(Diagnostic::on(name, FIXED));
            return false;
        }
        let given = text(value).unwrap_or_default();
        pairs.push(quote!((#key, #given)));
        let is_description = key == "aria-describedby";
        if is_description && given.is_empty() {
            let message = "write the ids in quotes: the id of the field's message is added to them";
            found.push(Diagnostic::on(name, message));
        }
        !is_description
    });
    pairs
}

const FIXED: &str = "the field sets this attribute, which connects label, control and message; \
    to show the form twice on a page, give one of them a `.prefixed(\"...\")`";

//! Form controls: `input (Comment::author);` in a literal `form (Comment::form(...)) { ... }`.
//!
//! Binds the form to a variable before its element, and rewrites each control to ask it for the submitted value and the
//! validation error: `input (form.input(Comment::author));`, which is what a function that takes a form writes. The
//! compiler checks by type that the field exists and that the control fits it. Duplicate and missing controls are found
//! here: a splice never counts as a control, unless `@fields(Comment::author) { ... }` says which it has, and its type
//! proves it. A part of a form that several services share, `@form (part) { ... }`, is bound and checked as a form is.

mod fields;
mod path;
mod proof;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, ExprPath};

use super::super::ast::{Attribute, Body, Element, Node, Splice, Value};
use super::super::diagnostic::Diagnostic;
use super::super::names;
use fields::{composed, declared};
use path::{By, Path};
pub(crate) use proof::{Proof, proof};

/// Rewrites the controls of all literal forms.
///
/// `@fields` outside of them is for pieces only.
pub(crate) fn bind(nodes: &mut Vec<Node>, is_piece: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    outside(nodes, &mut found, is_piece);
    found
}

/// The elements that can be controls. The methods of `skep::form::Form` for them have the same names.
const CONTROLS: [&str; 6] = ["input", "textarea", "select", "fieldset", "label", "button"];

/// The field that a control names: `Comment::author`, `Comment::kind.of(Kind::Note)`, `Comment::links.at(0)`,
/// `Order::lines.row(0, Line::product)`.
struct Field {
    service: TokenStream,
    /// `author`, `lines.product` for a field of the rows of `lines`.
    name: String,
    which: Which,
    /// Its options come along: `Course::trainer.among(&trainers)`.
    is_among: bool,
}

/// What the controls of a literal belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// `form (Comment::form(...)) { }`
    Service,
    /// `@form (part) { }`
    Group,
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
        if call.method == "field" {
            return Self::of_group(&call.receiver, call.args.last()?);
        }
        let is_row = call.method == "row";
        if call.method == "among" {
            let field = Self::of(&Splice { expr: call.receiver.to_token_stream(), span: call.receiver.span() })?;
            return Some(Self { is_among: true, ..field });
        }
        if !is_row && call.method != "of" && call.method != "at" {
            return None;
        }
        let which = if is_row { Which::Row } else { Which::Part };
        match &*call.receiver {
            Expr::Path(path) if is_row => Self::of_row(path, call.args.last()?),
            Expr::Path(path) => Self::of_path(path, which),
            Expr::MethodCall(inner) if !is_row => Self::of_call(inner).map(|field| Self { which, ..field }),
            Expr::MethodCall(inner) => Self::of_call(inner)?.with_row(call.args.last()?),
            _ => None,
        }
    }

    /// `Save::course.field(CourseFields::title)`; the rows of its lists are `.row(...)` of that.
    fn of_group(group: &Expr, field: &Expr) -> Option<Self> {
        let (Expr::Path(group), Expr::Path(field)) = (group, field) else { return None };
        let (group, field) = (Self::of_path(group, Which::All)?, Self::of_path(field, Which::All)?);
        Some(Self { name: format!("{}.{}", group.name, field.name), ..group })
    }

    fn of_row(list: &ExprPath, field: &Expr) -> Option<Self> {
        Self::of_path(list, Which::Row)?.with_row(field)
    }

    /// This field of a row of it.
    fn with_row(mut self, field: &Expr) -> Option<Self> {
        if let Expr::Path(field) = field {
            self.name = format!("{}.{}", self.name, Self::of_path(field, Which::Row)?.name);
        }
        Some(Self { which: Which::Row, ..self })
    }

    /// The field of `form.input(Comment::author)`, as a function writes that takes a form.
    fn of_asked(splice: &Splice) -> Option<Self> {
        let Expr::MethodCall(call) = syn::parse2(splice.expr.clone()).ok()? else { return None };
        let method = call.method.to_string();
        let method = method.trim_end_matches("_among");
        let is_control = method == "part" || method != "label" && CONTROLS.contains(&method);
        let argument = match call.args.first()? {
            Expr::Reference(reference) => &*reference.expr,
            other => other,
        };
        let field = Splice { expr: quote!(#argument), span: splice.span };
        if is_control { Self::of(&field) } else { None }
    }

    fn of_path(path: &ExprPath, which: Which) -> Option<Self> {
        let segments: Vec<_> = path.path.segments.iter().map(|segment| &segment.ident).collect();
        let [.., service, field] = segments.as_slice() else { return None };
        let (service, name) = (service.to_string(), field.to_string());
        let name = name.trim_start_matches("r#");
        let is_field = service.starts_with(char::is_uppercase) && name.starts_with(|first: char| !first.is_uppercase());
        (is_field && path.qself.is_none()).then(|| Self {
            service: service_of(path),
            name: name.to_owned(),
            which,
            is_among: false,
        })
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

fn outside(nodes: &mut Vec<Node>, found: &mut Vec<Diagnostic>, is_piece: bool) {
    for node in nodes {
        match node {
            Node::Element(element) if element.is(&["form"]) => {
                if let Some(statements) = form(element, found, is_piece) {
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
                    outside(nodes, found, is_piece);
                }
            }
            Node::Block(nodes) if is_part(nodes) => part(nodes, found),
            Node::Block(nodes) if is_piece && is_fields(nodes) => composed(nodes, found),
            Node::Block(nodes) => outside(nodes, found, is_piece),
            Node::Fields(_, span) => {
                let message = "`@fields` belongs into a literal `form (...) { }` or a `piece!`, around the function \
                               that writes the controls";
                found.push(Diagnostic::new(*span, message));
            }
            other => other.arms_mut().iter_mut().for_each(|arm| outside(&mut arm.nodes, found, is_piece)),
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
    /// The service or group of the first field.
    service: Option<TokenStream>,
}

impl Literal {
    /// The statements before the controls: the variable, and the check that none is missing.
    fn bound(&self, splice: &mut Splice, owner: Owner, path: &Path) -> TokenStream {
        let complete = match &self.service {
            Some(service) => completeness(service, owner, path, splice.span),
            None => completeness_by_type(&self.variable, owner, path, splice.span),
        };
        let variable = &self.variable;
        let expr = std::mem::replace(&mut splice.expr, variable.clone());
        quote_spanned! {Span::mixed_site().located_at(splice.span)=>
            let #variable = &(#expr);
            #complete
        }
    }
}

fn is_part(nodes: &[Node]) -> bool {
    matches!(nodes.first(), Some(Node::Part(_)))
}

fn is_fields(nodes: &[Node]) -> bool {
    matches!(nodes.first(), Some(Node::Fields(..)))
}

/// Binds the controls of `@form (part) { ... }`.
fn part(nodes: &mut [Node], found: &mut Vec<Diagnostic>) {
    let Some((Node::Part(splice), rest)) = nodes.split_first_mut() else { return };
    let mut splice = splice.clone();
    let variable = variable(&splice);
    let (mut literal, mut path) = (Literal { variable, service: None }, Path::of_group());
    inside(rest, &mut literal, &mut path, found);
    nodes[0] = Node::Let(literal.bound(&mut splice, Owner::Group, &path));
}

fn variable(splice: &Splice) -> TokenStream {
    quote_spanned!(Span::mixed_site().located_at(splice.span)=> form)
}

/// The statements before a form with controls of fields.
fn form(element: &mut Element, found: &mut Vec<Diagnostic>, is_piece: bool) -> Option<TokenStream> {
    let mut nothing = Vec::new();
    let nodes = if let Body::Nodes(nodes, _) = &mut element.body { nodes } else { &mut nothing };
    let splice = element.attributes.iter_mut().find_map(|attribute| match attribute {
        Attribute::Splice(splice) => Some(splice),
        _ => None,
    });
    let Some(splice) = splice else {
        outside(nodes, found, is_piece);
        return None;
    };
    let variable = variable(splice);
    let service = syn::parse2::<Expr>(splice.expr.clone()).ok().and_then(|expr| service_of_form(&expr));
    let (mut literal, mut path) = (Literal { variable, service }, Path::default());
    inside(nodes, &mut literal, &mut path, found);
    Some(literal.bound(splice, Owner::Service, &path))
}

/// A constant whose evaluation fails if a required field has no control. Every build evaluates an item; one cannot name
/// `Self`.
fn completeness(service: &TokenStream, owner: Owner, path: &Path, span: Span) -> TokenStream {
    let site = Span::mixed_site().located_at(span);
    let name = service.to_string().replace(' ', "");
    let (given, by_hand, sometimes) = (path.names(false), path.names(true), path.sometimes());
    let fields = match owner {
        Owner::Service => quote_spanned!(site=> <#service as ::skep::service::Service>::FIELDS),
        Owner::Group => quote_spanned!(site=> <#service as ::skep::form::Control>::GROUP),
    };
    let call = quote_spanned! {site=>
        ::skep::form::complete(#name, #fields, &[#(#given),*], &[#(#by_hand),*], &[#(#sometimes),*])
    };
    if name == "Self" { quote_spanned!(site=> const { #call };) } else { quote_spanned!(site=> const _: () = #call;) }
}

/// The same for a form that names no field, so that only its type says which service it leads to: a build fails,
/// `cargo check` does not evaluate it.
fn completeness_by_type(variable: &TokenStream, owner: Owner, path: &Path, span: Span) -> TokenStream {
    let (site, by_hand) = (Span::mixed_site().located_at(span), path.names(true));
    let expect = match owner {
        Owner::Service => quote_spanned!(site=> ::skep::html::Attributes::expect_controls::<ByHand>(#variable)),
        Owner::Group => quote_spanned!(site=> ::skep::form::Form::expect_fields::<ByHand>(#variable)),
    };
    quote_spanned! {site=>
        {
            struct ByHand;
            impl ::skep::html::NamedControls for ByHand {
                const NAMES: &'static [&'static ::core::primitive::str] = &[#(#by_hand),*];
            }
            #expect;
        }
    }
}

/// `path` is where the control flow has come from.
fn inside(nodes: &mut [Node], literal: &mut Literal, path: &mut Path, found: &mut Vec<Diagnostic>) {
    for node in nodes {
        match node {
            Node::Text(_) | Node::Let(_) | Node::Splice(_) | Node::Part(_) | Node::Fields(..) => {}
            Node::Element(element) => {
                let (before, sends_nothing) = (path.sent.len(), sends_nothing(element));
                of_element(element, literal, path, found);
                let holds_text = names::content_context(&element.name.text) != names::OutputContext::Text;
                if let Body::Nodes(nodes, _) = &mut element.body
                    && !holds_text
                {
                    inside(nodes, literal, path, found);
                }
                if sends_nothing {
                    path.sent.truncate(before);
                }
            }
            Node::Block(nodes) if is_part(nodes) => part(nodes, found),
            Node::Block(nodes) if is_fields(nodes) => declared(nodes, literal, path, found),
            Node::Block(nodes) => inside(nodes, literal, path, found),
            branching => {
                let start = path.clone();
                let arms = branching.arms_mut().iter_mut().map(|arm| {
                    let mut here = start.clone();
                    inside(&mut arm.nodes, literal, &mut here, found);
                    here
                });
                let ends = arms.collect();
                path.join(branching, ends);
            }
        }
    }
}

/// Does a browser send nothing of this element with the form? What a condition disables counts as sent.
fn sends_nothing(element: &Element) -> bool {
    let is_control = element.is(&["input", "select", "textarea", "button"]);
    let never = |attribute: &Attribute| {
        let Attribute::Named { name, value } = attribute else { return false };
        match &*name.text.to_ascii_lowercase() {
            "disabled" => matches!(value, Value::None) && (is_control || element.is(&["fieldset"])),
            "form" => matches!(value, Value::Nodes(_)) && is_control,
            "type" if element.is(&["input", "button"]) => {
                text(value).is_some_and(|kind| ["button", "reset"].iter().any(|one| kind.eq_ignore_ascii_case(one)))
            }
            _ => false,
        }
    };
    element.is(&["template"]) || element.attributes.iter().any(never)
}

/// A control of a field counts, and a field has one.
fn count(field: &Field, by: By, span: Span, path: &mut Path, found: &mut Vec<Diagnostic>) {
    let is_single = field.which == Which::All && by == By::Control;
    if is_single && (path.seen.contains(&field.name) || path.is_in_declared(&field.name)) {
        found.push(Diagnostic::new(span, format!("the field `{}` has a control in this form already", field.name)));
    }
    path.seen.push(field.name.clone());
    path.send(&field.name, if field.which == Which::All { by } else { By::Part });
}

fn of_element(element: &mut Element, literal: &mut Literal, path: &mut Path, found: &mut Vec<Diagnostic>) {
    let Some((field, method, span)) = control(element) else {
        return other_control(element, path, found);
    };
    match method {
        "label" => {}
        "button" => path.send(&field.name, By::Part),
        _ => count(&field, By::Control, span, path, found),
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
        let method = if field.is_among { format!("{method}_among") } else { method.to_owned() };
        let method = syn::Ident::new(&method, Span::mixed_site().located_at(splice.span));
        let (expr, site) = (&splice.expr, Span::mixed_site().located_at(splice.span));
        let reference = (field.which == Which::Part).then(|| quote!(&));
        splice.expr = quote_spanned! {site=>
            ::skep::form::Form::#method(#form, #reference #expr).beside(&[#(#beside),*])
        };
    }
}

/// Records a control that is written by hand, by its `name`, or as a function writes it that takes a form.
fn other_control(element: &Element, path: &mut Path, found: &mut Vec<Diagnostic>) {
    if !element.is(&["input", "select", "textarea", "button", "fieldset"]) {
        return;
    }
    for attribute in &element.attributes {
        match attribute {
            Attribute::Splice(splice) => match Field::of_asked(splice) {
                Some(field) if element.is(&["button"]) => path.send(&field.name, By::Part),
                Some(field) => count(&field, By::Control, splice.span, path, found),
                None => {}
            },
            // A fieldset has a name for scripts only.
            Attribute::Named { name, value } if name.text == "name" && !element.is(&["fieldset"]) => {
                if let Some(name) = text(value) {
                    path.send(&name, By::Hand);
                }
            }
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

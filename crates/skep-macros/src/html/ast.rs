//! A template as the author wrote it: no HTML rules, no Rust code.
//!
//! Rust inside a template stays tokens, unread: rustc reads it better, and an editor can complete it.

use proc_macro2::{Span, TokenStream};

pub(crate) enum Node {
    Text(Text),
    /// `(expr)`.
    Splice(Splice),
    Element(Element),
    /// `{ ... }`: groups, and is a scope for `@let`.
    Block(Vec<Node>),
    If(If),
    /// `@for` and `@while`, with all between the `@` and the braces.
    Loop(Loop),
    Match(Match),
    /// `@let`, from `let` to `;`.
    Let(TokenStream),
}

/// A literal: text, a number, true or false.
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) span: Span,
}

/// The tokens between parentheses or brackets, and where these are.
#[derive(Clone)]
pub(crate) struct Splice {
    pub(crate) expr: TokenStream,
    pub(crate) span: Span,
}

pub(crate) struct Element {
    pub(crate) name: Name,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) body: Body,
}

/// Of an element or an attribute. `start` and `end` are its first and last token.
#[derive(Clone)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) start: Span,
    pub(crate) end: Span,
}

pub(crate) enum Body {
    /// `;`.
    None,
    /// With the place of the braces.
    Nodes(Vec<Node>, Span),
}

pub(crate) enum Attribute {
    /// `.name`, `.name[toggle]`.
    Class { name: Vec<Node>, toggle: Option<Splice> },
    /// `#name`.
    Id { name: Vec<Node>, span: Span },
    /// `name`, `name[toggle]`, `name=value`.
    Named { name: Name, value: Value },
    /// `(expr)`.
    Splice(Splice),
}

pub(crate) enum Value {
    None,
    /// `name[bool]`.
    Toggle(Splice),
    /// `name=[option]`.
    Optional(Splice),
    /// `name="x"`, `name=(x)`, `name={ "x" (y) }`.
    Nodes(Vec<Node>),
}

pub(crate) struct If {
    pub(crate) branches: Vec<Branch>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

/// `if condition { nodes }`.
pub(crate) struct Branch {
    pub(crate) condition: TokenStream,
    pub(crate) nodes: Vec<Node>,
}

pub(crate) struct Loop {
    /// `for pattern in expr` or `while condition`.
    pub(crate) head: TokenStream,
    pub(crate) nodes: Vec<Node>,
}

pub(crate) struct Match {
    pub(crate) expr: TokenStream,
    pub(crate) arms: Vec<Arm>,
}

pub(crate) struct Arm {
    /// The pattern, and the guard if there is one.
    pub(crate) head: TokenStream,
    pub(crate) nodes: Vec<Node>,
}

impl Element {
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name.text.as_str())
    }
}

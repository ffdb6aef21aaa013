//! The syntax tree of a template: no HTML rules, no Rust code.
//!
//! Rust expressions stay tokens: rustc reports their errors better, and an editor can complete them.

use proc_macro2::{Span, TokenStream};

pub(crate) enum Node {
    Text(Text),
    /// `(expr)`.
    Splice(Splice),
    Element(Element),
    /// `{ ... }`: groups, and is a scope for `@let`.
    Block(Vec<Node>),
    /// `@if`, with the arms of its `@else if` and `@else`.
    If(Vec<Arm>),
    /// `@for` and `@while`.
    Loop(Arm),
    /// `@match`, with its expression.
    Match(TokenStream, Vec<Arm>),
    /// `@let`, from `let` to `;`.
    Let(TokenStream),
    /// The field of `@fields(...) { ... }`, with the span of that word; it stands first in the block.
    Fields(Splice, Span),
    /// The part of a form of `@form (part) { ... }`; it stands first in the block.
    Part(Splice),
}

/// A literal: string, number or bool.
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) span: Span,
}

/// The tokens between parentheses or brackets, and the span of these.
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

/// The name of an element or attribute. `start` and `end` are the spans of its first and last token.
#[derive(Clone)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) start: Span,
    pub(crate) end: Span,
}

pub(crate) enum Body {
    /// `;`.
    None,
    /// The content, and the span of the braces.
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

/// A body of control flow.
pub(crate) struct Arm {
    /// What precedes the body: `if condition`, `else`, `for pattern in expr`; in a match the pattern and its guard.
    pub(crate) head: TokenStream,
    pub(crate) nodes: Vec<Node>,
}

impl Node {
    /// The bodies of control flow: of an `@if` or `@match` at most one is rendered, that of a loop any number of times.
    pub(crate) fn arms(&self) -> &[Arm] {
        match self {
            Self::If(arms) | Self::Match(_, arms) => arms,
            Self::Loop(body) => std::slice::from_ref(body),
            _ => &[],
        }
    }

    pub(crate) fn arms_mut(&mut self) -> &mut [Arm] {
        match self {
            Self::If(arms) | Self::Match(_, arms) => arms,
            Self::Loop(body) => std::slice::from_mut(body),
            _ => &mut [],
        }
    }
}

impl Element {
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name.text.as_str())
    }
}

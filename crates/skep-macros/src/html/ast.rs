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
    If(If),
    /// `@for` and `@while`, with the tokens between `@` and the braces.
    Loop(Loop),
    Match(Match),
    /// `@let`, from `let` to `;`.
    Let(TokenStream),
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

impl Node {
    /// The bodies of control flow: of an `@if` or `@match` at most one is rendered, that of a loop any number of times.
    pub(crate) fn arms(&self) -> Vec<&[Self]> {
        match self {
            Self::If(If { branches, otherwise }) => {
                branches.iter().map(|branch| branch.nodes.as_slice()).chain(otherwise.as_deref()).collect()
            }
            Self::Match(choice) => choice.arms.iter().map(|arm| arm.nodes.as_slice()).collect(),
            Self::Loop(body) => vec![&body.nodes],
            _ => Vec::new(),
        }
    }
}

impl Element {
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name.text.as_str())
    }
}

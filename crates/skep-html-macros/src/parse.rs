//! Parses tokens into an [`ast`](super::ast). Knows the syntax and no HTML.
//!
//! After an error it continues after the next `;` or `}`, so that one run reports all errors.
//! Start reading at [`template`].

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser as _};
use syn::{Ident, Lit, Token, token};

use super::ast::{Attribute, Body, Element, Name, Node, Splice, Text};
use super::diagnostic::Diagnostic;
use super::home::Home;
use super::names;
use super::standard;

/// The nodes that could be parsed, and the errors.
pub(crate) fn template(tokens: TokenStream, home: Home) -> (Vec<Node>, Vec<Diagnostic>) {
    let mut parser = Parser { home, diagnostics: Vec::new() };
    let nodes = (|input: ParseStream<'_>| Ok(parser.nodes(input))).parse2(tokens);
    let nodes = nodes.unwrap_or_else(|error| {
        parser.diagnostics.push(error.into());
        Vec::new()
    });
    (nodes, parser.diagnostics)
}

pub(super) struct Parser {
    pub(super) home: Home,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

impl Parser {
    /// Everything up to the end of `input`.
    pub(super) fn nodes(&mut self, input: ParseStream<'_>) -> Vec<Node> {
        let mut nodes = Vec::new();
        while !input.is_empty() {
            match self.node(input) {
                Ok(node) => nodes.push(node),
                Err(error) => {
                    self.diagnostics.push(error);
                    skip(input);
                }
            }
        }
        nodes
    }

    pub(super) fn node(&mut self, input: ParseStream<'_>) -> Result<Node> {
        if input.peek(Lit) {
            Ok(Node::Text(literal(input)?))
        } else if input.peek(token::Paren) {
            Ok(Node::Splice(parenthesized(input)?))
        } else if input.peek(token::Brace) {
            Ok(Node::Block(self.braced(input)?.0))
        } else if input.peek(Token![@]) {
            self.control(input)
        } else if input.peek(Token![.]) || input.peek(Token![#]) {
            let name = Name { text: "div".into(), start: input.span(), end: input.span() };
            self.element(input, name).map(Node::Element)
        } else if input.peek(Ident::peek_any) {
            self.named(input)
        } else {
            Err(unexpected(input))
        }
    }

    /// An element, or control flow without its `@`.
    fn named(&mut self, input: ParseStream<'_>) -> Result<Node> {
        let word = input.fork().call(Ident::parse_any)?;
        if names::CONTROL.contains(&word.to_string().as_str()) {
            self.diagnostics
                .push(Diagnostic::new(word.span(), format!("write `@{word}`: `{word}` alone would be an element")));
            return self.keyword(input);
        }
        let name = element_name(input)?;
        self.element(input, name).map(Node::Element)
    }

    /// The rest of an element, after its name.
    fn element(&mut self, input: ParseStream<'_>, name: Name) -> Result<Element> {
        let attributes = self.attributes(input, &name)?;
        let body = if input.peek(token::Brace) {
            let (nodes, span) = self.braced(input)?;
            Body::Nodes(nodes, span)
        } else if input.parse::<Option<Token![;]>>()?.is_some() {
            Body::None
        } else {
            return Err(without_body(input, &name));
        };
        Ok(Element { name, attributes, body })
    }

    pub(super) fn braced(&mut self, input: ParseStream<'_>) -> Result<(Vec<Node>, Span)> {
        let (content, span) = braces(input)?;
        Ok((self.nodes(&content), span))
    }

    fn attributes(&mut self, input: ParseStream<'_>, element: &Name) -> Result<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while !input.is_empty() && !input.peek(token::Brace) && !input.peek(Token![;]) {
            if !starts_attribute(input) {
                return Err(without_body(input, element));
            }
            attributes.push(self.attribute(input)?);
        }
        Ok(attributes)
    }
}

/// Does an attribute start here? `p "text"` and `br @if ...` lack a brace or semicolon instead.
fn starts_attribute(input: ParseStream<'_>) -> bool {
    let is_quoted_name =
        input.peek(syn::LitStr) && (input.peek2(Token![=]) || input.peek2(Token![?]) || input.peek2(token::Bracket));
    let ahead = input.fork();
    let is_control = ahead.parse::<Token![@]>().is_ok()
        && ahead.call(Ident::parse_any).is_ok_and(|word| names::CONTROL.contains(&word.to_string().as_str()));
    let is_bool = input.peek(syn::LitBool);
    is_quoted_name
        || is_bool
        || !is_control
            && (input.peek(Ident::peek_any)
                || input.peek(token::Paren)
                || input.peek(Token![.])
                || input.peek(Token![#])
                || input.peek(Token![:])
                || input.peek(Token![@]))
}

/// Skips at least one token, up to and including the next `;` or braces.
fn skip(input: ParseStream<'_>) {
    while let Ok(token) = input.parse::<TokenTree>() {
        let is_end = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
            _ => false,
        };
        if is_end {
            return;
        }
    }
}

fn element_name(input: ParseStream<'_>) -> Result<Name> {
    let first = input.call(Ident::parse_any)?;
    let mut name = Name { text: first.unraw().to_string(), start: first.span(), end: first.span() };
    while input.peek(Token![-]) {
        name.end = input.parse::<Token![-]>()?.span;
        name.text.push('-');
        if input.peek(Ident::peek_any) || input.peek(syn::LitInt) {
            let part: TokenTree = input.parse()?;
            name.text.push_str(&part.to_string());
            name.end = part.span();
        }
    }
    Ok(name)
}

pub(super) fn literal(input: ParseStream<'_>) -> Result<Text> {
    let lit: Lit = input.parse()?;
    let value = match &lit {
        Lit::Str(lit) => lit.value(),
        Lit::Char(lit) => lit.value().to_string(),
        Lit::Int(lit) => lit.base10_digits().to_owned(),
        Lit::Float(lit) => lit.base10_digits().to_owned(),
        Lit::Bool(lit) => lit.value.to_string(),
        _ => return Err(Diagnostic::new(lit.span(), "HTML is text: write a string without the prefix `b` or `c`")),
    };
    Ok(Text { value, span: lit.span() })
}

pub(super) fn parenthesized(input: ParseStream<'_>) -> syn::Result<Splice> {
    let content;
    let parens = syn::parenthesized!(content in input);
    splice(&content, parens.span.join(), "`(` and `)`")
}

pub(super) fn bracketed(input: ParseStream<'_>) -> syn::Result<Splice> {
    let content;
    let brackets = syn::bracketed!(content in input);
    splice(&content, brackets.span.join(), "`[` and `]`")
}

pub(super) fn braces(input: ParseStream<'_>) -> syn::Result<(ParseBuffer<'_>, Span)> {
    let content;
    let braces = syn::braced!(content in input);
    Ok((content, braces.span.join()))
}

fn splice(content: ParseStream<'_>, span: Span, between: &str) -> syn::Result<Splice> {
    let expr: TokenStream = content.parse()?;
    if expr.is_empty() {
        return Err(syn::Error::new(span, format!("a Rust expression is expected between {between}")));
    }
    Ok(Splice { expr, span })
}

fn unexpected(input: ParseStream<'_>) -> Diagnostic {
    let message = if input.peek(Token![<]) {
        "elements are written without angle brackets here: write `p { \"text\" }` for `<p>text</p>`"
    } else if input.peek(Token![;]) {
        "unexpected `;`: it ends only elements without content, as in `br;`"
    } else if input.peek(token::Bracket) {
        "`[ ]` is allowed only after the name of an attribute or class; a Rust value is written `(value)`"
    } else if input.peek(Token![$]) || input.peek(Token![&]) || input.peek(Token![!]) || input.peek(Token![*]) {
        "a Rust value is written in parentheses: write `(value)`"
    } else {
        "expected an element (`p { }`), text (`\"text\"`), a Rust value (`(value)`) or `@if`, `@for`, `@match`, `@let`"
    };
    Diagnostic::new(input.span(), message)
}

/// The error if the attributes are followed by neither content nor `;`.
fn without_body(input: ParseStream<'_>, name: &Name) -> Diagnostic {
    let name_text = &name.text;
    if standard::is_void(name_text) {
        Diagnostic::on(name, format!("`{name_text}` has no content and ends with `;`: write `{name_text};`"))
    } else if input.peek(Lit) {
        let message = format!("the content of an element is written in braces: write `{name_text} {{ \"text\" }}`");
        Diagnostic::new(input.span(), message)
    } else if input.is_empty() {
        Diagnostic::on(name, format!("`{name_text}` needs content, or empty braces: write `{name_text} {{ }}`"))
    } else {
        let form = format!("`{name_text} name=\"value\" {{ }}`");
        Diagnostic::new(
            input.span(),
            format!("expected an attribute or the content of `{name_text}` in braces: {form}"),
        )
    }
}

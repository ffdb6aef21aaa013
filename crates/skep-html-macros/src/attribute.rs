//! Parses attributes: names with their punctuation, shorthands, values.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitStr, Token, token};

use super::ast::{Attribute, Name, Node, Text, Value};
use super::diagnostic::Diagnostic;
use super::parse::{Parser, Result, bracketed, literal, parenthesized};

impl Parser {
    pub(super) fn attribute(&mut self, input: ParseStream<'_>) -> Result<Attribute> {
        if input.peek(token::Paren) {
            return Ok(Attribute::Splice(parenthesized(input)?));
        }
        if let Some(dot) = input.parse::<Option<Token![.]>>()? {
            let name = self.shorthand(input, dot.span)?;
            let toggle = if input.peek(token::Bracket) { Some(bracketed(input)?) } else { None };
            return Ok(Attribute::Class { name, toggle });
        }
        if let Some(hash) = input.parse::<Option<Token![#]>>()? {
            return Ok(Attribute::Id { name: self.shorthand(input, hash.span)?, span: hash.span });
        }
        let name = attribute_name(input)?;
        let value = self.attribute_value(input)?;
        Ok(Attribute::Named { name, value })
    }

    fn attribute_value(&mut self, input: ParseStream<'_>) -> Result<Value> {
        input.parse::<Option<Token![?]>>()?;
        if input.peek(token::Bracket) {
            return Ok(Value::Toggle(bracketed(input)?));
        }
        if input.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(Value::None);
        }
        if input.peek(token::Bracket) {
            return Ok(Value::Optional(bracketed(input)?));
        }
        self.value(input).map(Value::Nodes)
    }

    /// The value after `=`.
    fn value(&mut self, input: ParseStream<'_>) -> Result<Vec<Node>> {
        if input.peek(token::Brace) {
            return Ok(self.braced(input)?.0);
        }
        if input.peek(token::Paren) || input.peek(Lit) || input.peek(Token![@]) {
            return Ok(vec![self.node(input)?]);
        }
        if input.peek(Token![-]) && (input.peek2(syn::LitInt) || input.peek2(syn::LitFloat)) {
            let minus = input.parse::<Token![-]>()?;
            let number = literal(input)?;
            return Ok(vec![Node::Text(Text { value: format!("-{}", number.value), span: minus.span })]);
        }
        let span = input.span();
        let Ok(word) = input.call(Ident::parse_any) else {
            let message = "expected a value: `\"text\"`, `(value)`, `[option]` or `{ \"text\" (value) }`";
            return Err(Diagnostic::new(span, message));
        };
        // Only this word is invalid: parsing continues with the next attribute.
        let ways = format!("write `\"{word}\"` for text, `({word})` for a Rust value");
        self.diagnostics.push(Diagnostic::new(span, format!("a value is written in quotes or parentheses: {ways}")));
        Ok(Vec::new())
    }

    /// The name after `.` or `#`.
    fn shorthand(&mut self, input: ParseStream<'_>, sign: Span) -> Result<Vec<Node>> {
        if input.peek(token::Brace) {
            return Ok(self.braced(input)?.0);
        }
        if input.peek(token::Paren) {
            return Ok(vec![Node::Splice(parenthesized(input)?)]);
        }
        if input.peek(LitStr) {
            return Ok(vec![Node::Text(literal(input)?)]);
        }
        let mut name = Name { text: String::new(), start: input.span(), end: sign };
        fragment(input, &mut name);
        while input.peek(Token![-]) || input.peek(Token![:]) && is_adjacent(name.end, input) && !is_attribute(input) {
            punctuation(input, &mut name);
            fragment(input, &mut name);
        }
        if name.text.is_empty() {
            let message = "a name is missing after this: write `.class`, `#id`, `.\"text\"` or `.(value)`";
            return Err(Diagnostic::new(sign, message));
        }
        Ok(vec![Node::Text(Text { value: name.text, span: name.start })])
    }
}

fn attribute_name(input: ParseStream<'_>) -> Result<Name> {
    if let Some(quoted) = input.parse::<Option<LitStr>>()? {
        return Ok(Name { text: quoted.value(), start: quoted.span(), end: quoted.span() });
    }
    let mut name = Name { text: String::new(), start: input.span(), end: input.span() };
    if input.peek(Token![@]) || input.peek(Token![:]) {
        punctuation(input, &mut name);
    }
    fragment(input, &mut name);
    while input.peek(Token![-])
        || is_adjacent(name.end, input)
            && (input.peek(Token![:]) || input.peek(Token![.]) && (has_modifiers(&name.text) || is_attribute(input)))
    {
        punctuation(input, &mut name);
        fragment(input, &mut name);
    }
    Ok(name)
}

/// Modifiers of Alpine and Vue need no value (`@submit.prevent`); on other attributes a dot without a value starts a
/// class (`hidden.wide`).
fn has_modifiers(name: &str) -> bool {
    ["@", ":", "x-", "v-"].iter().any(|start| name.starts_with(start))
}

/// Does the next token of `input` directly follow `end`, without white space?
fn is_adjacent(end: Span, input: ParseStream<'_>) -> bool {
    let (end, start) = (end.end(), input.span().start());
    (end.line, end.column) == (start.line, start.column)
}

/// Does this `.` or `:` continue the name of an attribute, which `=` follows?
fn is_attribute(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let mut name = Name { text: String::new(), start: ahead.span(), end: ahead.span() };
    while ahead.peek(Token![.]) || ahead.peek(Token![-]) || ahead.peek(Token![:]) {
        punctuation(&ahead, &mut name);
        fragment(&ahead, &mut name);
    }
    ahead.peek(Token![=])
}

/// Consumes one punctuation character.
fn punctuation(input: ParseStream<'_>, name: &mut Name) {
    if let Ok(sign) = input.parse::<proc_macro2::Punct>() {
        name.text.push(sign.as_char());
        name.end = sign.span();
    }
}

/// Consumes a word or number, if there is one: `hx-on::load` has none between its colons.
fn fragment(input: ParseStream<'_>, name: &mut Name) {
    let (text, span) = if let Ok(Some(number)) = input.parse::<Option<syn::LitInt>>() {
        (number.to_string(), number.span())
    } else if let Ok(Some(number)) = input.parse::<Option<syn::LitFloat>>() {
        (number.to_string(), number.span())
    } else if input.peek(Ident::peek_any) {
        let Ok(word) = input.call(Ident::parse_any) else { return };
        (word.unraw().to_string(), word.span())
    } else {
        return;
    };
    name.text.push_str(&text);
    name.end = span;
}

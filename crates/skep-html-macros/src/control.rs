//! Parses `@if`, `@for`, `@while`, `@match`, `@let`, `@fields` and `@form`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Expr, Ident, Pat, Token, token};

use super::ast::{Arm, Node};
use super::diagnostic::Diagnostic;
use super::home::Home;
use super::parse::{Parser, Result, braces, parenthesized};

impl Parser {
    /// Starts at the `@`.
    pub(super) fn control(&mut self, input: ParseStream<'_>) -> Result<Node> {
        input.parse::<Token![@]>()?;
        self.keyword(input)
    }

    /// Starts after the `@`.
    pub(super) fn keyword(&mut self, input: ParseStream<'_>) -> Result<Node> {
        let start = input.span();
        let Ok(word) = input.fork().call(Ident::parse_any) else {
            return Err(self.unknown(start));
        };
        match word.to_string().as_str() {
            "if" => self.conditional(input).map(Node::If),
            "for" | "while" => self.repeated(input).map(Node::Loop),
            "match" => self.choice(input),
            "let" => binding(input).map(Node::Let),
            "fields" if self.home == Home::Skep => self.fields(input),
            "form" if self.home == Home::Skep => self.part(input),
            "else" => Err(Diagnostic::new(word.span(), "this `@else` has no `@if { ... }` directly before it")),
            _ => Err(self.unknown(word.span())),
        }
    }

    fn unknown(&self, span: Span) -> Diagnostic {
        let words = match self.home {
            Home::Html => "`if`, `for`, `while`, `match` or `let`",
            Home::Skep => "`if`, `for`, `while`, `match`, `let`, `fields` or `form`",
        };
        Diagnostic::new(span, format!("expected {words} after `@`"))
    }

    fn conditional(&mut self, input: ParseStream<'_>) -> Result<Vec<Arm>> {
        let mut arms: Vec<Arm> = Vec::new();
        loop {
            let word = input.parse::<Token![if]>()?;
            let condition = condition(input, word.span, "@if condition { ... }")?;
            let link = (!arms.is_empty()).then(|| quote!(else));
            let head = quote!(#link if #condition);
            arms.push(Arm { head, nodes: self.body(input, "@if condition { ... }")? });
            if !self.otherwise(input)? {
                return Ok(arms);
            }
            if input.peek(Token![@]) && input.peek2(Token![if]) {
                let at = input.parse::<Token![@]>()?;
                self.diagnostics.push(Diagnostic::new(at.span, "write `@else if`, with one `@`"));
            }
            if !input.peek(Token![if]) {
                arms.push(Arm { head: quote!(else), nodes: self.body(input, "@else { ... }")? });
                return Ok(arms);
            }
        }
    }

    /// Is there an `@else`? `else` without `@` is reported and accepted.
    fn otherwise(&mut self, input: ParseStream<'_>) -> Result<bool> {
        if input.peek(Token![@]) && input.peek2(Token![else]) {
            input.parse::<Token![@]>()?;
        } else if input.peek(Token![else]) {
            self.diagnostics.push(Diagnostic::new(input.span(), "write `@else`: `else` alone would be an element"));
        } else {
            return Ok(false);
        }
        input.parse::<Token![else]>()?;
        Ok(true)
    }

    fn repeated(&mut self, input: ParseStream<'_>) -> Result<Arm> {
        if let Some(word) = input.parse::<Option<Token![while]>>()? {
            let condition = condition(input, word.span, "@while condition { ... }")?;
            return Ok(Arm { head: quote!(#word #condition), nodes: self.body(input, "@while condition { ... }")? });
        }
        let form = "@for item in items { ... }";
        let word = input.parse::<Token![for]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let Some(keyword) = input.parse::<Option<Token![in]>>()? else {
            return Err(Diagnostic::new(input.span(), format!("expected `in`, as in `{form}`")));
        };
        let items = condition(input, keyword.span, form)?;
        Ok(Arm { head: quote!(#word #pattern #keyword #items), nodes: self.body(input, form)? })
    }

    fn choice(&mut self, input: ParseStream<'_>) -> Result<Node> {
        let form = "@match value { pattern => { ... } }";
        let word = input.parse::<Token![match]>()?;
        let expr = condition(input, word.span, form)?;
        if !input.peek(token::Brace) {
            return Err(expected_braces(input, form));
        }
        let (content, _) = braces(input)?;
        let mut arms = Vec::new();
        while !content.is_empty() {
            arms.push(self.arm(&content)?);
        }
        Ok(Node::Match(expr, arms))
    }

    /// `@fields(Order::address) { (address(&form.fields(Order::address))) }`: whose controls the block's splice writes.
    fn fields(&mut self, input: ParseStream<'_>) -> Result<Node> {
        let form = "@fields(Order::address) { (address(&form.fields(Order::address))) }";
        let word: Ident = input.call(Ident::parse_any)?;
        if !input.peek(token::Paren) {
            return Err(Diagnostic::new(word.span(), format!("the field is missing here: write `{form}`")));
        }
        let field = parenthesized(input)?;
        let mut nodes = self.body(input, form)?;
        nodes.insert(0, Node::Fields(field, word.span()));
        Ok(Node::Block(nodes))
    }

    /// `@form (part) { input (CourseFields::title); }`: the controls of a group of fields, for forms of several
    /// services.
    fn part(&mut self, input: ParseStream<'_>) -> Result<Node> {
        let form = "@form (part) { input (CourseFields::title); }";
        let word: Ident = input.call(Ident::parse_any)?;
        if !input.peek(token::Paren) {
            return Err(Diagnostic::new(word.span(), format!("the part of a form is missing here: write `{form}`")));
        }
        let part = parenthesized(input)?;
        let mut nodes = self.body(input, form)?;
        nodes.insert(0, Node::Part(part));
        Ok(Node::Block(nodes))
    }

    fn arm(&mut self, input: ParseStream<'_>) -> Result<Arm> {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let mut head = pattern.to_token_stream();
        if let Some(word) = input.parse::<Option<Token![if]>>()? {
            let guard: Expr = input.parse()?;
            head.extend(quote!(#word #guard));
        }
        if input.parse::<Option<Token![=>]>>()?.is_none() {
            return Err(Diagnostic::new(input.span(), "expected `=>`, as in `pattern => { ... }`"));
        }
        let is_block = input.peek(token::Brace);
        let nodes = if is_block { self.braced(input)?.0 } else { vec![self.node(input)?] };
        let has_comma = input.parse::<Option<Token![,]>>()?.is_some();
        if !is_block && !has_comma && !input.is_empty() {
            let message = "an arm without braces is one element or value, and a `,` ends it: `pattern => \"text\",`";
            return Err(Diagnostic::new(input.span(), message));
        }
        Ok(Arm { head, nodes })
    }

    /// The braces of a branch or loop.
    fn body(&mut self, input: ParseStream<'_>, form: &str) -> Result<Vec<Node>> {
        if input.peek(token::Brace) { Ok(self.braced(input)?.0) } else { Err(expected_braces(input, form)) }
    }
}

/// A Rust expression (or `let`) up to the brace that follows it.
fn condition(input: ParseStream<'_>, word: Span, form: &str) -> Result<TokenStream> {
    if input.is_empty() || input.peek(token::Brace) {
        return Err(Diagnostic::new(word, format!("a Rust expression is missing here: write `{form}`")));
    }
    let ahead = input.fork();
    match Expr::parse_without_eager_brace(&ahead) {
        Ok(expr) => {
            input.advance_to(&ahead);
            Ok(expr.into_token_stream())
        }
        Err(error) => raw_tokens(input).ok_or_else(|| error.into()),
    }
}

/// The tokens before the next brace. An incomplete expression is one that is being typed: rustc reports it, and an
/// editor completes it.
fn raw_tokens(input: ParseStream<'_>) -> Option<TokenStream> {
    let ahead = input.fork();
    let mut tokens = TokenStream::new();
    while !ahead.peek(token::Brace) {
        tokens.extend([ahead.parse::<TokenTree>().ok()?]);
    }
    input.advance_to(&ahead);
    Some(tokens)
}

/// `let` up to its `;`, not parsed: `let ... else` has braces.
fn binding(input: ParseStream<'_>) -> Result<TokenStream> {
    let word = input.span();
    let mut tokens = TokenStream::new();
    while let Ok(token) = input.parse::<TokenTree>() {
        let is_end = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
        tokens.extend([token]);
        if is_end {
            return Ok(tokens);
        }
    }
    Err(Diagnostic::new(word, "a `;` is missing after this: write `@let name = value;`"))
}

fn expected_braces(input: ParseStream<'_>, form: &str) -> Diagnostic {
    Diagnostic::new(input.span(), format!("braces are missing here: write `{form}`"))
}

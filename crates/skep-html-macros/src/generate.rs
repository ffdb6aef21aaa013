//! Generates the Rust code of a template: calls on one buffer.
//!
//! Adjacent literal text, tags and attributes become one `&'static str`, across elements. The code names the crate of
//! its author ([`Home`]) and uses mixed-site hygiene, so that it neither sees nor shadows names of the author; each
//! splice keeps its span.

mod attributes;
pub(super) mod controls;
mod types;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::ast::{Arm, Body, Element, Node, Splice};
use super::check::{Checked, Piece};
use super::home::Home;
use super::names::{self, OutputContext};
use super::standard;
use controls::Proof;
use types::Types;

/// Estimates of the bytes of a splice and the iterations of a loop, for the initial capacity of the buffer.
const SPLICE_BYTES: usize = 24;
const LOOP_TURNS: usize = 8;

/// An expression of type `Html`.
pub(crate) fn generate(
    nodes: &[Node],
    checked: &Checked<'_>,
    piece: Piece,
    home: Home,
    proof: Option<Proof>,
) -> TokenStream {
    let types = Types { checked, piece, home, proof };
    let mut writer = Writer::new(&types);
    writer.nodes(nodes, OutputContext::Text);
    writer.flush();
    let Writer { out, code, bytes, .. } = writer;
    let (start, finish) = (types.start(nodes), types.finish(&out));
    let site = Span::mixed_site();
    let (html, account) = (home.path(site), home.account(site));
    quote_spanned! {site=> {
        #start
        #account
        let mut #out = #html::Buffer::with_capacity(#bytes);
        #code
        #finish
    }}
}

struct Writer<'t> {
    types: &'t Types<'t>,
    /// The variable of the buffer.
    out: Ident,
    code: TokenStream,
    /// Static HTML that has not been flushed to `code`.
    text: String,
    /// Estimated length of the result.
    bytes: usize,
    /// The number of attribute splices: each has its own variable.
    splices: usize,
}

impl<'t> Writer<'t> {
    fn new(types: &'t Types<'t>) -> Self {
        let out = Ident::new("out", Span::mixed_site());
        Self { types, out, code: TokenStream::new(), text: String::new(), bytes: 0, splices: 0 }
    }

    /// Adds static HTML.
    fn push(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// Adds a statement.
    fn emit(&mut self, statement: &TokenStream) {
        self.flush();
        statement.to_tokens(&mut self.code);
    }

    fn flush(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let (out, text) = (&self.out, std::mem::take(&mut self.text));
        self.bytes += text.len();
        self.code.extend(quote_spanned!(Span::mixed_site()=> #out.push_trusted(#text);));
    }

    /// The code that `write` generates on the same buffer, to run an estimated number of times.
    fn buffered(&mut self, turns: usize, write: impl FnOnce(&mut Self)) -> TokenStream {
        let mut writer = Self::new(self.types);
        write(&mut writer);
        writer.flush();
        self.bytes += writer.bytes * turns;
        writer.code
    }

    fn block(&mut self, nodes: &[Node], context: OutputContext, turns: usize) -> TokenStream {
        self.buffered(turns, |writer| writer.nodes(nodes, context))
    }

    fn nodes(&mut self, nodes: &[Node], context: OutputContext) {
        for node in nodes {
            match node {
                Node::Text(text) => self.literal(&text.value, context),
                Node::Splice(splice) => self.splice(splice, context),
                Node::Element(element) => self.element(element),
                Node::Block(nodes) => self.scope(nodes, context),
                Node::If(arms) => {
                    let code: TokenStream = arms.iter().map(|arm| self.arm(arm, context, 1)).collect();
                    self.emit(&code);
                }
                Node::Loop(body) => {
                    let code = self.arm(body, context, LOOP_TURNS);
                    self.emit(&code);
                }
                Node::Match(expr, arms) => self.choice(expr, arms, context),
                Node::Let(binding) => self.emit(binding),
                // `controls::bind` has made statements of them.
                Node::Fields(..) | Node::Part(_) => {}
            }
        }
    }

    fn literal(&mut self, text: &str, context: OutputContext) {
        match context {
            OutputContext::Raw => self.push(text),
            OutputContext::Text | OutputContext::PlainText => escape(text, false, &mut self.text),
            _ => escape(text, true, &mut self.text),
        }
    }

    fn splice(&mut self, splice: &Splice, context: OutputContext) {
        self.bytes += SPLICE_BYTES;
        let value = reference(splice);
        let call = self.write(&value, splice, context);
        self.emit(&call);
    }

    /// The call that writes `value`, a reference.
    fn write(&self, value: &TokenStream, splice: &Splice, context: OutputContext) -> TokenStream {
        let (out, span) = (&self.out, splice.span);
        let site = Span::mixed_site().located_at(span);
        let html = self.types.home.path(site);
        match context {
            OutputContext::Text => self.types.write(self.types.checked.context(splice), value, out, span),
            OutputContext::PlainText | OutputContext::Attribute => {
                quote_spanned!(site=> #html::PlainText::write_plain(#value, &mut #out);)
            }
            OutputContext::Url(_) => quote_spanned!(site=> #html::HrefPart::write_part(#value, &mut #out);),
            OutputContext::Raw => quote_spanned!(site=> #html::Script::write_script(#value, &mut #out);),
            OutputContext::Script => quote_spanned! {site=> {
                let start = #out.len();
                #html::Script::write_script(#value, &mut #out);
                #out.quote_from(start);
            }},
            OutputContext::Style => quote_spanned! {site=> {
                let start = #out.len();
                #html::Css::write_css(#value, &mut #out);
                #out.quote_from(start);
            }},
            OutputContext::CodeUrl => quote_spanned!(site=> #html::CodeUrl::write_code_url(#value, &mut #out);),
            OutputContext::Document => quote_spanned!(site=> #out.push_document(#value);),
        }
    }

    fn element(&mut self, element: &Element) {
        let name = &element.name.text;
        self.push("<");
        self.push(name);
        let splices = self.attributes(element);
        self.push(">");
        if !standard::is_void(name) {
            self.fill(&splices, "write_content");
            if let Body::Nodes(nodes, _) = &element.body {
                self.content(element, nodes);
            }
            self.fill(&splices, "write_end");
            self.push("</");
            self.push(name);
            self.push(">");
        }
        self.fill(&splices, "write_behind");
    }

    /// Calls a method of `Attributes` on each attribute splice.
    fn fill(&mut self, splices: &[Ident], method: &str) {
        let (site, out, method) = (Span::mixed_site(), self.out.clone(), Ident::new(method, Span::mixed_site()));
        let html = self.types.home.path(site);
        for value in splices {
            self.emit(&quote_spanned!(site=> #html::Attributes::#method(#value, &mut #out);));
        }
    }

    fn content(&mut self, element: &Element, nodes: &[Node]) {
        let context = names::content_context(&element.name.text);
        if !element.is(names::DROPS_NEWLINE) {
            return self.scope(nodes, context);
        }
        match nodes.first() {
            Some(Node::Text(text)) => {
                if text.value.starts_with('\n') {
                    self.push("\n");
                }
                self.scope(nodes, context);
            }
            None | Some(Node::Element(_)) => self.scope(nodes, context),
            Some(_) => {
                let (out, start) = (self.out.clone(), format_ident!("start", span = Span::mixed_site()));
                let code = self.block(nodes, context, 1);
                self.emit(&quote_spanned! {Span::mixed_site()=> {
                    let #start = #out.len();
                    #code
                    #out.keep_newline(#start);
                }});
            }
        }
    }

    /// Generates braces only around `@let`, so that static text can be merged.
    fn scope(&mut self, nodes: &[Node], context: OutputContext) {
        if nodes.iter().any(|node| matches!(node, Node::Let(_))) {
            let code = self.block(nodes, context, 1);
            self.emit(&quote!({ #code }));
        } else {
            self.nodes(nodes, context);
        }
    }

    fn arm(&mut self, arm: &Arm, context: OutputContext, turns: usize) -> TokenStream {
        braced(&arm.head, &self.block(&arm.nodes, context, turns))
    }

    fn choice(&mut self, expr: &TokenStream, arms: &[Arm], context: OutputContext) {
        let arms = arms.iter().map(|arm| {
            let (head, block) = (&arm.head, self.block(&arm.nodes, context, 1));
            quote!(#head => { #block })
        });
        let choice = braced(expr, &arms.collect());
        self.emit(&quote!(match #choice));
    }
}

/// `head { code }`. The braces have the span of the end of `head`, where rustc reports an incomplete expression.
fn braced(head: &TokenStream, code: &TokenStream) -> TokenStream {
    let end = head.clone().into_iter().last().map_or_else(Span::mixed_site, |token| token.span());
    let site = Span::mixed_site().located_at(end);
    quote_spanned!(site=> #head { #code })
}

/// `&(expr)`, where the author wrote `(expr)` or `[expr]`.
fn reference(splice: &Splice) -> TokenStream {
    let expr = &splice.expr;
    let site = Span::mixed_site().located_at(splice.span);
    quote_spanned!(site=> &(#expr))
}

/// Escapes as `skep-html` does at run time.
fn escape(text: &str, quotes: bool, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if quotes => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            _ => out.push(letter),
        }
    }
}

//! Writes the Rust code of a template: a flat row of calls on one buffer.
//!
//! Literal text, tags and attributes that meet become one `&'static str`, across elements. The code says `::skep` and
//! lives in the hygiene of the macro, so that no name of the author's is seen or hidden; each splice keeps its own span.

mod attributes;
pub(super) mod controls;
mod types;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::ast::{Body, Element, If, Match, Node, Splice};
use super::check::{Checked, Piece};
use super::names::{self, Place};
use super::standard;
use types::Types;

/// How many bytes a splice is guessed to take, and how often a loop runs. Only the first size of the buffer hangs on it.
const SPLICE_BYTES: usize = 24;
const LOOP_TURNS: usize = 8;

/// An expression of type `skep::html::Html`.
pub(crate) fn generate(nodes: &[Node], checked: &Checked<'_>, piece: Piece) -> TokenStream {
    let types = Types { checked, piece };
    let mut writer = Writer::new(&types);
    writer.nodes(nodes, Place::Text);
    writer.flush();
    let Writer { out, code, bytes, .. } = writer;
    let (start, finish) = (types.start(nodes), types.finish(&out));
    let site = Span::mixed_site();
    quote_spanned! {site=> {
        #start
        let mut #out = ::skep::html::Buffer::with_capacity(#bytes);
        #code
        #finish
    }}
}

struct Writer<'t> {
    types: &'t Types<'t>,
    /// The variable that is the buffer.
    out: Ident,
    code: TokenStream,
    /// Static HTML that is not yet in `code`.
    text: String,
    /// How long the result probably is.
    bytes: usize,
    /// How many values have brought attributes along: each has a variable of its own.
    fillers: usize,
}

impl<'t> Writer<'t> {
    fn new(types: &'t Types<'t>) -> Self {
        let out = Ident::new("out", Span::mixed_site());
        Self { types, out, code: TokenStream::new(), text: String::new(), bytes: 0, fillers: 0 }
    }

    /// Static HTML.
    fn push(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// A statement.
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

    /// The code that `write` makes, on the same buffer, and its probable length.
    fn apart(&self, write: impl FnOnce(&mut Self)) -> (TokenStream, usize) {
        let mut writer = Self::new(self.types);
        write(&mut writer);
        writer.flush();
        (writer.code, writer.bytes)
    }

    fn block(&mut self, nodes: &[Node], place: Place, turns: usize) -> TokenStream {
        let (code, bytes) = self.apart(|writer| writer.nodes(nodes, place));
        self.bytes += bytes * turns;
        code
    }

    fn nodes(&mut self, nodes: &[Node], place: Place) {
        for node in nodes {
            match node {
                Node::Text(text) => self.literal(&text.value, place),
                Node::Splice(splice) => self.splice(splice, place),
                Node::Element(element) => self.element(element),
                Node::Block(nodes) => self.scope(nodes, place),
                Node::If(branches) => self.conditional(branches, place),
                Node::Loop(body) => {
                    let (head, code) = (&body.head, self.block(&body.nodes, place, LOOP_TURNS));
                    self.emit(&braced(head, &code));
                }
                Node::Match(choice) => self.choice(choice, place),
                Node::Let(binding) => self.emit(binding),
            }
        }
    }

    fn literal(&mut self, text: &str, place: Place) {
        match place {
            Place::Raw => self.push(text),
            Place::Text | Place::PlainText => escape(text, false, &mut self.text),
            Place::Attribute | Place::Url(_) | Place::Script | Place::Document => escape(text, true, &mut self.text),
        }
    }

    fn splice(&mut self, splice: &Splice, place: Place) {
        self.bytes += SPLICE_BYTES;
        let value = reference(splice);
        let call = self.write(&value, splice, place);
        self.emit(&call);
    }

    /// The call that writes `value`, an expression that is a reference.
    fn write(&self, value: &TokenStream, splice: &Splice, place: Place) -> TokenStream {
        let (out, span) = (&self.out, splice.span);
        let site = Span::mixed_site().located_at(span);
        match place {
            Place::Text => self.types.write(self.types.checked.context(splice), value, out, span),
            Place::PlainText | Place::Attribute => {
                quote_spanned!(site=> ::skep::html::PlainText::write_plain(#value, &mut #out);)
            }
            Place::Url(_) => quote_spanned!(site=> ::skep::html::HrefPart::write_part(#value, &mut #out);),
            Place::Raw => quote_spanned!(site=> ::skep::html::Script::write_script(#value, &mut #out);),
            Place::Script => quote_spanned! {site=> {
                let start = #out.len();
                ::skep::html::Script::write_script(#value, &mut #out);
                #out.quote_from(start);
            }},
            Place::Document => quote_spanned!(site=> #out.push_document(#value);),
        }
    }

    fn element(&mut self, element: &Element) {
        let name = &element.name.text;
        self.push("<");
        self.push(name);
        let fillers = self.attributes(element);
        self.push(">");
        if !standard::is_void(name) {
            self.fill(&fillers, "write_content");
            if let Body::Nodes(nodes, _) = &element.body {
                self.content(element, nodes);
            }
            self.fill(&fillers, "write_end");
            self.push("</");
            self.push(name);
            self.push(">");
        }
        self.fill(&fillers, "write_behind");
    }

    /// Calls this method of `skep::html::Attributes` for the values that brought attributes along.
    fn fill(&mut self, fillers: &[Ident], method: &str) {
        for filler in fillers {
            let (out, method) = (self.out.clone(), Ident::new(method, Span::mixed_site()));
            self.emit(&quote_spanned!(Span::mixed_site()=> ::skep::html::Attributes::#method(#filler, &mut #out);));
        }
    }

    fn content(&mut self, element: &Element, nodes: &[Node]) {
        let place = names::content_place(&element.name.text);
        if !element.is(names::DROPS_NEWLINE) {
            return self.scope(nodes, place);
        }
        match nodes.first() {
            Some(Node::Text(text)) => {
                if text.value.starts_with('\n') {
                    self.push("\n");
                }
                self.scope(nodes, place);
            }
            None | Some(Node::Element(_)) => self.scope(nodes, place),
            Some(_) => {
                let (out, start) = (self.out.clone(), format_ident!("start", span = Span::mixed_site()));
                let code = self.block(nodes, place, 1);
                self.emit(&quote_spanned! {Span::mixed_site()=> {
                    let #start = #out.len();
                    #code
                    #out.keep_newline(#start);
                }});
            }
        }
    }

    /// Braces in the code only where a `@let` needs them: elsewhere static text can run on.
    fn scope(&mut self, nodes: &[Node], place: Place) {
        if nodes.iter().any(|node| matches!(node, Node::Let(_))) {
            let code = self.block(nodes, place, 1);
            self.emit(&quote!({ #code }));
        } else {
            self.nodes(nodes, place);
        }
    }

    fn conditional(&mut self, conditional: &If, place: Place) {
        let mut code = TokenStream::new();
        for (at, branch) in conditional.branches.iter().enumerate() {
            let (condition, block) = (&branch.condition, self.block(&branch.nodes, place, 1));
            let link = (at > 0).then(|| quote!(else));
            let branch = braced(condition, &block);
            code.extend(quote!(#link if #branch));
        }
        if let Some(nodes) = &conditional.otherwise {
            let block = self.block(nodes, place, 1);
            code.extend(quote!(else { #block }));
        }
        self.emit(&code);
    }

    fn choice(&mut self, choice: &Match, place: Place) {
        let mut arms = TokenStream::new();
        for arm in &choice.arms {
            let (head, block) = (&arm.head, self.block(&arm.nodes, place, 1));
            arms.extend(quote!(#head => { #block }));
        }
        let choice = braced(&choice.expr, &arms);
        self.emit(&quote!(match #choice));
    }
}

/// `head { code }`. The braces say that they are where the head ends: if that is only half an expression, rustc complains of them.
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

/// The same as `skep::html` does at run time.
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

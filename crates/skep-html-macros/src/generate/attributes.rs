//! Attributes: class first, then id, then the others in source order.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::super::ast::{Attribute, Element, Name, Node, Splice, Value};
use super::super::check::{literal_attribute, literal_start};
use super::super::names::{self, OutputContext, Url, UrlVerdict};
use super::{SPLICE_BYTES, Writer, reference};

impl Writer<'_> {
    /// Attribute splices may also add content: returns their variables.
    pub(super) fn attributes(&mut self, element: &Element) -> Vec<Ident> {
        self.classes(element);
        for attribute in &element.attributes {
            if let Attribute::Id { name, .. } = attribute {
                self.push(" id=\"");
                self.scope(name, OutputContext::Attribute);
                self.push("\"");
            }
        }
        let mut splices = Vec::new();
        for attribute in &element.attributes {
            match attribute {
                Attribute::Named { name, value } => self.named(element, name, value),
                Attribute::Splice(splice) => splices.push(self.attribute_splice(splice)),
                Attribute::Class { .. } | Attribute::Id { .. } => {}
            }
        }
        if takes_nonce(element) {
            let out = self.out.clone();
            self.emit(&quote_spanned!(Span::mixed_site()=> #out.push_nonce();));
        }
        splices
    }

    fn classes(&mut self, element: &Element) {
        let (mut fixed, mut toggled) = (Vec::new(), Vec::new());
        for attribute in &element.attributes {
            match attribute {
                Attribute::Class { name, toggle: None } => fixed.push(name),
                Attribute::Class { name, toggle: Some(toggle) } => toggled.push((name, toggle)),
                _ => {}
            }
        }
        if fixed.is_empty() && toggled.is_empty() {
            return;
        }
        if fixed.is_empty() {
            return self.only_toggled(&toggled);
        }
        self.push(" class=\"");
        for (at, name) in fixed.iter().enumerate() {
            self.push(if at == 0 { "" } else { " " });
            self.scope(name, OutputContext::Attribute);
        }
        for (name, toggle) in toggled {
            self.toggled_class(name, toggle);
        }
        self.push("\"");
    }

    /// There may be no class at all, which is known at run time only.
    fn only_toggled(&mut self, toggled: &[(&Vec<Node>, &Splice)]) {
        let code = self.buffered(1, |writer| {
            for (name, toggle) in toggled {
                writer.toggled_class(name, toggle);
            }
        });
        let out = self.out.clone();
        self.emit(&quote_spanned! {Span::mixed_site()=> {
            let start = #out.len();
            #code
            #out.wrap_classes(start);
        }});
    }

    fn toggled_class(&mut self, name: &[Node], toggle: &Splice) {
        let code = self.buffered(1, |writer| {
            writer.push(" ");
            writer.scope(name, OutputContext::Attribute);
        });
        self.emit(&when(toggle, &code));
    }

    fn named(&mut self, element: &Element, name: &Name, value: &Value) {
        let name = &name.text;
        let context = names::attribute_context(&element.name.text, name, |other| literal_attribute(element, other));
        match value {
            Value::None => self.push(&format!(" {name}")),
            Value::Toggle(toggle) => {
                let code = self.buffered(1, |writer| writer.push(&format!(" {name}")));
                self.emit(&when(toggle, &code));
            }
            Value::Optional(option) => self.optional(name, option, context),
            Value::Nodes(nodes) => {
                self.push(&format!(" {name}=\""));
                self.value(nodes, context);
                self.push("\"");
            }
        }
    }

    fn value(&mut self, nodes: &[Node], context: OutputContext) {
        match (context, nodes) {
            (OutputContext::Url(kind), [Node::Splice(splice)]) => {
                self.bytes += SPLICE_BYTES;
                let call = self.url(&reference(splice), splice.span, kind);
                self.emit(&call);
            }
            (OutputContext::Url(kind), nodes) => self.url_in_pieces(nodes, kind),
            _ => self.scope(nodes, context),
        }
    }

    /// The call that writes and checks `value`, a reference.
    fn url(&self, value: &TokenStream, span: Span, kind: Url) -> TokenStream {
        let (out, kind) = (&self.out, self.url_place(kind));
        let site = Span::mixed_site().located_at(span);
        let html = self.types.home.path(site);
        quote_spanned!(site=> #html::Href::write_checked(#value, #kind, &mut #out);)
    }

    fn url_place(&self, kind: Url) -> TokenStream {
        let site = Span::mixed_site();
        let (kind, html) = (Ident::new(&format!("{kind:?}"), site), self.types.home.path(site));
        quote_spanned!(site=> #html::UrlPlace::#kind)
    }

    /// Checks the whole URL at run time, unless its literal start is sufficient.
    fn url_in_pieces(&mut self, nodes: &[Node], kind: Url) {
        let verdict = literal_start(nodes)
            .map_or(UrlVerdict::Unknown, |(start, complete, _)| names::classify_url(&start, complete, kind));
        if verdict != UrlVerdict::Unknown {
            return self.scope(nodes, OutputContext::Url(kind));
        }
        let code = self.block(nodes, OutputContext::Url(kind), 1);
        let (out, kind) = (self.out.clone(), self.url_place(kind));
        self.emit(&quote_spanned! {Span::mixed_site()=> {
            let start = #out.len();
            #code
            #out.check_url(start, #kind);
        }});
    }

    fn optional(&mut self, name: &str, option: &Splice, context: OutputContext) {
        let site = Span::mixed_site().located_at(option.span);
        let variable = Ident::new("value", site);
        let value = quote!(#variable);
        let code = self.buffered(1, |writer| {
            writer.push(&format!(" {name}=\""));
            let call = match context {
                OutputContext::Url(kind) => writer.url(&value, option.span, kind),
                context => writer.write(&value, option, context),
            };
            writer.emit(&call);
            writer.push("\"");
        });
        let (option, html) = (reference(option), self.types.home.path(site));
        self.emit(
            &quote_spanned!(site=> if let ::core::option::Option::Some(#variable) = #html::optional(#option) { #code }),
        );
    }

    fn attribute_splice(&mut self, splice: &Splice) -> Ident {
        let number = self.splices;
        self.splices += 1;
        let site = Span::mixed_site().located_at(splice.span);
        let (variable, value, out) =
            (format_ident!("splice_value{number}", span = site), reference(splice), self.out.clone());
        let html = self.types.home.path(site);
        self.bytes += SPLICE_BYTES;
        self.emit(&quote_spanned! {site=>
            let #variable = #value;
            #html::Attributes::write_attributes(#variable, &mut #out);
        });
        variable
    }
}

/// `if toggle { code }`.
fn when(toggle: &Splice, code: &TokenStream) -> TokenStream {
    let expr = &toggle.expr;
    let site = Span::mixed_site().located_at(toggle.span);
    quote_spanned!(site=> if (#expr) { #code })
}

/// Whether the nonce of the response vouches for an element: a script or style of the page itself, or one that it loads
/// from another host.
fn takes_nonce(element: &Element) -> bool {
    let has = |attribute: &str| {
        let is_it =
            |one: &Attribute| matches!(one, Attribute::Named { name, .. } if name.text.eq_ignore_ascii_case(attribute));
        element.attributes.iter().any(is_it)
    };
    let is_remote = |url: &str| literal_attribute(element, url).is_some_and(|url| url.contains("//"));
    if has("nonce") {
        return false;
    }
    match element.name.text.to_ascii_lowercase().as_str() {
        "style" => true,
        "script" => !has("src") && !has("href") || is_remote("src"),
        "link" => is_remote("href") && literal_attribute(element, "rel").is_some_and(|rel| rel.contains("stylesheet")),
        _ => false,
    }
}

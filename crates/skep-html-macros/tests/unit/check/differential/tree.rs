//! A tree of HTML, written as a template or as text.

use std::fmt::Write as _;

use super::super::super::{names, standard};

#[derive(Clone, Debug)]
pub(super) enum Tree {
    Text(String),
    Element(Element),
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Tree>,
}

impl Element {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), attributes: Vec::new(), children: Vec::new() }
    }

    /// Sets an attribute.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.attributes.retain(|(known, _)| known != name);
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn with_child(mut self, child: Self) -> Self {
        self.children.push(Tree::Element(child));
        self
    }

    pub(super) fn with_text(mut self, text: &str) -> Self {
        self.children.push(Tree::Text(text.to_owned()));
        self
    }

    /// As a template of `html!`.
    pub(super) fn template(&self) -> String {
        let mut text = self.name.clone();
        for (name, value) in &self.attributes {
            let _ = if value.is_empty() { write!(text, " {name}") } else { write!(text, " {name}={value:?}") };
        }
        if self.children.is_empty() && standard::is_void(&self.name) {
            return text + ";";
        }
        let template = |child: &Tree| match child {
            Tree::Text(text) => format!("{text:?}"),
            Tree::Element(element) => element.template(),
        };
        let children: Vec<String> = self.children.iter().map(template).collect();
        text + " { " + &children.join(" ") + " }"
    }

    /// As HTML text.
    pub(super) fn text(&self) -> String {
        let mut text = format!("<{}", self.name);
        for (name, value) in &self.attributes {
            let value = value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
            let _ = write!(text, " {name}=\"{value}\"");
        }
        text.push('>');
        if self.children.is_empty() && standard::is_void(&self.name) {
            return text;
        }
        let is_code = names::RAW.contains(&self.name.as_str());
        for child in &self.children {
            match child {
                Tree::Element(element) => text.push_str(&element.text()),
                Tree::Text(code) if is_code => text.push_str(code),
                Tree::Text(plain) => text.push_str(&plain.replace('&', "&amp;").replace('<', "&lt;")),
            }
        }
        text + "</" + &self.name + ">"
    }

    /// Visits each element, itself included.
    pub(super) fn visit<'e>(&'e self, each: &mut impl FnMut(&'e Self)) {
        each(self);
        for child in &self.children {
            if let Tree::Element(element) = child {
                element.visit(each);
            }
        }
    }

    /// The element at this index in pre-order.
    pub(super) fn at(&mut self, place: &mut usize) -> Option<&mut Self> {
        if *place == 0 {
            return Some(self);
        }
        *place -= 1;
        self.children.iter_mut().find_map(|child| match child {
            Tree::Element(element) => element.at(place),
            Tree::Text(_) => None,
        })
    }

    pub(super) fn size(&self) -> usize {
        let mut size = 0;
        self.visit(&mut |_| size += 1);
        size
    }
}

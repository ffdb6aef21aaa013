//! Minimal valid elements, and the page around them.

use super::tree::{Element, Tree};
use crate::standard::{self, Categories};

/// Ids and names that values refer to. A page gets the elements that it refers to.
const REFERENCED: &[&str] = &["there", "control", "the-form", "the-list", "the-map", "the-head"];

/// The minimal valid form of an element.
pub(super) fn minimal(name: &str) -> Element {
    let element = Element::new(name);
    match name {
        "html" => element.with_child(minimal("head")).with_child(Element::new("body")),
        "head" => element.with_child(minimal("title")),
        "title" | "option" | "a" | "button" | "summary" | "rt" => element.with_text("x"),
        "details" => element.with_child(minimal("summary")),
        "picture" => element.with_child(minimal("img")),
        "hgroup" => element.with_child(Element::new("h1").with_text("x")),
        "ruby" => element.with_text("x").with_child(minimal("rt")),
        "img" => element.with("src", "/x").with("alt", "x"),
        "link" => element.with("rel", "stylesheet").with("href", "/x"),
        "meta" => element.with("name", "x").with("content", "x"),
        "base" => element.with("href", "/x"),
        "area" => element.with("shape", "default"),
        "source" | "embed" => element.with("src", "/x"),
        "track" => element.with("src", "/x").with("srclang", "en"),
        "optgroup" => element.with("label", "x"),
        "object" => element.with("data", "/x"),
        "map" => element.with("name", "x"),
        "data" => element.with("value", "x"),
        "meter" => element.with("value", "0.5"),
        "bdo" => element.with("dir", "ltr"),
        "time" => element.with("datetime", "2026-09-16"),
        "param" => element.with("name", "x").with("value", "x"),
        _ => element,
    }
}

/// A minimal valid page around an element.
pub(super) fn page(element: Element) -> Element {
    let parent = |name: &str, element: Element| page(Element::new(name).with_child(element));
    match element.name.as_str() {
        "html" => with_referenced(element),
        "head" => with_referenced(Element::new("html").with_child(element).with_child(Element::new("body"))),
        "body" => with_referenced(Element::new("html").with_child(minimal("head")).with_child(element)),
        "li" => parent("ul", element),
        "dt" => page(Element::new("dl").with_child(element).with_child(Element::new("dd"))),
        "dd" => page(Element::new("dl").with_child(Element::new("dt")).with_child(element)),
        "tr" | "thead" | "tbody" | "tfoot" | "caption" | "colgroup" => parent("table", element),
        "td" | "th" => parent("tr", element),
        "col" => parent("colgroup", element),
        "option" | "optgroup" => parent("select", element),
        "legend" => parent("fieldset", element),
        "summary" => parent("details", element),
        "figcaption" => parent("figure", element),
        "source" | "track" => parent("video", element),
        "rt" => page(Element::new("ruby").with_text("x").with_child(element)),
        "rp" => page(Element::new("ruby").with_text("x").with_child(element).with_child(minimal("rt"))),
        "area" => page(minimal("map").with_child(element)),
        "selectedcontent" => page(Element::new("select").with_child(Element::new("button").with_child(element))),
        "title" => parent("head", element),
        name if is_metadata(name, &element) => page(minimal("head").with_child(element)),
        _ => parent("body", element),
    }
}

/// Does the element belong in `head`?
fn is_metadata(name: &str, element: &Element) -> bool {
    let is_only = |rules: &standard::Rules| {
        rules.categories.contains(Categories::METADATA) && !rules.categories.contains(Categories::PHRASING)
    };
    standard::element(name).is_some_and(is_only) && !element.attributes.iter().any(|(name, _)| name == "itemprop")
}

/// Adds the elements that attribute values refer to, at the end of the body.
fn with_referenced(mut html: Element) -> Element {
    let mut spoken = Vec::new();
    html.visit(&mut |element| {
        for (_, value) in &element.attributes {
            spoken.extend(value.split(' ').map(|word| word.trim_start_matches('#').to_owned()));
        }
    });
    let Some(Tree::Element(body)) = html.children.last_mut() else { return html };
    for name in REFERENCED.iter().filter(|name| spoken.iter().any(|word| word == *name)) {
        let witness = match *name {
            "control" => Element::new("input").with("id", name),
            "the-form" => Element::new("form").with("id", name),
            "the-list" => Element::new("datalist").with("id", name),
            "the-map" => Element::new("map").with("name", name),
            "the-head" => {
                Element::new("table").with_child(Element::new("tr").with_child(Element::new("th").with("id", name)))
            }
            _ => Element::new("div").with("id", name),
        };
        body.children.push(Tree::Element(witness));
    }
    html
}
